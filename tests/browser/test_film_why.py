"""Any mark of a film can be asked "why?": by pointer, by touch and by keyboard; its note stands beside the picture."""

import pytest
from playwright.sync_api import Page, expect

from tests.board.films.reading import FILMS, film_of
from tests.browser.conftest import Visit
from tests.browser.test_film_in_view import SIZES
from tests.browser.test_in_view import box, inside
from tests.browser.test_pages import violations

EACH = pytest.mark.parametrize("name", FILMS)
SPOT = """() => {
  // a mark that can be seen where a pointer would meet it, and its reason
  for (const mark of document.querySelector("film-player").asking.marks) {
    const { left, top, width, height } = mark.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    if (document.elementFromPoint(x, y)?.closest("[data-why]") === mark) return { x, y, why: mark.dataset.why };
  }
}"""


def moment(name: str) -> str:
    """An address at which marks are on the picture: a stop well into the film."""
    return f"/scenes/{name}?frame={int(0.7 * len(film_of(name).stops))}"


def says(page: Page, why: str) -> None:
    expect(page.locator("#scene-why")).to_contain_text(why[1:])
    expect(page.locator(".film-asked")).to_be_visible()


@EACH
def test_a_mark_is_asked_by_pointing_and_by_a_press(visit: Visit, name: str) -> None:
    page = visit(moment(name))
    spot = page.evaluate(SPOT)
    page.mouse.move(spot["x"], spot["y"])
    says(page, spot["why"])
    page.mouse.move(2, 2)
    expect(page.locator("#scene-why .note")).to_have_count(0)
    page.mouse.click(spot["x"], spot["y"])
    page.mouse.move(2, 2)
    says(page, spot["why"])
    page.locator("#scene-why button").click()
    expect(page.locator(".film-asked")).to_have_count(0)


@EACH
def test_a_mark_is_asked_by_touch_and_the_sheet_leaves_picture_and_caption(visit: Visit, name: str) -> None:
    page = visit(moment(name), width=390, height=844, has_touch=True)
    spot = page.evaluate(SPOT)
    page.touchscreen.tap(spot["x"], spot["y"])
    says(page, spot["why"])
    assert box(page.locator("#scene-why"))[1] >= box(page.locator(".film-caption"))[3] - 1
    assert inside(page.locator("#scene-why .note"), 390, 844)


@EACH
def test_by_keyboard_arrows_go_among_the_marks_and_escape_leaves(visit: Visit, name: str) -> None:
    page = visit(moment(name))
    page.locator("film-player").focus()
    page.keyboard.press("w")
    first = page.locator("#scene-why").inner_text()
    assert "1 of" in first
    page.keyboard.press("ArrowRight")
    expect(page.locator("#scene-why")).to_contain_text("2 of")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#scene-why").inner_text() == first
    expect(page.locator("[data-go=why]")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    expect(page.locator("#scene-why .note")).to_have_count(0)
    page.locator("[data-go=why]").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#scene-why")).to_contain_text("2 of")
    page.locator("[data-go=play]").click()
    expect(page.locator("#scene-why .note")).to_have_count(0)


@EACH
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_note_is_in_the_window_and_never_on_the_picture(visit: Visit, name: str, size: tuple[int, int]) -> None:
    page = visit(moment(name), width=size[0], height=size[1])
    page.locator("[data-go=why]").click()
    note = page.locator("#scene-why .note")
    assert inside(note, *size)
    assert box(note)[0] >= box(page.locator(".film-drawing:visible"))[2]


def test_axe_finds_nothing_while_a_mark_is_asked(visit: Visit) -> None:
    page = visit(moment("zero"), reduced_motion="reduce")
    page.locator("[data-go=why]").click()
    expect(page.locator("#scene-why .note")).to_be_visible()
    assert violations(page) == []
