"""Every route, asked what it cannot answer: a sentence of ours comes back, never a 500 and never a library's words."""

import random
import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from app.main import create_app
from app.plan.form import FIELDS
from tests.compare.site import Route, routes_of

APP = create_app()
EVERY = tuple(routes_of(APP))
ROUTES = {route.path: route for route in EVERY}  # one of each address, whatever it takes
ODD = (
    "", " ", "nothing-like-it", "-1", "1e30", "0", "9" * 400, "１２", "٣", "1_000", "\0", "a\0b", "\ud800", "\U0001f642",
    "x" * 5000, "../../etc/passwd", "..%2f..", "%", "%00", "<script>", "{}", "[]", "null", "nan", "inf", "'\";--", "\r\nx: y",
)  # fmt: skip
NAMES = (
    *FIELDS,
    "frame",
    "board",
    "form",
    "t",
    "moves",
    "try",
    "answer",
    "knob",
    "guess",
    "you",
    "look",
    "stages",
    "micro",
    "p",
    "N",
    "\0",
    "\ud800",
    "",
)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW", "get")
KNOWN = (
    "ddp",
    "cp",
    "pp",
    "memory",
    "megatron",
    "1",
    "bubble_of_total",
    "step",
    "llama-3-70b-1024",
    "forgotten-optimizer",
)
# how pydantic and FastAPI speak of what they cannot read
THEIRS = re.compile(
    r"Input should|Field required|value_error|type_error|validation error|valid (?:integer|number|string)|Extra inputs|"
    r"unable to parse|Traceback|pydantic|errors\.pydantic",
    re.IGNORECASE,
)
EACH = 30  # questions a route


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(APP, raise_server_exceptions=False) as client:
        yield client


def quoted(text: str) -> str:
    """For an address; halves of characters too, as a program may send them."""
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


def asked(route: Route, chance: random.Random) -> Iterator[tuple[str, str, bytes, dict[str, str]]]:
    """Method, address, body and headers of questions that no page asks."""
    for _ in range(EACH):
        path = re.sub(r"{\w+(?::\w+)?}", lambda _: quoted(chance.choice((*ODD, *KNOWN))), route.path)
        pairs = [(chance.choice(NAMES), chance.choice(ODD)) for _ in range(chance.randrange(3))]
        query = "&".join(f"{quoted(name)}={quoted(value)}" for name, value in pairs)
        body = chance.choice(
            (b"", query.encode(), b"\xff\xfe", b'{"model": "\\ud800"}', b"[" * 900, b"document=%ff&a=%00")
        )
        sent_as = chance.choice(
            ("application/json", "application/x-www-form-urlencoded", "text/plain", "multipart/form-data", "")
        )
        headers = {"content-type": sent_as} if sent_as else {}
        headers |= chance.choice(
            ({}, {"hx-request": "true"}, {"last-event-id": "\u00b2"}, {"cookie": "theme=x; visitor=; narrow=2"})
        )
        method = chance.choice((*route.methods, chance.choice(METHODS)))
        yield method, f"{path}?{query}" if query else path, body if method not in ("GET", "HEAD") else b"", headers


def later(answer: Response) -> bool:
    """Whether somebody is only asked to come again in a moment."""
    return answer.status_code == 503 and "retry-after" in answer.headers


@pytest.mark.parametrize("path", ROUTES)
def test_what_no_page_asks_is_refused_in_our_words(client: TestClient, path: str) -> None:
    for method, address, body, headers in asked(ROUTES[path], random.Random(path)):
        raw = {name.encode(): value.encode("latin-1") for name, value in headers.items()}
        answer = client.request(method, address, content=body, headers=raw, follow_redirects=False)
        where = f"{method} {address[:200]} {body[:40]!r} {headers}"
        assert answer.status_code < 500 or later(answer), where
        if answer.status_code >= 400:
            assert not THEIRS.search(answer.text), f"{where}: {THEIRS.search(answer.text)}"
            assert method == "HEAD" or answer.text.strip(), where


# what programs and scripts of ours send to, never the address bar
SENT = ("/api/", "/plan/pasted")
FORMS = sorted({route.path for route in EVERY if "POST" in route.methods and not route.path.startswith(SENT)})


@pytest.mark.parametrize("path", FORMS)
def test_an_address_that_a_form_sends_to_leads_somewhere_when_it_is_opened(client: TestClient, path: str) -> None:
    """Reloaded, or taken from a history: to the page that has the form, which may then say that it is gone."""
    address = re.sub(r"{\w+(?::\w+)?}", "ddp", path)
    answer = client.get(address, follow_redirects=False)
    assert answer.status_code in (200, 303), answer.status_code
    if answer.status_code == 303:
        led = client.get(answer.headers["location"], follow_redirects=False)
        assert led.status_code == 200 or "/runs/" in answer.headers["location"]


@pytest.mark.parametrize("path", ROUTES)
def test_every_route_answers_head_as_get_and_names_its_methods(client: TestClient, path: str) -> None:
    address = re.sub(r"{\w+(?::\w+)?}", "ddp", path)
    allowed = {method for other in EVERY if other.path == path for method in other.methods}
    for method in METHODS:
        answer = client.request(method, address, follow_redirects=False)
        assert answer.status_code < 500 or later(answer), (method, address)
        if method not in allowed and method not in ("GET", "HEAD", "get"):
            assert answer.status_code == 405 and answer.headers["allow"], (method, address)
