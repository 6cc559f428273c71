"""Demos in a real browser: set up, predict, run, watch, replay, stop; with less motion, without scripts."""

import re

import pytest
from playwright.sync_api import Page, expect

from app.runner.recordings import can_run, recording_of
from tests.browser.conftest import Visit

pytestmark = pytest.mark.skipif(not can_run(), reason="no torch here: only recorded runs")
PATIENCE_MS = 90_000  # a cold start on a busy machine


def over(page: Page) -> None:
    expect(page.locator("[data-over]")).to_be_attached(timeout=PATIENCE_MS)


def test_a_demo_is_predicted_run_and_watched_to_its_verdict(visit: Visit) -> None:
    page = visit("/demos/ddp")
    page.locator("[name=layers]").first.fill("2")
    expect(page.locator("#demos-prediction")).to_contain_text("parameters on a rank")
    page.locator("[name=guess]").fill("5 MB")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page).to_have_url(re.compile(r"/demos/runs/[\w-]+\?guess="))
    over(page)
    expect(page.get_by_role("heading", name="As predicted")).to_be_visible()
    expect(page.locator(".demos-board")).to_contain_text("You said 5 MB")
    assert page.locator("[data-ok=false]").count() == 0
    expect(page.locator("form[action$='/cancel']")).to_have_count(0)


def test_a_run_that_is_over_is_replayed_and_run_again(visit: Visit) -> None:
    page = visit("/demos/ddp?layers=1&hidden=64&steps=3")
    page.get_by_role("button", name="Run", exact=True).click()
    over(page)
    page.locator("#demos-t").fill("1")
    expect(page.locator("[data-over]")).to_have_count(0)
    page.locator("#demos-t").fill("1000")
    over(page)
    page.get_by_role("link", name="Run it again").click()
    assert page.locator("[name=layers]").first.input_value() == "1"


def test_a_run_is_stopped_by_its_button(visit: Visit) -> None:
    page = visit("/demos/ddp?steps=20&hidden=256")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("button", name="Stop it").click()
    over(page)
    expect(page.locator(".demos-state")).to_contain_text(re.compile("cancelled|done"))


def test_a_knob_without_meaning_is_told_and_nothing_runs(visit: Visit) -> None:
    page = visit("/demos/ddp?ranks=3")
    expect(page.locator(".refusal").first).to_contain_text("must divide it")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".refusal").first).to_contain_text("must divide it")
    assert "/runs/" not in page.url or page.url.endswith("/runs")


def test_without_scripts_a_run_comes_to_its_verdict_too(visit: Visit) -> None:
    page = visit("/demos/ddp?layers=1&hidden=64&steps=2", java_script_enabled=False)
    page.get_by_role("button", name="Run", exact=True).click()
    over(page)  # the page asks again by itself
    expect(page.get_by_role("heading", name="As predicted")).to_be_visible()


def test_a_scene_leads_to_its_demo(visit: Visit) -> None:
    page = visit("/scenes/pp")
    page.get_by_role("link", name="run it for real").click()
    expect(page).to_have_url(re.compile("/demos/pp$"))


def test_what_pytorch_says_is_folded_and_no_word_of_it_is_wider_than_a_phone(visit: Visit) -> None:
    page = visit("/demos", width=390, height=844)
    page.locator("#events").fill(recording_of("mismatch").read_text())
    page.get_by_role("button", name="Show that run").click()
    expect(page.locator(".demos-cause")).to_contain_text("calls barrier where ranks")
    expect(page.locator(".demos-said > p")).to_be_hidden()
    page.locator(".demos-said > summary").click()
    expect(page.locator(".demos-said > p")).to_contain_text("CollectiveFingerPrint")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
