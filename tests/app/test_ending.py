"""The server ends when it is asked to, whoever is still half-way through a question; and such a one is not waited for."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from app.cli import half_sent

HANGS_S = 15  # a server that is not down by then never will be: it grants 3 s
ENDLESS = """
from app.home import page

@page.router.get("/endless")
def endless() -> None:
    while True:
        pass
"""
POST = (
    b"POST /api/estimate HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"
)
RUN = b"POST /demos/ddp/runs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: %d\r\n\r\n%s"
WAYS = {
    "nothing": b"",
    "half a line": b"GET / HT",
    "half the headers": b"GET / HTTP/1.1\r\nhost: localhost\r\nx-",
    "half a body": POST,
    "half a body in pieces": POST.replace(b"content-length: 100", b"transfer-encoding: chunked")[:-1] + b"5\r\n{",
    "a heavy question": b"GET /endless HTTP/1.1\r\nhost: localhost\r\n\r\n",
}
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")


@contextmanager
def serving(*before: str, **environment: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A server in a process of its own, ready to answer, and its port.

    before   lines of Python that it runs first
    """
    code = "\n".join(
        (*before, "import sys", "from app.cli.main import main", "sys.exit(main(['serve', '--port', '0']))")
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, env={**os.environ, **environment}
    ) as server:
        try:
            assert server.stderr
            found = re.search(r":(\d+)/", server.stderr.readline().decode())
            assert found
            port = int(found[1])
            assert b" 200 " in asked(
                port, b"GET /api/formulas HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
            )
            yield server, port
        finally:
            server.kill()


def opened(port: int, text: bytes) -> socket.socket:
    """A connection on which this much was said."""
    made = socket.create_connection(("127.0.0.1", port), timeout=60)
    made.sendall(text)
    return made


def asked(port: int, text: bytes) -> bytes:
    """All that is answered until the connection is closed."""
    with opened(port, text) as made:
        return b"".join(iter(lambda: made.recv(65536), b""))


@pytest.mark.parametrize(
    ("way", "sign"),
    [*((way, signal.SIGTERM) for way in WAYS), ("half a body", signal.SIGINT), ("a heavy question", signal.SIGINT)],
)
def test_a_half_asked_question_does_not_keep_the_server(way: str, sign: signal.Signals) -> None:
    with serving(ENDLESS) as (server, port), opened(port, WAYS[way]):
        time.sleep(0.5)  # what was said has arrived
        server.send_signal(sign)
        server.wait(HANGS_S)
        assert server.stderr and b"Traceback" not in server.stderr.read()


@pytest.mark.demo
def test_a_page_that_watches_a_run_does_not_keep_the_server() -> None:
    pytest.importorskip("torch", reason="a run needs torch, which DEMOS= leaves out")
    fields = b"steps=20&hidden=256"
    with serving() as (server, port), opened(port, RUN % (len(fields), fields)) as made:
        place = re.search(rb"location: (\S+)", made.recv(65536))
        assert place
        with opened(port, b"GET %s/events HTTP/1.1\r\nhost: localhost\r\n\r\n" % place[1]) as watching:
            assert b"text/event-stream" in watching.recv(65536)
            server.send_signal(signal.SIGTERM)
            server.wait(HANGS_S)


def test_a_body_that_stops_coming_is_told_so_and_the_connection_closed() -> None:
    with serving("import app.web.limits as l; l.PIECE_S = 0.2") as (_, port):
        answer = asked(port, POST)
    assert b" 408 " in answer and b"stopped before its end" in answer


def test_a_body_that_trickles_is_told_so_too() -> None:
    with serving("import app.web.limits as l; l.WHOLE_S = 0.5") as (_, port), opened(port, POST) as made:
        made.settimeout(0.05)
        answer = b""
        for _ in range(90):
            try:
                if not (piece := made.recv(65536)):
                    break
                answer += piece
            except TimeoutError:
                made.sendall(b" ")
            except ConnectionError:
                break
    assert b" 408 " in answer


@pytest.mark.parametrize("said", [b"", b"GET / HT", WAYS["half the headers"]], ids=["nothing", "a line", "headers"])
def test_a_request_without_an_end_is_not_waited_for(said: bytes) -> None:
    with serving("import app.cli.half_sent as h; h.HEAD_S = 0.3") as (_, port):
        assert asked(port, said) == b""
        first = b"GET /api/formulas HTTP/1.1\r\nhost: localhost\r\n\r\n"
        assert asked(port, first + said).count(b"HTTP/1.1") == 1  # on a connection that has been answered, neither


def test_a_line_too_long_to_be_read_is_told() -> None:
    with serving() as (_, port):
        answer = asked(port, b"GET /plan?config=" + b"x" * 70_000 + b" HTTP/1.1\r\nhost: localhost\r\n\r\n")
    assert b" 400 " in answer and half_sent.SENTENCE.encode() in answer
