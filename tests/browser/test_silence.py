"""When the server does not answer, or answers with an error: the page says so, and greys what is not up to date."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from tests.browser.conftest import PATIENCE_MS
from tests.browser.planner import Planner
from tests.server import running

Opened = Callable[..., Page]
LONG = "x" * 70_000


@pytest.fixture
def opened(new_context: Callable[..., BrowserContext]) -> Iterator[Opened]:
    """Opens an address in a window whose failed requests are no failure of the test; an uncaught error is one."""
    uncaught: list[str] = []

    def page(address: str, **options: object) -> Page:
        context = new_context(viewport={"width": 1280, "height": 900}, **options)
        context.set_default_timeout(PATIENCE_MS)
        made = context.new_page()
        made.on("pageerror", lambda problem: uncaught.append(str(problem)))
        made.goto(address, wait_until="load")
        return made

    yield page
    assert not uncaught


def line(page: Page) -> Locator:
    return page.locator("server-line")


def greyed(page: Page, id: str) -> Locator:
    return page.locator(f"#{id}[data-stale]")


@pytest.fixture
def planner(opened: Opened, base_url: str) -> Planner:
    return Planner(opened(f"{base_url}/plan"))


def test_a_server_that_is_gone_is_told_and_its_return_clears(opened: Opened) -> None:
    with ExitStack() as first:
        address = first.enter_context(running())
        planner = Planner(opened(f"{address}/plan"))
        planner.number("gpus").fill("2048")
        planner.shows("gpus", "2048")
        first.close()
        planner.number("gpus").fill("512")
        expect(line(planner.page)).to_contain_text("The server does not answer. What is shown in grey is from")
        expect(greyed(planner.page, "plan-board")).to_have_count(1)
        planner.shows("gpus", "2048")
        faded = planner.page.locator("#plan-board > *").first
        assert float(faded.evaluate("part => getComputedStyle(part).opacity")) < 0.6
        with running(urlsplit(address).port or 0):
            planner.number("gpus").fill("256")
            planner.shows("gpus", "256")
            expect(line(planner.page)).to_be_empty()
            expect(greyed(planner.page, "plan-board")).to_have_count(0)


def test_it_asks_again_by_itself(planner: Planner) -> None:
    planner.page.route("**/plan/board*", lambda route: route.abort())
    planner.number("gpus").fill("2048")
    expect(line(planner.page)).to_contain_text("asked for again")
    planner.page.unroute("**/plan/board*")
    planner.shows("gpus", "2048")
    expect(line(planner.page)).to_be_empty()
    expect(greyed(planner.page, "plan-board")).to_have_count(0)


@pytest.mark.parametrize(
    ("status", "kind", "body", "told"),
    [
        (429, "text/html", '<div class="error"><h1>Busy</h1><p>Two plans are computed already.</p></div>', "Two plans"),
        (503, "application/json", '{"error": "Come back in a minute."}', "Come back in a minute. What"),
        (500, "text/plain", "The pen slipped.", "The pen slipped. What"),
        (502, "text/html", "<html><body><h1>Bad gateway</h1></body></html>", "answers with an error (502)"),
    ],
)
def test_an_error_says_its_sentence(planner: Planner, status: int, kind: str, body: str, told: str) -> None:
    def answer(route: Route) -> None:
        route.fulfill(status=status, content_type=kind, body=body)

    planner.page.route("**/plan/board*", answer)
    planner.number("gpus").fill("2048")
    expect(line(planner.page)).to_contain_text(told)
    expect(greyed(planner.page, "plan-board")).to_have_count(1)


def test_an_answer_that_does_not_come_is_not_waited_for(planner: Planner) -> None:
    assert planner.page.evaluate("htmx.config.timeout") == 20_000
    planner.page.evaluate("htmx.config.timeout = 300")
    planner.page.route("**/plan/board*", lambda route: None)  # never answered
    planner.number("gpus").fill("2048")
    expect(line(planner.page)).to_contain_text("has not answered for 0.3 s")
    planner.page.unroute_all(behavior="ignoreErrors")


def test_more_than_an_address_can_hold_is_told(planner: Planner) -> None:
    planner.page.locator("#config").evaluate("(field, text) => { field.value = text }", LONG)
    planner.number("gpus").fill("2048")
    expect(line(planner.page)).to_contain_text(re.compile(r"an address of 7\d,\d+ characters.*paste less"))
    expect(greyed(planner.page, "plan-board")).to_have_count(1)


def test_a_working_that_cannot_be_had_is_told_and_the_next_one_opens(planner: Planner) -> None:
    planner.page.route("**/plan/working/*", lambda route: route.abort())
    planner.page.locator(".plan-answer a.value").first.click()
    expect(line(planner.page)).to_contain_text("does not answer")
    planner.page.unroute("**/plan/working/*")
    expect(planner.page.locator("#plan-working")).to_be_visible()
    expect(line(planner.page)).to_be_empty()


@pytest.mark.parametrize(
    ("path", "asks", "turned"),
    [
        ("/topology", "**/topology/board*", "[name=gpus]"),
        ("/scenes/ddp", "**/scenes/ddp/stage*", "#scene-form input[type=number]"),
        ("/demos/ddp", "**/demos/ddp/prediction*", "form input[type=number]"),
    ],
)
def test_every_room_says_so(opened: Opened, base_url: str, path: str, asks: str, turned: str) -> None:
    page = opened(f"{base_url}{path}")
    page.route(asks, lambda route: route.abort())
    field = page.locator(turned).first
    field.evaluate("field => field.dispatchEvent(new Event('input', { bubbles: true }))")
    expect(line(page)).to_contain_text("The server does not answer")
    expect(page.locator("[data-stale]")).to_have_count(1)
