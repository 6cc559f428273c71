"""Traces that were kept: what a page shows where torch is not installed, or where a whole model takes too long to wait for."""

from pathlib import Path

from app.runner.fake.event_kinds import TRACE_EVENTS, TraceEvent
from engine.language.choice import one_of

RECORDED = Path(__file__).parent / "recorded"


def recorded_names() -> list[str]:
    """Traces that were kept, the smallest first.

    >>> recorded_names()
    ['llama-3-70b-1024', 'llama-3-405b-16384']
    """
    return sorted((path.stem for path in RECORDED.glob("*.jsonl")), key=lambda name: int(name.rpartition("-")[2]))


def recorded(name: str) -> list[TraceEvent]:
    """The events of a kept trace. The first holds the command that made it, the date and the versions."""
    one_of("trace", name, recorded_names(), "no such trace was recorded; there are {names}")
    return TRACE_EVENTS.read_lines((RECORDED / f"{name}.jsonl").read_bytes())
