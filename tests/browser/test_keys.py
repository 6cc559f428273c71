"""The planner by keyboard alone, and where the focus is while a working is open."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.planner import Planner


@pytest.fixture
def planner(visit: Visit) -> Planner:
    return Planner(visit("/plan"))


CONTROLS = "a[href], button, summary, select, textarea, input, [tabindex='0']"
UNREACHED = """selector => [...document.querySelectorAll("main " + selector.replaceAll(", ", ", main "))].filter((e) =>
  e.checkVisibility({ checkVisibilityCSS: true }) && !e.closest("[popover]") && !e.dataset.reached
  && e.tabIndex >= 0 && !(e.type === "radio" && !e.checked)).map((e) => e.outerHTML.slice(0, 120))"""


def test_every_control_is_reached_by_the_tab_key(planner: Planner) -> None:
    page = planner.page
    waiting = len(page.evaluate(UNREACHED, CONTROLS))
    assert waiting > 40
    for _ in range(waiting + 10):
        page.keyboard.press("Tab")
        page.evaluate("document.activeElement.dataset.reached = 'yes'")
    assert page.evaluate(UNREACHED, CONTROLS) == []


def test_arrow_keys_move_every_slider(planner: Planner) -> None:
    names = planner.page.eval_on_selector_all(
        "slider-field", "all => all.map((e) => e.closest('[data-field]').dataset.field)"
    )
    assert len(names) > 10
    for name in names:
        before = float(planner.number(name).input_value())
        at, high = planner.range(name).evaluate("range => [range.value, range.max].map(Number)")
        planner.range(name).press("ArrowLeft" if at == high else "ArrowRight")
        after = float(planner.number(name).input_value())
        assert after < before if at == high else after > before, name


def test_keys_alone_choose_and_pick(planner: Planner) -> None:
    page = planner.page
    page.locator("#zero input[value='3']").focus()
    page.keyboard.press("Space")
    planner.shows("zero", "3")
    page.keyboard.press("ArrowLeft")
    planner.shows("zero", "2")
    page.locator("#model").focus()
    page.keyboard.type("Llama 3 8B")
    planner.shows("model", "llama-3-8b")


def test_enter_on_a_number_opens_its_working_and_escape_gives_the_focus_back(planner: Planner) -> None:
    page, slip = planner.page, planner.page.locator("#plan-working")
    for path in ("step.seconds", "communication.0.exposed_seconds"):
        link = page.locator(
            f".plan-board a.value[href^='/plan/working/{path}?'], .plan-board a.value[href='/plan/working/{path}']"
        ).first
        link.focus()
        page.keyboard.press("Enter")
        expect(slip.locator("h2")).to_be_focused()
        expect(slip.locator("math").first).to_be_visible()
        page.keyboard.press("Escape")
        expect(slip).to_be_hidden()
        expect(link).to_be_focused()
    assert urlsplit(page.url).path == "/plan"


def test_the_parts_of_a_drawing_open_their_working_too(planner: Planner) -> None:
    page, slip = planner.page, planner.page.locator("#plan-working")
    for figure in (".plan-memory", ".plan-time"):
        part = page.locator(f"{figure} a.part").first
        part.focus()
        page.keyboard.press("Enter")
        expect(slip.locator("h2")).to_be_focused()
        page.locator("#plan-working [data-close]").click()
        expect(slip).to_be_hidden()
        expect(part).to_be_focused()


def test_a_control_that_is_pressed_beside_an_open_working_keeps_the_focus(planner: Planner) -> None:
    page, slip = planner.page, planner.page.locator("#plan-working")
    page.locator(".plan-answer a.value").first.click()
    expect(slip.locator("h2")).to_be_focused()
    planner.number("gpus").click()
    expect(slip).to_be_hidden()
    page.keyboard.press("Control+a")
    page.keyboard.type("2048")
    expect(planner.number("gpus")).to_have_value("2048")
    planner.shows("gpus", "2048")
