"""`shardboard serve`: the board on an address, which is refused in a sentence where it cannot be had."""

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import uvicorn

from app.cli.half_sent import Patient
from app.settings import settings
from app.web.hosts import LOOPBACK, listens_everywhere, names_of
from engine.language.refusal import Refusal

GRACE_S = 3  # for answers under way when the server is asked to end


@contextmanager
def listening(host: str, port: str) -> Iterator[tuple[socket.socket, str]]:
    """A socket on this host and port, and the address a browser uses. Port 0 takes any that is free."""
    if not (port.isascii() and port.isdigit() and int(port[:6]) <= 65_535 and len(port) <= 5):
        raise Refusal("port", port, "needs a whole number from 0 to 65,535", "8000")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.create_server((host, int(port)), family=family, reuse_port=False)
    except (OSError, UnicodeError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).partition(" (")[0].lower()
        raise Refusal("address", f"{host}:{port}", f"cannot be served on: {reason}", "another --port") from None
    with made:
        here = (LOOPBACK[-1] if family == socket.AF_INET6 else LOOPBACK[0]) if listens_everywhere(host) else host
        shown = f"[{here}]" if family == socket.AF_INET6 else here
        yield made, f"http://{shown}:{made.getsockname()[1]}/"


def serve(host: str, port: str) -> None:
    """Serve until Ctrl-C, or until asked to end: whoever is still being answered then has GRACE_S."""
    with listening(host, port) as (made, address):
        application = _application(
            host
        )  # or the sentence that says why there is none, before anything is said to be on
        print(f"Shardboard is on {address} (Ctrl-C stops it)", file=sys.stderr)
        if words := exposed(host, made.getsockname()[1], settings().live_demos):
            print(words, file=sys.stderr)
        config = uvicorn.Config(
            application,
            log_level="warning",
            http=Patient,
            ws="none",  # no page has a web socket
            timeout_graceful_shutdown=GRACE_S,
        )
        logging.getLogger("uvicorn.error").addFilter(_is_news)
        try:
            uvicorn.Server(config).run(sockets=[made])
        except KeyboardInterrupt:
            _leave_threads()
            raise


def exposed(host: str, port: int, live: bool) -> str:
    """What an address opens to others; nothing of one that only this machine reaches.

    live   whether visitors may start runs

    >>> exposed("127.0.0.1", 8000, True)
    ''
    >>> exposed("10.1.2.3", 8000, False)
    'Everyone who reaches 10.1.2.3:8000 over the network can use it.'
    """
    names = names_of(host)
    if not listens_everywhere(host) and LOOPBACK[1] in names:
        return ""
    others = sorted(names - {*LOOPBACK}, key=len)
    place = f"this machine's port {port}" if listens_everywhere(host) else f"{host}:{port}"
    starts = " and start runs on this machine (SHARDBOARD_DEMOS=off shows recorded ones only)" if live else ""
    known = f" It answers to this machine's addresses, {' and '.join(others)}; SHARDBOARD_HOSTS adds names."
    return f"Everyone who reaches {place} over the network can use it{starts}." + (
        known if listens_everywhere(host) else ""
    )


def _application(host: str) -> Any:
    """The board, which knows from here where it is bound; built once the address is had."""
    return import_module("app.main").create_app(host)


def _is_news(line: logging.LogRecord) -> bool:
    """Whether a line of the log says more than that an answer was broken off because the server ends."""
    return not (line.exc_info and isinstance(line.exc_info[1], asyncio.CancelledError))


def _leave_threads() -> None:
    """Ends at once where a thread still computes an answer that nobody waits for: Python would wait for it."""
    busy = [each for each in threading.enumerate() if each is not threading.main_thread() and not each.daemon]
    if busy:
        sys.stderr.flush()
        os._exit(128 + signal.SIGINT)
