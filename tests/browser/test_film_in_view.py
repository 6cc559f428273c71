"""A film, its caption, its bar and the knob being turned are in the window together; names on the bar never overlap."""

from itertools import pairwise

import pytest
from playwright.sync_api import Page

from app.board.scenes import SCENES
from tests.board.films.reading import FILMS, film_of
from tests.browser.conftest import Visit
from tests.browser.test_in_view import box, inside

SIZES = ((1366, 768), (1280, 720), (1024, 768))
PHONE = (390, 844)
PARTS = (".film-drawing:visible", ".film-caption", ".film-bar")
NAMES = """() => [...document.querySelectorAll(".film-name")].filter((name) => name.checkVisibility())
  .map((name) => [name.textContent, name.getBoundingClientRect().left, name.getBoundingClientRect().right])"""
SMALLEST = """() => Math.min(...[...document.querySelectorAll(".film-drawing text")].filter((text) => text.checkVisibility())
  .map((text) => parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.getScreenCTM().a))"""


def in_window(page: Page, size: tuple[int, int]) -> list[str]:
    """What of the film is not."""
    return [part for part in PARTS if not inside(page.locator(f"film-player {part}"), *size)]


@pytest.mark.parametrize("name", FILMS)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_film_is_in_view_with_every_knob(visit: Visit, name: str, size: tuple[int, int]) -> None:
    page = visit(f"/scenes/{name}", width=size[0], height=size[1])
    assert in_window(page, size) == []
    for knob in SCENES[name].knobs:
        control = page.locator(f"#scene-form > :has([name='{knob.name}'])")
        control.scroll_into_view_if_needed()
        assert inside(control, *size), knob.name
        assert in_window(page, size) == [], knob.name
        assert box(control)[0] >= box(page.locator(".film-bar"))[2], "a knob lies over the film"


@pytest.mark.parametrize("name", FILMS)
def test_on_a_phone_a_film_fills_the_width_above_its_buttons(visit: Visit, name: str) -> None:
    page = visit(f"/scenes/{name}", width=PHONE[0], height=PHONE[1])
    assert in_window(page, PHONE) == []
    left, _, right, bottom = box(page.locator(".film-tall"))
    assert right - left > 0.85 * PHONE[0]
    assert box(page.locator("[data-go=play]"))[1] > bottom
    assert page.evaluate(SMALLEST) >= 11
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE[0]


@pytest.mark.parametrize("name", FILMS)
def test_names_on_the_bar_never_overlap_and_the_one_it_is_at_is_there(visit: Visit, name: str) -> None:
    page, film = visit(f"/scenes/{name}"), film_of(name)
    for width, height in (*SIZES, PHONE):
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(
            "document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))"
        )
        for at, stop in enumerate(film.stops):
            page.evaluate("at => document.querySelector('film-player').go(at)", at)
            names = page.evaluate(NAMES)
            assert stop.name in [each[0] for each in names], (width, stop.name)
            assert all(one[2] < two[1] for one, two in pairwise(names)), (width, names)
            assert min(each[1] for each in names) >= 0 and max(each[2] for each in names) <= width, (width, names)


def test_the_way_to_the_stop_before_and_after_is_not_drawn_as_play(visit: Visit) -> None:
    page = visit("/scenes/zero")
    shapes = page.evaluate("""() => ["before", "play", "after"].map((go) =>
      getComputedStyle(document.querySelector(`[data-go=${go}] > .mark`)).clipPath)""")
    assert len(set(shapes)) == 3
