"""`shardboard demo NAME key=value …`: a real run from the command line, as lines of JSON or as sentences."""

import asyncio
import sys
from collections.abc import Mapping

from app.cli.trace_text import failed_text, trace_text
from app.live.events import Event, line_of
from app.runner.catalog import demo_named
from app.runner.event_kinds import (
    REFERENCE,
    Check,
    Compared,
    Fault,
    RankError,
    RunCancelled,
    RunDone,
    RunEvent,
    RunFailed,
    RunStarted,
    Step,
)
from app.runner.fake import run as trace
from app.runner.fake.event_kinds import TraceDone
from app.runner.fake.request import RANKS, dp_of, fake_request
from app.runner.launch import Runner
from engine.language.refusal import Refusal
from engine.language.units import bytes_text

TRACE = "fake"  # the demo that traces ranks instead of starting them


def run(name: str, given: Mapping[str, object], as_json: bool) -> None:
    """Run a demo, or a trace; refused where it did not show what was predicted."""
    if not (run_trace if name == TRACE else run_demo)(name, given, as_json):
        raise Refusal(name, None, "did not show what was predicted: see its checks", code="verdict")


def run_demo(name: str, given: Mapping[str, object], as_json: bool) -> bool:
    """Run it and write what happens as it happens. Gives whether every row of the verdict held."""
    demo = demo_named(name)

    async def follow() -> bool:
        runner = Runner()
        try:
            run = runner.submit(demo, given, client="command line")
            async for event in run.follow():
                _write(_json(event) if as_json else sentence(event))
            return isinstance(last := run.events[-1], RunDone | RunFailed) and bool(last.ok)
        finally:
            await runner.close()

    return asyncio.run(follow())


def run_trace(name: str, given: Mapping[str, object], as_json: bool) -> bool:
    """Trace the real framework on fake ranks: `shardboard demo fake --ranks 1024`. Gives whether every row held."""
    asked = {key: value for key, value in given.items() if key != "ranks"}
    if "ranks" in given:
        asked["dp"] = dp_of(RANKS.read(given["ranks"]), asked)
    seen = []
    for event in trace.run(fake_request(asked)):
        seen.append(event)
        if as_json:
            _write(_json(event))
    if not as_json:
        _write(trace_text(seen))
    return isinstance(last := seen[-1], TraceDone) and last.ok


def _write(line: str | None) -> None:
    if line:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def _json(event: Event) -> str:
    return line_of(event).decode().strip()


def sentence(event: RunEvent) -> str | None:
    """An event for a person, or nothing where it is only for figures."""
    match event:
        case RunStarted():
            return f"{event.ranks} ranks, torch {event.versions['torch']}"
        case Step():
            return _step(event)
        case Fault():
            return f"      rank {event.rank} {event.what}"
        case RankError():
            return f"      rank {event.rank}: {event.message}"
        case Check():
            return _check(event)
        case RunFailed():
            return failed_text(event.message, event.said)
        case RunCancelled():
            return f"cancelled: {event.reason}"
        case RunDone():
            return f"done in {event.wall_s:.1f} s"
    return None


def _check(check: Check) -> str:
    measured, predicted = (_value(value, check.unit) for value in (check.measured, check.predicted))
    return f"{'  ok ' if check.ok else ' NOT '} {check.label}: {measured}, predicted {predicted}"


def _value(value: Compared, unit: str) -> str:
    if isinstance(value, tuple):
        return ", ".join(_value(one, unit) for one in value)
    if unit == "bytes" and isinstance(value, int | float):
        return bytes_text(value)
    return f"{value:.3g} {unit}" if isinstance(value, float) else f"{value} {unit}"


def _step(step: Step) -> str | None:
    if step.rank not in (0, REFERENCE) or step.loss is None:
        return None
    who = "alone " if step.rank == REFERENCE else "rank 0"
    return f"      {who}  step {step.step}  loss {step.loss:.4f}  {step.ms:.0f} ms"
