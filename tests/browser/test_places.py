"""The menu leads on with the plan as it stands under the hand, and is one row on a phone."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from app.web.render import CARRIED
from tests.browser.conftest import Visit
from tests.browser.planner import Planner


def link(page: Page, place: str) -> Locator:
    return page.locator(f".board-nav a[href^='{place}']")


@pytest.mark.parametrize("page", CARRIED)
def test_the_menu_follows_a_knob_that_is_turned(visit: Visit, page: str) -> None:
    shown = visit(f"{page}?zero=0")
    knob = Planner(shown).number("pp")
    knob.fill("2")
    knob.blur()
    for place in CARRIED:
        expect(link(shown, place)).to_have_attribute("href", re.compile(r"[?&]pp=2(&|$)"))
        address = link(shown, place).get_attribute("href") or ""
        assert parse_qs(urlsplit(address).query)["zero"] == ["0"], "what stood there before goes along too"
    other = next(place for place in CARRIED if place != page)
    link(shown, other).click()
    expect(shown.locator("#pp")).to_have_value("2")
    expect(shown.locator("#plan-ignored")).to_be_empty()  # what only one page has stays there


def test_what_only_the_floor_has_stays_there(visit: Visit) -> None:
    page = visit("/topology?you=9&lost=3&colour=tp")
    page.locator("#pp").fill("2")
    page.locator("#pp").blur()
    expect(link(page, "/plan")).to_have_attribute("href", re.compile(r"[?&]pp=2(&|$)"))
    assert (
        not {"you", "lost", "colour"} & parse_qs(urlsplit(link(page, "/plan").get_attribute("href") or "").query).keys()
    )
    expect(page).to_have_url(re.compile("you=9"))


def test_the_way_to_published_runs_and_the_paste_take_the_plan_along(visit: Visit) -> None:
    page = visit("/plan")
    page.locator("#pp").fill("2")
    page.locator("#pp").blur()
    expect(page.locator("a[href^='/plan/published']")).to_have_attribute("href", re.compile(r"[?&]pp=2(&|$)"))
    page.goto("/topology")
    page.locator("#pp").fill("2")
    page.locator("#pp").blur()
    expect(page.locator(".topology-paste")).to_have_attribute("action", re.compile(r"^/topology/import\?.*pp=2(&|$)"))


@pytest.mark.parametrize("path", ["/", "/plan", "/topology", "/lessons", "/demos", "/demos/fake?plan="])
def test_the_menu_is_one_row_on_a_phone_without_a_slide(visit: Visit, path: str) -> None:
    page = visit(path, width=390, height=844)
    links = page.locator(".board-nav a")
    boxes = [box for each in links.all() if (box := each.bounding_box())]
    assert len(boxes) == links.count() > 4
    assert max(box["y"] for box in boxes) < min(box["y"] + box["height"] for box in boxes), "two rows"
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes), "a place is out of the window"
    nav = page.locator(".board-nav")
    assert nav.evaluate("nav => nav.scrollWidth <= nav.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_what_a_stage_passes_over_covers_nothing_of_it(visit: Visit, size: tuple[int, int]) -> None:
    page = visit("/present/zero?utm_source=x", width=size[0], height=size[1])
    stage, remark = (page.locator(each).bounding_box() for each in (".stage", ".stage-passed-over"))
    assert stage and remark
    assert stage["y"] + stage["height"] <= remark["y"] and remark["y"] + remark["height"] <= size[1] + 1
