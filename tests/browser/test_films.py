"""Films in a real browser: the same picture as the server's at every moment, played, dragged and stepped."""

import re

import pytest
from playwright.sync_api import Page, expect

from app.board.film.composition import Composition
from tests.board.films.reading import FILMS, film_of
from tests.browser.conftest import Visit

EACH = pytest.mark.parametrize("name", FILMS)
PLACED = """() => [...document.querySelector(".film-wide").querySelectorAll("[data-actor]")].map((group) => [
  Number(group.dataset.actor), group.getAttribute("display") ?? "", group.getAttribute("opacity") ?? "1",
  group.getAttribute("transform"), group.firstElementChild?.tagName === "svg" ? group.firstElementChild.getAttribute("width") : "",
])"""
SAID = """() => [...document.querySelector(".film-wide").querySelectorAll("[data-words]")].map((text) => text.textContent)"""
GROUP = re.compile(
    r'data-actor="(\d+)"(?: data-why="[^"]*")? transform="([^"]+)"(?: opacity="([\d.]+)")?( display="none")?>(?:<svg width="([\d.]+)")?'
)
HAIR = 0.02  # units: both write thousandths


def seek(page: Page, t: float) -> None:
    page.evaluate("t => document.querySelector('film-player').seek(t)", t)


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?[\d.]+", text)]


def assert_alike(page: Page, picture: Composition, t: float) -> None:
    """Every actor that can be seen is where the server puts it; words that run say the same."""
    drawn = {int(at): (gone, opacity, move, width) for at, gone, opacity, move, width in page.evaluate(PLACED)}
    for at, move, opacity, gone, width in GROUP.findall(picture.at(t)):
        there = drawn[int(at)]
        assert bool(gone) == bool(there[0]), (at, t)
        if not gone:
            assert numbers(move) == pytest.approx(numbers(there[2]), abs=HAIR), (at, t)
            assert float(opacity or 1) == pytest.approx(float(there[1]), abs=HAIR), (at, t)
            assert not width or float(width) == pytest.approx(float(there[3]), abs=0.1), (at, t)
    said = re.findall(r'data-words="\d+">([^<]*)</text>', picture.at(t))
    assert said == page.evaluate(SAID), t


@EACH
def test_the_browser_draws_what_the_server_draws(visit: Visit, name: str) -> None:
    page, film = visit(f"/scenes/{name}"), film_of(name)
    for at in range(20):
        t = round(film.length * (at + 0.37) / 20, 3)
        seek(page, t)
        assert_alike(page, film.wide, t)


@EACH
def test_a_moment_opened_by_address_is_the_moment_reached(visit: Visit, name: str) -> None:
    film = film_of(name)
    t = round(film.length * 0.62, 3)
    assert_alike(visit(f"/scenes/{name}?t={t}"), film.wide, t)
    page = visit(f"/scenes/{name}?frame=3")
    assert_alike(page, film.wide, film.stops[3].t)
    expect(page.locator(".film-caption")).to_have_text(film.stops[3].caption)


@EACH
def test_play_moves_at_once_and_keys_walk_to_the_end(visit: Visit, name: str) -> None:
    page, film = visit(f"/scenes/{name}"), film_of(name)
    page.locator("[data-go=play]").click()
    expect(page.locator(".film-caption")).to_have_text(film.stops[1].caption)
    expect(page.locator("[data-go=play]")).to_have_attribute("aria-label", "pause")
    page.keyboard.press("Escape")
    page.locator("film-player").focus()
    page.keyboard.press("Home")
    for stop in film.stops[1:]:
        page.keyboard.press("ArrowRight")
        expect(page.locator(".film-caption")).to_have_text(stop.caption)
    assert page.evaluate("document.querySelector('film-player').clock.t") == pytest.approx(film.length, abs=0.01)


def test_a_knob_keeps_the_place(visit: Visit) -> None:
    page = visit("/scenes/zero?frame=5")
    page.locator("#gpus").fill("8")
    expect(page.locator(".film-wide")).to_contain_text("8 GPUs drawn")
    film = film_of("zero", gpus="8")
    assert page.evaluate("document.querySelector('film-player').clock.t") == pytest.approx(film.stops[5].t, abs=0.01)
    assert "gpus=8" in page.url and "t=" in page.url


def test_with_reduced_motion_a_film_is_a_row_of_stills(visit: Visit) -> None:
    page, film = visit("/scenes/zero", reduced_motion="reduce"), film_of("zero")
    page.locator("[data-go=play]").click()
    expect(page.locator(".film-caption")).to_have_text(film.stops[1].caption)
    assert page.evaluate("document.querySelector('film-player').clock.t") in [
        pytest.approx(stop.t, abs=0.01) for stop in film.stops
    ]


def test_without_a_script_stops_are_links(visit: Visit) -> None:
    page = visit("/scenes/zero", java_script_enabled=False)
    page.get_by_role("link", name="next stop").click()
    assert "frame=1" in page.url
    expect(page.locator(".film-caption")).to_have_text(film_of("zero").stops[1].caption)


