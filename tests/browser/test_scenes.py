"""Scenes played, stepped and projected by a real browser."""

import pytest
from playwright.sync_api import Page, expect

from app.board.scenes import SCENES
from app.lessons.lesson import lessons
from tests.browser.conftest import Visit
from tests.browser.test_pages import settle, violations

STAGES = ((1024, 768), (1280, 720), (1280, 800), (1920, 1080), (3840, 2160))
FLOOR = 0.028  # of the stage's height: the smallest text that the last row reads
SMALLEST = """() => {
  const frame = document.querySelector(".scene-frame:not([hidden])");
  const words = "svg text, figcaption, p, td, th, li, h1, h2, math";
  const texts = [...frame.querySelectorAll(words), document.querySelector("h1")].filter((text) => text.checkVisibility() && !text.closest("[display=none]"));
  return Math.min(...texts.map((text) => {
    const scale = text instanceof SVGElement ? text.getScreenCTM().a : 1;
    return parseFloat(getComputedStyle(text).fontSize) * scale;
  }));
}"""

CUT_OFF = """() => [...document.querySelectorAll(".scene-frame:not([hidden]) :is(svg text, figcaption, p, td, th, li, h1, h2, math)")]
  .filter((text) => text.checkVisibility() && !text.closest("[display=none]"))
  .map((text) => [text.textContent.trim().slice(0, 40), text.getBoundingClientRect()])
  .filter(([, box]) => box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1)
  .map(([words, box]) => `${words} ${Math.round(box.left)},${Math.round(box.top)},${Math.round(box.right)},${Math.round(box.bottom)}`)"""


def shown(page: Page) -> int:
    return int(page.locator(".scene-frame:not([hidden])").get_attribute("data-frame") or -1)


def length(page: Page) -> int:
    """Of what stands on the stage: frames of a scene, stops of a film, slides of a lesson."""
    return int(page.locator(".stage-count").inner_text().split()[-1])


@pytest.mark.parametrize("name", SCENES)
def test_axe_finds_nothing_on_a_scene(visit: Visit, name: str) -> None:
    assert violations(visit(f"/scenes/{name}", reduced_motion="reduce")) == []


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_is_no_wider_than_its_window(visit: Visit, name: str) -> None:
    page = visit(f"/scenes/{name}")
    for width in (320, 390, 768, 1024, 1920, 3840):
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width


def test_a_refused_knob_is_told_in_the_picture_and_back_in_its_range_the_film_goes_on(visit: Visit) -> None:
    page = visit("/scenes/pp?frame=4")
    page.locator("#stages").fill("8")
    page.wait_for_url("**stages=8*")
    expect(page.locator(".film-wide")).to_contain_text("stage 7")
    page.locator("#stages").fill("99")
    expect(page.locator("#scene-stage")).to_contain_text("from 2 to 8")
    page.locator("#stages").fill("2")
    expect(page.locator(".film-wide")).to_contain_text("stage 1")
    page.locator("#schedule").select_option("interleaved")
    page.locator("#micro").fill("7")
    expect(page.locator("#scene-stage")).to_contain_text("6 or 8")


def test_a_prediction_is_told_which_mistake_it_is(visit: Visit) -> None:
    page = visit("/scenes/ddp")
    page.locator("[name=answer]").fill("42 GB")
    page.get_by_role("button", name="Check with the engine").click()
    expect(page.locator("#scene-verdict")).to_contain_text("Grows with the ranks")
    page.locator("[name=answer]").fill("21e9")
    page.keyboard.press("Enter")
    expect(page.locator("#scene-verdict")).to_contain_text("Yes")


@pytest.mark.parametrize("name", [*SCENES, *(lesson.slug for lesson in lessons())])
def test_on_the_stage_nothing_is_cut_off_or_too_small_to_read(visit: Visit, name: str) -> None:
    page = visit(f"/present/{name}", reduced_motion="reduce")
    for width, height in STAGES:
        page.set_viewport_size({"width": width, "height": height})
        page.keyboard.press("Home")
        for at in range(length(page)):
            settle(page)
            assert shown(page) == at
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.evaluate("document.documentElement.scrollHeight") <= height
            assert page.evaluate(CUT_OFF) == [], (width, height, at)
            assert page.evaluate(SMALLEST) >= FLOOR * height * 0.97, (width, height, at)
            page.keyboard.press("PageDown")


@pytest.mark.parametrize("name", [*SCENES, "layout-on-the-wires"])
def test_a_remote_moves_the_stage_and_blanks_it(visit: Visit, name: str) -> None:
    page = visit(f"/present/{name}")
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    page.keyboard.press("PageUp")
    assert shown(page) == 1 and "frame=1" in page.url
    page.keyboard.press(".")
    expect(page.locator("present-stage")).to_have_attribute("data-blank", "black")
    page.keyboard.press("PageDown")
    assert shown(page) == 1
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    assert shown(page) == 4
    page.keyboard.press("?")
    expect(page.locator("#stage-help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#stage-help")).to_be_hidden()


@pytest.mark.parametrize(
    "path", ["/present/ddp?frame=2", "/present/zero?frame=2", "/present/layout-on-the-wires?frame=2"]
)
def test_links_that_nobody_sees_take_no_click_and_lead_on_from_the_frame_shown(visit: Visit, path: str) -> None:
    page = visit(path)
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    assert shown(page) == 4
    spot = page.locator(".stage-links a").first.bounding_box()
    assert spot
    page.mouse.click(spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2)
    assert shown(page) == 5 and "frame=5" in page.url  # what was clicked is the stage
    before, after = (page.locator(f".stage-links a[rel={rel}]") for rel in ("prev", "next"))
    assert "frame=4" in (before.get_attribute("href") or "") and "frame=6" in (after.get_attribute("href") or "")
    after.focus()
    page.keyboard.press("?")  # help is above the slide: nothing scrolls away
    expect(page.locator("#stage-help")).to_be_visible()
    assert page.evaluate(
        "[scrollY, document.scrollingElement.scrollTop, document.body.scrollTop].every((at) => at === 0)"
    )
    box = page.locator("#stage-help").bounding_box()
    assert box and box["y"] >= 0 and box["y"] + box["height"] <= 900
