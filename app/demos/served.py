"""What the demos of this server have said: live, kept on disk, or not here any more."""

from fastapi import HTTPException, Request

from app.demos.traces import Traces
from app.demos.view import is_live
from app.live.events import E, Family, lines_of
from app.live.kept import Kept
from app.live.served import find, registry_of
from app.runner.event_kinds import RUN_EVENTS, RunEvent
from app.runner.fake.event_kinds import TRACE_EVENTS, TraceEvent
from app.runner.launch import Runner
from app.settings import settings
from engine.language.refusal import Refusal

GONE = "This run is not kept here any more. The address of a demo makes another one like it."


def kept() -> Kept:
    """Runs and traces that have ended, by their names."""
    return Kept(settings().data / "runs")


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
