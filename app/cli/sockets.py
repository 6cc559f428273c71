"""`shardboard serve`: the board on an address, which is refused in a sentence where it cannot be had."""

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from engine.language.refusal import Refusal


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
        shown = f"[{host}]" if family == socket.AF_INET6 else host
        yield made, f"http://{shown}:{made.getsockname()[1]}/"


def serve(host: str, port: str) -> None:
    """Serve until Ctrl-C."""
    with listening(host, port) as (made, address):
        print(f"Shardboard is on {address} (Ctrl-C stops it)", file=sys.stderr)
        config = uvicorn.Config("app.main:create_app", factory=True, log_level="warning")
        uvicorn.Server(config).run(sockets=[made])
