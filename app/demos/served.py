"""What the demos of this server have said: live, kept on disk, or not here any more."""

from contextlib import suppress
from typing import Any

from fastapi import HTTPException, Request
from fastapi.responses import Response

from app.demos.traces import Traces
from app.demos.view import is_live
from app.live.events import E, Family, line_of, lines_of
from app.live.kept import Ends, Kept
from app.live.registry import RETRY_S, WAIT, Live
from app.live.served import find, registry_of
from app.runner.event_kinds import RUN_EVENTS, RunEvent, RunInterrupted
from app.runner.fake.event_kinds import TRACE_EVENTS, TraceEvent
from app.runner.launch import Runner
from app.settings import settings
from app.web.render import page
from engine.language.refusal import Refusal

DIED = "the server ended while this was under way, or could not write on; what was said until then is kept. Run it again for the rest"
GONE = "This run is not kept here any more, or could not be written down when it was made. The address of a demo makes another one like it."


def kept() -> Kept:
    """Runs and traces that have ended, by their names."""
    return Kept(settings().data / "runs")


def end_interrupted() -> None:
    """Say of what a server that is gone had under way that it was interrupted. A folder that cannot be written stays as it is."""
    with suppress(OSError):
        kept().end_interrupted(lambda number: lines_of([RunInterrupted(seq=number, reason=DIED)]))


def unkept(request: Request, name: str) -> str:
    """Why what this one says is not written down, in a sentence, where it is not."""
    found = find(request.app, name)
    if found is None or not found.log.unkept:
        return ""
    return (
        f"This is not kept: the server cannot write it down ({found.log.unkept}). It is gone when the server ends; until "
        "then all its events can be taken along below. SHARDBOARD_DATA names another folder."
    )


def unwritten(request: Request) -> list[Ends]:
    """How what cannot be written down begins and ends: it is here only as long as this server."""
    things: list[Live[Any]] = [*runner_of(request).things.values(), *traces_of(request).things.values()]
    lost = (thing for thing in things if thing.log.unkept)
    return [Ends(each.id, line_of(each.events[0]), line_of(each.events[-1]), each.over) for each in lost]


def refused(
    request: Request, template: str, refusal: Refusal, mine: Live[Any] | None, place: str, **view: Any
) -> Response:
    """The page that was asked from, with the sentence. What only has to wait says when to ask again, and for what.

    mine    what this visitor has waiting or under way, if anything; where it is: place/ID
    """
    waits = refusal.code in WAIT
    running = f"{place}/{mine.id}" if mine and waits else ""
    answer = page(request, template, status=503 if waits else 422, running=running, **view)
    answer.headers.update({"Retry-After": f"{RETRY_S}"} if waits else {})
    return answer


def runner_of(request: Request) -> Runner:
    """The one runner of this server."""
    return registry_of(request.app, Runner, lambda: Runner(live=is_live(), kept=kept()))


def traces_of(request: Request) -> Traces:
    """The traces of this server."""
    return registry_of(request.app, Traces, lambda: Traces(kept()))


def run_events(request: Request, name: str) -> list[RunEvent]:
    """What a run has said so far."""
    found = runner_of(request).things.get(name)
    return list(found.events) if found else _read(RUN_EVENTS, name)


def trace_events(request: Request, name: str) -> list[TraceEvent]:
    """What a trace has said so far."""
    found = traces_of(request).things.get(name)
    return list(found.events) if found else _read(TRACE_EVENTS, name)


def lines(request: Request, name: str) -> bytes:
    """What either has said so far, as JSON lines."""
    found = find(request.app, name)
    return lines_of(found.events) if found else _load(name)


def _read(family: Family[E], name: str) -> list[E]:
    """The events of one that is kept. Whatever is kept under this name and is none of the family is not here."""
    try:
        return family.read_lines(_load(name))
    except Refusal:
        raise HTTPException(404, GONE) from None


def _load(name: str) -> bytes:
    if (found := kept().load(name)) is None:
        raise HTTPException(404, GONE)
    return found
