"""A real Chromium against the real server: one of each for all tests, and a fresh window whose troubles are noted for each."""

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, Response

from tests.browser.chromium import launch_options
from tests.server import running

Visit = Callable[..., Page]
PATIENCE_MS = 10_000  # for a thing to appear on a busy machine; nothing is asserted about speed


def pytest_configure(config: pytest.Config) -> None:
    """Keep a picture of what a failed test saw."""
    config.option.screenshot = "only-on-failure"
    config.option.output = "screenshots/failed"


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, object]:
    return launch_options()


@pytest.fixture(scope="session")
def base_url() -> Iterator[str]:
    with running() as address:
        yield address


class Troubles(list[str]):
    """What went wrong in the windows of a test. Each test fails that leaves some."""

    def __init__(self, base_url: str) -> None:
        super().__init__()
        self.host = urlsplit(base_url).netloc
        self.asked: list[str] = []

    def watch(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda problem: self.append(f"uncaught: {problem}"))
        page.on("request", self._request)
        page.on("requestfailed", self._failed)
        page.on("response", self._response)

    def _console(self, message: ConsoleMessage) -> None:
        # an answer of 4xx is judged in _response, where it is known whether a person went there
        if "Failed to load resource" in message.text:
            return
        if message.type == "error" or "Content Security Policy" in message.text:
            self.append(f"console: {message.text}")

    def _request(self, request: Request) -> None:
        self.asked.append(request.url)
        asked = urlsplit(request.url)
        if asked.scheme not in ("data", "blob") and asked.netloc != self.host:
            self.append(f"another host: {request.url}")

    def _failed(self, request: Request) -> None:
        # leaving a page ends what it was still asking for
        if request.failure != "net::ERR_ABORTED":
            self.append(f"failed: {request.url[:200]}: {request.failure}")

    def _response(self, response: Response) -> None:
        if response.status >= 400 and not response.request.is_navigation_request():
            self.append(f"{response.status}: {response.url[:200]}")


@pytest.fixture
def errors(base_url: str) -> Iterator[Troubles]:
    """Fails the test on an error in the console, a breach of the content policy, a failed request or one to another host."""
    troubles = Troubles(base_url)
    yield troubles
    assert not troubles


@pytest.fixture
def asked(errors: Troubles) -> list[str]:
    """Every address that the windows of this test have asked for."""
    return errors.asked


@pytest.fixture
def visit(new_context: Callable[..., BrowserContext], errors: Troubles) -> Visit:
    """Open an address in a new window: visit("/plan", width=390, height=844, color_scheme="dark")."""

    def opened(path: str, width: int = 1280, height: int = 900, status: int = 200, **options: object) -> Page:
        context = new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        errors.watch(page)
        answer = page.goto(path, wait_until="load")
        assert answer and answer.status == status
        return page

    return opened
