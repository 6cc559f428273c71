"""What a server has under way: one registry of each kind, and what one of its things says as server-sent events."""

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from fastapi import FastAPI, Request
from sse_starlette import EventSourceResponse, ServerSentEvent

from app.live.events import Event
from app.live.registry import Live, Registry

HEARTBEAT_S = 15
R = TypeVar("R", bound="Registry[Any]")


def registry_of(app: FastAPI, kind: type[R], make: Callable[[], R]) -> R:
    """The one registry of this kind on this server, made when it is first asked for."""
    found = _all(app)
    if kind not in found:
        found[kind] = make()
    return found[kind]


def find(app: FastAPI, name: str) -> Live[Any] | None:
    """The live thing of this name, of whatever kind, if it is still remembered."""
    return next((found for each in _all(app).values() if (found := each.things.get(name))), None)


async def close_all(app: FastAPI) -> None:
    """End everything that is under way, and whatever processes it has started."""
    for registry in _all(app).values():
        await registry.close()


def stream(request: Request, thing: Live[Any] | None) -> EventSourceResponse:
    """What it says, as it says it; a browser that comes back goes on after the last event it has seen.

    thing   None: it ended long ago, and all there is to say is that
    """
    last = request.headers.get("last-event-id", "0")
    after = int(last) if last.isascii() and last.isdecimal() and len(last) < 9 else 0
    return EventSourceResponse(_messages(thing, after), ping=HEARTBEAT_S)


async def _messages(thing: Live[Event] | None, after: int) -> AsyncIterator[ServerSentEvent]:
    if thing is not None:
        async for event in thing.follow(after):
            yield ServerSentEvent(event.KIND, id=str(event.seq), event="more")
    yield ServerSentEvent("over", event="over")


def _all(app: FastAPI) -> dict[type, Any]:
    if not hasattr(app.state, "live"):
        app.state.live = {}
    return app.state.live
