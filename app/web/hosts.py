"""Which names this server answers to: a page of another site that points its own name here gets a sentence instead.

A name can be made to lead anywhere, so that a page elsewhere could start runs on this machine (DNS rebinding). A literal
address cannot: whoever typed it meant this machine. So a server that listens on all addresses answers to each of its own.
"""

import socket
from collections.abc import Collection
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

from fastapi import Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.web.render import wants_json

LOOPBACK = ("127.0.0.1", "localhost", "::1")
READING = frozenset({"GET", "HEAD", "OPTIONS"})  # methods that change nothing
LONGEST = 80  # characters of a name that are shown
OTHER_SITE = "Only the pages of this server may send something here; this came from another site's page."


class Hosts:
    """Refuses what was asked of another name, and what another site's page has sent here.

    bound   the address or name that the server listens on
    more    names that an installation adds by SHARDBOARD_HOSTS
    """

    def __init__(self, app: ASGIApp, bound: str = LOOPBACK[0], more: Collection[str] = ()):
        self.app, self.bound, self.names = app, bound, names_of(bound) | {_plain(name) for name in more}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        status, sentence = self._refused(scope)
        if not sentence:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": "another name"})
        else:
            await _answer(scope, status, sentence)(scope, receive, send)

    def _refused(self, scope: Scope) -> tuple[int, str]:
        """The status and sentence of a refusal; no sentence where nothing is wrong."""
        given = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        name = name_of(given[0]) if len(given) == 1 else ""
        if not name:
            return 400, "The request does not say in one Host header which server it is for."
        if name not in self.names and not (listens_everywhere(self.bound) and is_own_address(name)):
            return 421, self._sentence(name)
        if scope.get("method", "GET") not in READING and not from_own_page(scope, given[0]):
            return 403, OTHER_SITE
        return 200, ""

    def _sentence(self, name: str) -> str:
        everywhere = listens_everywhere(self.bound)
        known = ", ".join(f"[{each}]" if ":" in each else each for each in sorted(self.names))
        shown = "".join(letter if letter.isprintable() else "�" for letter in name[:LONGEST])
        return (
            f"host = {shown}: this server does not answer to that name; it is bound to {self.bound} and answers to {known}"
            f"{' and the addresses of this machine' if everywhere else ''}. "
            "If the name is meant to lead here, set SHARDBOARD_HOSTS to it (several with commas between) and start again."
        )


def names_of(bound: str) -> frozenset[str]:
    """The names that a server bound to this address answers to.

    >>> sorted(names_of("127.0.0.1")), sorted(names_of("10.1.2.3"))
    (['127.0.0.1', '::1', 'localhost'], ['10.1.2.3'])
    """
    here = _plain(bound)
    if listens_everywhere(here):
        machine = _plain(socket.gethostname())
        short = machine.partition(".")[0]
        return frozenset((*LOOPBACK, *filter(None, (machine, short, short and f"{short}.local"))))
    address = address_of(here)
    return frozenset((here, *(LOOPBACK if here in LOOPBACK or (address and address.is_loopback) else ())))


def name_of(host: str) -> str:
    """The name in a Host header, without its port; "" where it is none.

    >>> name_of("Localhost:8000"), name_of("[::1]:8000"), name_of("box.local."), name_of("me@box:8000")
    ('localhost', '::1', 'box.local', '')
    """
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # a port that is none is refused here
    except ValueError:
        return ""
    whole = parts.netloc == host.strip() and not any(sign in host for sign in "@ \t")
    return _plain(parts.hostname or "") if whole else ""


def listens_everywhere(bound: str) -> bool:
    """Whether this address stands for all addresses of the machine.

    >>> listens_everywhere("0.0.0.0"), listens_everywhere("::"), listens_everywhere("127.0.0.1")
    (True, True, False)
    """
    address = address_of(bound)
    return not bound or bool(address and address.is_unspecified)


def is_own_address(name: str) -> bool:
    """Whether this is the literal address of an interface of this machine: a socket can be bound to such a one only.

    >>> is_own_address("127.0.0.1"), is_own_address("203.0.113.7"), is_own_address("0.0.0.0"), is_own_address("box")
    (True, False, False, False)
    """
    address = address_of(name)
    if address is None or address.is_unspecified or address.is_multicast:
        return False
    try:
        with socket.socket(socket.AF_INET6 if address.version == 6 else socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.bind((name, 0))
    except OSError:
        return False
    return True


def address_of(name: str) -> IPv4Address | IPv6Address | None:
    """The literal address that a text writes, if it writes one."""
    try:
        return ip_address(name)
    except ValueError:
        return None


def from_own_page(scope: Scope, host: str) -> bool:
    """Whether a request was sent by a page of this server, or by a program, which has no pages."""
    headers = Request(scope).headers
    origin = headers.get("origin")
    if origin is None:
        return headers.get("sec-fetch-site", "none") in ("none", "same-origin")
    try:
        return urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:  # no address at all
        return False


def _plain(name: str) -> str:
    """A name as names are compared: in lower case, without brackets and the dot at its end."""
    return name.strip().lower().removeprefix("[").removesuffix("]").removesuffix(".")


def _answer(scope: Scope, status: int, sentence: str) -> Response:
    """The sentence by itself: a page would ask this same name for its style sheet."""
    request = Request(scope)
    if wants_json(request):
        return JSONResponse({"error": sentence, "refusals": []}, status)
    return PlainTextResponse(sentence + "\n", status)
