"""What holds on every page: nothing is blocked, nothing leaves the house, everyone can read it, and it fits the screen."""

from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.conftest import Visit

PAGES = {
    "home": ("/", 200),
    "plan": ("/plan", 200),
    "plan refused": ("/plan?tp=6&zero=9&model=gpt-9", 200),
    "topology": ("/topology", 200),
    "topology, a lost node": ("/topology?lost=9&colour=dp&rank_order=dp-tp-cp-ep-pp&spine=4", 200),
    "topology, 131,072 GPUs": ("/topology?model=llama-3-405b&gpus=131072&pp=16&cp=2&batch=8192&colour=pp", 200),
    "topology refused": ("/topology?gpus=1020&rank_order=tp", 200),
    "demos": ("/demos", 200),
    "demo": ("/demos/ddp", 200),
    "demo refused": ("/demos/ddp?ranks=3", 200),
    "no such run": ("/demos/runs/AAAAAAAAAAAA", 404),
    "docs": ("/docs", 200),
    "scenes": ("/scenes", 200),
    "gallery": ("/gallery", 200),
    "scene refused": ("/scenes/ddp?gpus=99", 200),
    "stages": ("/present", 200),
    "stage": ("/present/ddp?frame=2", 200),
    "lesson on the stage": ("/present/four-strategies?frame=1", 200),
    "lessons": ("/lessons", 200),
    "lesson": ("/lessons/memory-and-communication", 200),
    "exercises": ("/lessons/exercises", 200),
    "glossary": ("/glossary", 200),
    "sources": ("/sources", 200),
    "formula": ("/working/state_bytes?N=70e9&zero=3&D=64", 200),
    "build": ("/scenes/pp/build?moves=0FF1F", 200),
    "advice": ("/plan/advice?tp=16", 200),
    "working": ("/plan/working/step.seconds", 200),
    "no such working": ("/plan/working/nonsense", 404),
    "no such page": ("/nothing", 404),
}
EVERY_RULE = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]}}
OF_LOOKS = {
    "runOnly": {"type": "rule", "values": ["color-contrast", "target-size"]}
}  # what a scheme or a size can break
WIDE: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
LOOKS: tuple[tuple[Literal["light", "dark"], ViewportSize, dict[str, Any]], ...] = (
    ("light", WIDE, EVERY_RULE),
    ("dark", PHONE, OF_LOOKS),
)
WIDTHS = (320, 390, 768, 1024, 1920, 3840)
SCENES_OWN = ("gallery",)  # every figure at once: axe reads each on its own page
SLIDES = ("stage", "lesson on the stage")  # they keep a projector's shape and are scaled to it


SETTLED = """async () => {
  // a window that is not painted for a while gives no frames and ends no animation: nothing is waited for without end
  const soon = (promise) => Promise.race([promise, new Promise((done) => setTimeout(done, 2000))]);
  const frame = () => soon(new Promise(requestAnimationFrame));
  await frame();
  await soon(document.fonts.ready);
  for (let round = 0; round < 20 && document.getAnimations().length; round++) { // one inherits from another
    await soon(Promise.allSettled(document.getAnimations().map((animation) => animation.finished)));
    await frame();
  }
}"""


def settle(page: Page) -> None:
    """Wait until the page has taken in a new size or scheme: fonts, transitions, and what the server was asked for."""
    page.evaluate(SETTLED)
    expect(page.locator(".htmx-request")).to_have_count(0)


def violations(page: Page) -> list[str]:
    """What axe finds, a line for each element: everything on a light board, colours and sizes again on a dark phone."""
    lines = []
    for scheme, size, rules in LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size(size)
        settle(page)
        found = Axe().run(page, options=rules).response["violations"]
        lines += [
            f"{scheme}, {size['width']} wide: {rule['id']}: {node['html'][:160]}: {node['failureSummary'][:300]}"
            for rule in found
            for node in rule["nodes"]
        ]
    return lines


TOO_WIDE = """() => [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1)
  .slice(0, 5).map((e) => `${e.tagName}.${e.getAttribute("class") ?? ""}`)"""


def too_wide(page: Page) -> list[str]:
    """What sticks out of a window, for each width at which something does."""
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(f"{width}: {page.evaluate(TOO_WIDE)}")
    return found


@pytest.mark.parametrize("name", PAGES)
def test_a_page_breaks_no_rule_fits_its_window_and_asks_no_other_host(visit: Visit, name: str) -> None:
    path, status = PAGES[name]
    page = visit(path, status=status, reduced_motion="reduce")
    assert page.evaluate("getComputedStyle(document.querySelector('h1')).fontFamily").startswith("Kalam")
    assert name in SCENES_OWN or violations(page) == []
    assert name in SLIDES or too_wide(page) == []


def test_axe_finds_nothing_with_a_working_open(visit: Visit) -> None:
    page = visit("/plan", reduced_motion="reduce")
    page.locator(".plan-answer a.value").first.click()
    expect(page.locator("#plan-working:popover-open h2")).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize("path", ["/", "/plan", "/docs"])
def test_nothing_moves_by_itself_for_those_who_ask_for_less_motion(visit: Visit, path: str) -> None:
    page = visit(path, reduced_motion="reduce")
    assert page.evaluate("document.getAnimations().filter((a) => a.playState === 'running').length") == 0


@pytest.mark.parametrize("path", ["/", "/plan", "/docs"])
def test_a_page_can_be_printed(visit: Visit, path: str, tmp_path: Path) -> None:
    page = visit(path)
    sheet = page.pdf(path=tmp_path / "page.pdf", format="A4", tagged=True)
    assert sheet.startswith(b"%PDF") and len(sheet) > 10_000


@pytest.mark.parametrize("path", ["/", "/plan", "/docs"])
def test_the_chart_library_is_not_loaded_with_a_page(visit: Visit, asked: list[str], path: str) -> None:
    page = visit(path)
    page.wait_for_load_state("networkidle")
    assert [url for url in asked if "/board." in url]
    assert not [url for url in asked if "plotly" in url]


def test_a_chart_is_drawn_when_it_is_opened_and_follows_the_plan(visit: Visit, asked: list[str]) -> None:
    page = visit("/plan")
    page.locator("#plan-explore summary", has_text="Memory over the step").click()
    chart = page.locator("#plan-chart-memory")
    expect(chart.locator("plot-chart[drawn]")).to_be_visible()
    assert len([url for url in asked if "plotly" in url]) == 1
    expect(chart.locator(".main-svg").first).to_be_visible()
    before = chart.locator("script[type='application/json']").text_content()
    page.locator("#micro_batch").fill("2")
    page.locator("#micro_batch").blur()
    expect(page.locator("#plan-chart-memory script[type='application/json']")).not_to_have_text(before or "")
    settle(page)  # the last answer to what was typed has been put in its place
    page.locator("#plan-chart-memory").scroll_into_view_if_needed()
    expect(page.locator("#plan-chart-memory plot-chart[drawn]")).to_be_visible()
    page.locator("#plan-explore summary").filter(has_text="knob").click()
    expect(page.locator("#plan-chart-knob plot-chart[drawn]")).to_be_visible()
    assert len([url for url in asked if "plotly" in url]) == 1


def test_a_chosen_board_colour_stays_on_the_next_page(visit: Visit) -> None:
    page = visit("/", color_scheme="light")
    page.get_by_role("radio", name="dark").check(force=True)
    page.goto("/plan")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.get_by_role("radio", name="dark").is_checked()
