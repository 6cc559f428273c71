"""The running program, asked: each question once, each answer written down."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from starlette.testclient import TestClient

from tests.compare.normal import Normaliser
from tests.compare.records import Key, Record

MOST_CHARACTERS = 2_000_000  # of a body that is kept as it is: a chart library would only swell the record
SENT_CHARACTERS = 20_000
TEXTS = re.compile(r"text/|json|javascript|xml")


@dataclass(frozen=True)
class Route:
    """A pattern of addresses and what may be done there."""

    path: str
    methods: frozenset[str]

    @property
    def parameters(self) -> list[str]:
        return re.findall(r"{(\w+)(?::\w+)?}", self.path)

    @property
    def pattern(self) -> re.Pattern[str]:
        parts = re.split(r"({\w+(?::\w+)?})", self.path)
        return re.compile(
            "".join((".+" if ":path" in part else "[^/]+") if part[:1] == "{" else re.escape(part) for part in parts)
        )


def routes_of(router: Any, before: str = "") -> Iterator[Route]:
    """Every route of an application, those of included routers and mounts too."""
    for route in router.routes:
        inner = getattr(route, "original_router", route)
        prefix = getattr(getattr(route, "include_context", None), "prefix", "")
        if hasattr(inner, "routes"):
            yield from routes_of(inner, before + prefix + (getattr(route, "path", "") if inner is route else ""))
        elif methods := getattr(route, "methods", None):
            yield Route(before + route.path, frozenset(methods))


@dataclass
class Site:
    """One application and everything it was asked.

    `part` is what the questions of the moment belong to.
    """

    app: Any
    client: TestClient
    part: str = "address"
    records: dict[Key, Record] = field(default_factory=dict)
    normal: Normaliser = field(default_factory=Normaliser)

    def __post_init__(self) -> None:
        self.routes = list(routes_of(self.app))
        self.patterns = [(route, route.pattern) for route in self.routes]

    def route(self, path: str, method: str = "GET") -> str:
        """The pattern that answers at a path; empty for none."""
        return next(
            (route.path for route, pattern in self.patterns if method in route.methods and pattern.fullmatch(path)), ""
        )

    def get(self, address: str, htmx: bool = False) -> Record:
        return self.ask("GET", address, htmx=htmx)

    def ask(
        self,
        method: str,
        address: str,
        sent: str | bytes = b"",
        sent_as: str = "",
        htmx: bool = False,
        drawn_as: str = "",
        **headers: str,
    ) -> Record:
        """Ask, unless it has been asked before. No cookie is sent: every visitor is the first.

        drawn_as   what to call the random name at the end of the redirect that answers
        """
        body = sent.encode() if isinstance(sent, str) else sent
        shown = f"{sent_as}{''.join(f' {name}={value}' for name, value in headers.items())}"
        asked = Record(
            self.part,
            self.route(urlsplit(address).path, method),
            method,
            self.normal(address),
            htmx,
            self.normal(_short(body)),
            shown,
        )
        if known := self.records.get(asked.key):
            return known
        self.client.cookies.clear()
        headers |= {"accept-encoding": "identity"} | ({"hx-request": "true"} if htmx else {})
        if sent_as:
            headers["content-type"] = sent_as
        answer = self.client.request(
            method, self.normal.real(address), content=body, headers=headers, follow_redirects=False
        )
        kind, location = answer.headers.get("content-type", ""), answer.headers.get("location", "")
        text = answer.text if TEXTS.search(kind) else ""
        if drawn_as and location:
            self.normal.learn(location.partition("?")[0].rpartition("/")[2], drawn_as)
        self.records[asked.key] = made = Record(
            asked.part,
            asked.route,
            method,
            asked.address,
            htmx,
            asked.sent,
            shown,
            answer.status_code,
            kind,
            self.normal(location),
            self._kept(text, answer.content),
        )
        return made

    def _kept(self, text: str, content: bytes) -> str:
        if content and (not text or len(text) > MOST_CHARACTERS):
            return f"sha256 {hashlib.sha256(content).hexdigest()} of {len(content)} bytes"
        return self.normal(text)


def _short(body: bytes) -> str:
    text = body.decode("utf-8", "backslashreplace")
    return text if len(text) <= SENT_CHARACTERS else f"{text[:200]} … {len(body)} bytes, {_order(text)[:16]}"


def _order(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def by_chance(found: list[str], seed: str = "") -> list[str]:
    """In an order by digest: the first few are an even choice, and one more address changes little of it."""
    return sorted(found, key=lambda text: _order(f"{seed} {text}"))


def filled(path: str, values: list[str]) -> str:
    """A pattern with values in place of its parameters.

    >>> filled("/scenes/{name}/frames/{at}.svg", ["pp", "3"])
    '/scenes/pp/frames/3.svg'
    """
    left = iter(values)
    return re.sub(r"{\w+(?::\w+)?}", lambda _: quote(next(left), safe="-._~ ").replace(" ", "%20"), path)
