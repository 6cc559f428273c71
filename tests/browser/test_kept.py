"""Plans that are kept: pinned from the planner, and printed on one sheet."""

import re

import pytest
from playwright.sync_api import expect

from app.plan.presets import PLANS, RUNS, preset_queries
from tests.browser.conftest import Visit
from tests.browser.planner import Planner

EVERY = preset_queries((*PLANS, *RUNS))


def test_two_plans_are_pinned_and_stand_side_by_side(visit: Visit) -> None:
    page = visit("/plan")
    pin = page.locator("#plan-strip .plan-pin a")
    pin.click()
    expect(pin).to_have_text("1 pinned")
    planner = Planner(page)
    planner.number("pp").fill("2")
    planner.shows("pp", "2")
    expect(pin).to_have_text("pin beside 1")
    pin.click()
    expect(pin).to_have_text("2 pinned")
    pin.click()
    expect(page.locator(".plan-pins mark")).to_have_text("2")
    assert page.locator(".plan-pins thead th").count() == 2
    page.locator("[data-unpin]").last.click()
    expect(page.locator(".plan-pins thead th")).to_have_count(1)
    page.goto("/plan/pins")
    expect(page.locator(".plan-pins thead th")).to_have_count(1)
    page.locator("[data-unpin]").click()
    expect(page.locator("main")).to_contain_text("Nothing is pinned yet")


@pytest.mark.parametrize("title", EVERY)
def test_a_plan_prints_on_one_page(visit: Visit, title: str) -> None:
    page = visit(f"/plan?{EVERY[title]}", width=1366, height=768)
    expect(page.locator("#plan-strip b").first).to_be_visible()
    sheet = page.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", sheet)) == 1
