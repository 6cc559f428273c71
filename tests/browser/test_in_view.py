"""The answer and the control being turned are in the window together, at every size and on every page of a form."""

import pytest
from playwright.sync_api import Locator, Page, expect

from app.plan.frame import Frame
from app.plan.page import Plan
from app.topology.page import Topology
from tests.browser.conftest import Visit
from tests.browser.test_pages import PAGES

SIZES = ((1366, 768), (1280, 720), (1024, 768), (390, 844))
HIDDEN = ("config",)  # shown only where a model is pasted


def box(found: Locator) -> tuple[float, float, float, float]:
    drawn = found.bounding_box()
    assert drawn
    return drawn["x"], drawn["y"], drawn["x"] + drawn["width"], drawn["y"] + drawn["height"]


def inside(found: Locator, width: int, height: int) -> bool:
    left, top, right, bottom = box(found)
    return min(left, top) > -1 and right < width + 1 and bottom < height + 1  # a pixel may be cut in parts


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("frame", [Plan, Topology], ids=lambda frame: frame.path)
def test_the_answer_is_in_view_with_every_control(visit: Visit, frame: type[Frame], size: tuple[int, int]) -> None:
    page = visit(frame.path, width=size[0], height=size[1])
    strip = page.locator("#plan-strip")
    readings = strip.locator(".plan-reading")
    assert readings.count() == 5
    names = [each.name for _, inputs in frame.groups for each in inputs if each.name not in HIDDEN]
    assert len(names) > 10
    for name in names:
        field = page.locator(f"[data-field='{name}']")
        control = field.locator("input:not([type=radio]):visible, select, .choice, textarea, .axis-chips").first
        control.scroll_into_view_if_needed()
        assert inside(control, *size), f"{name} is out of the window"
        assert all(inside(readings.nth(each), *size) for each in range(5)), f"the answer is out of the window at {name}"
        assert covers(page, strip), f"something lies over the answer at {name}"
        assert box(control)[1] >= box(strip)[3] - 1 or box(control)[0] >= box(strip)[2], f"the answer lies over {name}"


def covers(page: Page, strip: Locator) -> bool:
    """Whether the strip is what one sees where it stands."""
    left, top, right, bottom = box(strip)
    at = [(left + right) / 2, (top + bottom) / 2]
    return page.evaluate("([x, y]) => Boolean(document.elementFromPoint(x, y)?.closest('#plan-strip'))", at)


def test_the_strip_follows_the_control_and_is_pale_while_a_plan_has_no_meaning(visit: Visit) -> None:
    page = visit("/plan")
    step = page.locator("#plan-strip a").first.locator("b")
    before, ink = step.inner_text(), step.evaluate("each => getComputedStyle(each).color")
    page.locator("#gpus").fill("2048")
    expect(step).not_to_have_text(before)
    page.locator("#gpus").fill("2047")
    expect(page.locator("#plan-state")).to_contain_text("no meaning")
    assert step.evaluate("each => getComputedStyle(each).color") != ink


def test_what_does_not_fit_says_so_in_the_strip(visit: Visit) -> None:
    page = visit("/plan?tp=1&pp=1&gpus=512&zero=0")
    expect(page.locator("#plan-strip .plan-reading-bad")).to_contain_text("does not fit")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_no_page_slides_sideways(visit: Visit, size: tuple[int, int]) -> None:
    page = visit("/", width=size[0], height=size[1])
    wide = []
    for name, (path, _) in PAGES.items():
        page.goto(path)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(name)
    assert not wide


def test_a_folded_group_stays_folded(visit: Visit) -> None:
    page = visit("/plan")
    page.locator(".plan-group[data-group=memory] > summary").click()
    expect(page.locator("#zero")).to_be_hidden()
    page.wait_for_function("localStorage.getItem('fold memory')")  # a toggle is told a moment later
    page.reload()
    expect(page.locator("#zero")).to_be_hidden()
    page.locator(".plan-group[data-group=memory] > summary").click()
    expect(page.locator("#zero")).to_be_visible()