def test_the_front_page_plays_the_story_once_and_rests_where_it_fits(visit: Visit) -> None:
    page = visit("/")
    play = page.locator("film-once [data-go=play]")
    expect(play).to_have_attribute("aria-label", "pause")
    page.evaluate("document.querySelector('film-once').clock.speed = 40")
    expect(play).to_have_attribute("aria-label", "play again")
    expect(page.locator("film-once .film-caption")).to_contain_text("It fits.")
    play.click()
    expect(play).to_have_attribute("aria-label", "pause")


@pytest.mark.parametrize("how", [{"reduced_motion": "reduce"}, {"java_script_enabled": False}])
def test_the_front_page_without_motion_or_script_shows_the_end(visit: Visit, how: dict[str, object]) -> None:
    page = visit("/", **how)
    expect(page.locator("film-once .film-caption")).to_contain_text("It fits.")
    expect(page.locator(".film-wide")).to_contain_text("17.5 GB")


def test_a_lesson_carries_its_film_at_the_right_stop(visit: Visit) -> None:
    page, film = visit("/lessons/four-strategies"), film_of("zero")
    at = next(at for at, stop in enumerate(film.stops) if stop.name == "prefetch")
    place = page.locator(f".lesson-scene[hx-get*='/scenes/zero/clip?frame={at}']")
    clip = place.locator("film-once")
    place.scroll_into_view_if_needed()
    expect(clip.locator(".film-caption")).to_have_text(film.stops[at].caption)
    clip.locator("[data-go=play]").click()
    expect(clip.locator("[data-go=play]")).to_have_attribute("aria-label", "pause")
    expect(clip.locator("[data-go=play]")).to_have_attribute("aria-label", "play again")  # it rests at its stop


def clock_t(page: Page) -> float:
    return page.evaluate("document.querySelector('present-stage').film.clock.t")


@EACH
def test_on_the_stage_next_plays_the_passage_and_previous_goes_back_a_stop(visit: Visit, name: str) -> None:
    page, film = visit(f"/present/{name}?frame=1"), film_of(name)
    page.keyboard.press("[")  # slowly, so that it is seen on its way
    page.keyboard.press("[")
    page.keyboard.press("PageDown")
    expect(page.locator(".stage-count")).to_have_text(f"3 of {len(film.stops)}")
    expect(page.locator(".film-caption")).to_have_text(film.stops[2].caption)
    assert film.stops[1].t <= clock_t(page) < film.stops[2].t  # it is on its way, not there
    page.evaluate("document.querySelector('present-stage').film.clock.speed = 40")
    expect(page.locator("present-stage")).to_have_js_property("film.clock.playing", False)
    assert_alike(page, film.wide, film.stops[2].t)
    assert "frame=2" in page.url
    page.keyboard.press("PageUp")
    assert clock_t(page) == pytest.approx(film.stops[1].t, abs=0.01)
    assert "frame=1" in page.url and "t=" not in page.url


@EACH
def test_on_the_stage_k_plays_through_and_pauses_where_the_address_says(visit: Visit, name: str) -> None:
    film = film_of(name)
    t = round(film.length * 0.4, 2)
    page = visit(f"/present/{name}?t={t}")
    assert_alike(page, film.wide, t)
    page.keyboard.press("k")
    expect(page.locator("present-stage")).to_have_js_property("film.clock.playing", True)
    page.keyboard.press("k")
    assert "t=" in page.url and "frame=" not in page.url
    reached = clock_t(page)
    page.reload()
    assert clock_t(page) == pytest.approx(reached, abs=0.01)
    page.keyboard.press("PageDown")  # plays on to the stop that this passage leads to
    expect(page.locator(".stage-count")).to_have_text(f"{film.stop_before(t) + 1} of {len(film.stops)}")


def test_on_the_stage_a_phone_held_upright_is_shown_the_tall_picture(visit: Visit) -> None:
    page = visit("/present/zero?frame=3", width=390, height=844, reduced_motion="reduce")
    expect(page.locator(".film-tall")).to_be_visible()
    expect(page.locator(".film-wide")).to_be_hidden()
    page.keyboard.press("PageDown")
    expect(page.locator(".film-caption")).to_have_text(film_of("zero").stops[4].caption)
    assert clock_t(page) == pytest.approx(film_of("zero").stops[4].t, abs=0.01)
    assert page.evaluate("document.documentElement.scrollHeight") <= 844
    page.set_viewport_size({"width": 844, "height": 390})
    expect(page.locator(".film-wide")).to_be_visible()


def test_a_turned_knob_sends_the_picture_that_is_seen_and_a_narrower_window_asks_for_the_other(visit: Visit) -> None:
    page = visit("/scenes/zero?frame=5")
    page.locator("#gpus").fill("8")
    expect(page.locator(".film-wide")).to_contain_text("8 GPUs drawn")
    expect(page.locator(".film-tall")).to_have_count(0)
    assert "form=" not in page.url
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".film-tall")).to_contain_text("four GPUs of 8")
    film = film_of("zero", gpus="8")
    assert page.evaluate("document.querySelector('film-player').clock.t") == pytest.approx(film.stops[5].t, abs=0.01)
    page.keyboard.press("Escape")
    page.locator("[data-go=after]").click()
    expect(page.locator(".film-caption")).to_have_text(film.stops[6].caption)
