"""Heavy plans are answered in a process of their own, so that the server goes on answering everybody else.

Whether one is heavy is known before it is computed: from the number of operations that its pipeline takes to simulate.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import parse_qs

from anyio import BrokenWorkerProcess, CapacityLimiter, create_task_group, to_process
from anyio.from_thread import start_blocking_portal
from fastapi import HTTPException, Request
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.importer import import_from_string

from app.plan.charts import positions
from app.plan.form import FIELDS, document_of, state_of
from app.web.json_text import value_of
from app.web.limits import BODY_BYTES
from app.web.render import error
from engine.language.document import read
from engine.language.domain import number_text
from engine.language.refusal import Refusal
from engine.layout.layout import Layout
from engine.pipeline.orders import short_operations
from engine.pipeline.schedules import SCHEDULES
from engine.scenario import scenario_from

HEAVY_OPS = 20_000  # operations of a step; from here on a board takes more than about 0.1 s
AT_ONCE, WAITING = 2, 8  # heavy plans in work, and in line for it
RETRY_S = 5
NICER = 5
TURNS = {
    name: positions(FIELDS[name]) for name in ("pp", "vp")
}  # a chart of these computes plans longer than the one that stands
ROOMS = ("/plan", "/topology")
DOCUMENTS = ("/api/estimate", "/docs")
FULL = f"{AT_ONCE} long pipelines are being computed here and {WAITING} wait. Ask again in {RETRY_S} seconds."
SAID_HERE = (b"vary", b"Accept-Encoding")  # by the compression of the server that hands the answer on
BROKEN = f"The process that computed this plan has ended. Ask again in {RETRY_S} seconds."


@dataclass(frozen=True)
class Asked:
    """A request, as another process can answer it."""

    scope: Mapping[str, Any]
    body: bytes


@dataclass(frozen=True)
class Answered:
    """And its answer."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class Away:
    """Sends the requests for heavy plans to a process of their own. One whose asker has left is given up."""

    def __init__(self, app: ASGIApp):
        self.app, self.limiter = app, CapacityLimiter(AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope.get("path", ""), scope.get("method", "")
        reads = method == "POST" and path in DOCUMENTS
        looks = method in ("GET", "HEAD") and path.startswith(ROOMS)
        if scope["type"] != "http" or scope.get("away") or not (reads or looks):
            await self.app(scope, receive, send)
            return
        try:
            body = await Request(scope, receive).body() if reads else b""
        except (HTTPException, ClientDisconnect) as problem:  # too long, or broken off: whoever answers says so
            await self.app(scope, _failing(problem), send)
            return
        if operations_of(scope, body) < HEAVY_OPS:
            await self.app(scope, _again(body, receive) if reads else receive, send)
            return
        await self._elsewhere(scope, body, receive, send)

    async def _elsewhere(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        if self.limiter.statistics().tasks_waiting >= WAITING:
            await error(Request(scope), 503, FULL, {"Retry-After": str(RETRY_S)})(scope, receive, send)
            return
        asked, made = Asked(_plain(scope), body), None
        async with create_task_group() as group:

            async def until_gone() -> None:
                while (await receive())["type"] != "http.disconnect":
                    pass
                group.cancel_scope.cancel()

            group.start_soon(until_gone)
            try:
                made = await to_process.run_sync(answered, asked, cancellable=True, limiter=self.limiter)
            except BrokenWorkerProcess:
                made = None
                await error(Request(scope), 503, BROKEN, {"Retry-After": str(RETRY_S)})(scope, receive, send)
            group.cancel_scope.cancel()
        if made is not None:
            await send({"type": "http.response.start", "status": made.status, "headers": made.headers})
            await send({"type": "http.response.body", "body": made.body})


def operations_of(scope: Scope, body: bytes) -> int:
    """Operations that the step of what is asked for takes, at most; 0 where that has no meaning.   [count]"""
    try:
        if body:
            text = (
                body if scope["path"] != "/docs" else parse_qs(body.decode("utf-8", "replace"))["document"][0].encode()
            )
            return _operations(value_of(text, BODY_BYTES))
        query = Request(scope).query_params
        state = state_of(query)
        turned = query.get("knob", "pp") if scope["path"] == "/plan/chart/knob" else ""
        most = max((_turned(state, turned, value) for value in TURNS.get(turned, ())), default=0)
        return max(most, _operations(document_of(state)))
    except (Refusal, KeyError, ValueError, TypeError, AttributeError):
        return 0  # whatever is wrong with it is said by whoever answers


def _turned(state: Mapping[str, str], name: str, value: float) -> int:
    """Operations with one field at another value; 0 where that plan has no meaning."""
    try:
        document = document_of({**state, name: number_text(value)})
        scenario_from(document)
        return _operations(document)
    except Refusal:
        return 0


def _operations(document: dict[str, Any]) -> int:
    layout = read(Layout, document.get("layout", {}), "layout")
    return short_operations(SCHEDULES[layout.schedule], layout.pp, layout.micro_batches, layout.vp)


def _again(body: bytes, receive: Receive) -> Receive:
    """The same request, whose body has been read."""
    told = False

    async def read() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return read


def _failing(problem: Exception) -> Receive:
    """The same request, whose body could not be read."""

    async def read() -> Message:
        raise problem

    return read


PLAIN = ("type", "asgi", "http_version", "method", "scheme", "path", "raw_path", "query_string", "root_path", "client")


def _plain(scope: Scope) -> dict[str, Any]:
    """What of a request another process can read. It answers uncompressed: that is done here."""
    headers = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
    return {name: scope[name] for name in (*PLAIN, "server") if name in scope} | {"headers": headers, "away": True}


@cache
def _app() -> ASGIApp:
    """The program once more, in a process that lets the server go first."""
    os.nice(NICER)
    return import_from_string("app.main:create_app")()


def answered(asked: Asked) -> Answered:
    """The answer of this process to a request. Runs in the worker."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": asked.body, "more_body": False}

    with start_blocking_portal() as portal:
        portal.call(_app(), dict(asked.scope), receive, send)
    body = b"".join(message.get("body", b"") for message in sent[1:])
    headers = [(bytes(name), bytes(value)) for name, value in sent[0]["headers"]]
    return Answered(sent[0]["status"], [header for header in headers if header != SAID_HERE], body)
