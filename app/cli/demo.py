"""`shardboard demo NAME key=value …`: a real run from the command line, as lines of JSON or as sentences."""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from app.cli.trace_text import trace_text
from app.runner.catalog import demo_named
from app.runner.fake import run as trace
from app.runner.fake.request import dp_of, fake_request
from app.runner.job import REFERENCE
from app.runner.launch import Runner
from engine.language.refusal import Refusal
from engine.language.units import bytes_text

Event = Mapping[str, Any]


TRACE = "fake"  # the demo that traces ranks instead of starting them


def run(name: str, given: Mapping[str, object], as_json: bool) -> None:
    """Run a demo, or a trace; refused where it did not show what was predicted."""
    if not (run_trace if name == TRACE else run_demo)(name, given, as_json):
        raise Refusal(name, None, "did not show what was predicted: see its checks", code="verdict")


def run_demo(name: str, given: Mapping[str, object], as_json: bool) -> bool:
    """Run it and write what happens as it happens. Gives whether every row of the verdict held."""
    demo = demo_named(name)
    say = (lambda event: json.dumps(event)) if as_json else sentence

    async def follow() -> bool:
        runner = Runner()
        try:
            run = runner.submit(demo, given, client="command line")
            async for event in run.follow():
                _write(say(event))
            return bool(run.events[-1].get("ok"))
        finally:
            await runner.close()

    return asyncio.run(follow())


def run_trace(name: str, given: Mapping[str, object], as_json: bool) -> bool:
    """Trace the real framework on fake ranks: `shardboard demo fake --ranks 1024`. Gives whether every row held."""
    numbers = {
        key: int(str(value)) if str(value).isascii() and str(value).isdecimal() else value
        for key, value in given.items()
    }
    ranks = numbers.pop("ranks", None)
    if ranks is not None:
        if not isinstance(ranks, int):
            raise Refusal("ranks", ranks, "needs a whole number", "1024")
        numbers["dp"] = dp_of(ranks, numbers)
    seen = []
    for event in trace.run(fake_request(numbers)):
        seen.append(event)
        if as_json:
            _write(json.dumps(event))
    if not as_json:
        _write(trace_text(seen))
    return bool(seen[-1].get("ok"))


def _write(line: str | None) -> None:
    if line:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def sentence(event: Event) -> str | None:
    """An event for a person, or nothing where it is only for figures."""
    made = SENTENCES.get(event["event"])
    return made(event) if made else None


def _check(event: Event) -> str:
    measured, predicted = (_value(event[key], event["unit"]) for key in ("measured", "predicted"))
    return f"{'  ok ' if event['ok'] else ' NOT '} {event['label']}: {measured}, predicted {predicted}"


def _value(value: Any, unit: str) -> str:
    if isinstance(value, list):
        return ", ".join(_value(one, unit) for one in value)
    if unit == "bytes" and isinstance(value, int | float):
        return bytes_text(value)
    return f"{value:.3g} {unit}" if isinstance(value, float) else f"{value} {unit}"


def _step(event: Event) -> str | None:
    if event["rank"] not in (0, REFERENCE) or event["loss"] is None:
        return None
    who = "alone " if event["rank"] == REFERENCE else "rank 0"
    return f"      {who}  step {event['step']}  loss {event['loss']:.4f}  {event['ms']:.0f} ms"


SENTENCES: dict[str, Callable[[Event], str | None]] = {
    "run.started": lambda event: f"{event['ranks']} ranks, torch {event['versions']['torch']}",
    "step": _step,
    "fault": lambda event: f"      rank {event['rank']} {event['what']}",
    "rank.error": lambda event: f"      rank {event['rank']}: {event['message']}",
    "check": _check,
    "run.failed": lambda event: f"failed: {event['message']}",
    "run.cancelled": lambda event: f"cancelled: {event['reason']}",
    "run.done": lambda event: f"done in {event['wall_s']:.1f} s",
}
