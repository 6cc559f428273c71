"""The planner where there is less of everything: no scripts, a small window."""

from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.planner import Planner

PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}


def test_without_scripts_the_form_sends_itself_and_numbers_are_links(visit: Visit) -> None:
    page: Page = visit("/plan", java_script_enabled=False)
    page.locator("#tp").fill("4")
    page.get_by_role("button", name="Show this plan").click()
    assert parse_qs(urlsplit(page.url).query)["tp"] == ["4"]
    assert page.locator("#tp").input_value() == "4"
    number = page.locator(".plan-answer a.value").first
    shown = number.inner_text()
    number.click()
    assert urlsplit(page.url).path.startswith("/plan/working/")
    assert shown in page.locator("main").inner_text()
    page.get_by_role("link", name="Back to the plan").click()
    assert urlsplit(page.url).path == "/plan" and page.locator("#tp").input_value() == "4"
    page.get_by_text("a published run").click()
    page.get_by_role("link", name="8B on 8 GPUs").click()
    assert page.locator("#gpus").input_value() == "8"


def test_without_scripts_a_refusal_stands_beside_its_field(visit: Visit) -> None:
    page: Page = visit("/plan?batch=513", java_script_enabled=False)
    assert "multiple of 32" in page.locator("#says-batch").inner_text()
    assert "no meaning" in page.locator("#plan-state").inner_text()


def test_on_a_phone_the_memory_stays_in_sight_while_a_slider_of_the_sheet_is_dragged(visit: Visit) -> None:
    planner = Planner(visit("/plan", **PHONE))
    page, memory = planner.page, planner.page.locator(".plan-memory svg:visible").first
    expect(memory).to_be_in_viewport(ratio=0.5)
    planner.grasp("tp")
    planner.pull("tp", 0.5, steps=8)
    expect(planner.number("tp")).to_have_value("8")
    expect(memory).to_be_in_viewport(ratio=0.5)
    planner.pull("tp", 1 / 3, steps=8)
    planner.shows("tp", "4")
    expect(page.locator(".plan-memory svg:visible").first).to_be_in_viewport(ratio=0.5)
    page.mouse.up()
