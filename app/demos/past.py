"""The runs and traces that a visitor has made here, from what is kept of them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.demos.rows import TRACE, knobs_text
from app.live.kept import Ends, Kept
from app.live.registry import signature
from app.runner.catalog import DEMOS

SHOWN, LOOKED_AT = 8, 100


@dataclass(frozen=True)
class PastRun:
    """One that was started: where it is, what it was, how it ended, and when it was asked for."""

    address: str
    title: str
    knobs: str
    state: str
    when: str


def past_runs(kept: Kept, visitor: str, unkept: Sequence[Ends] = ()) -> list[PastRun]:
    """The newest of this visitor; nobody is shown another's. None where nobody is known.

    unkept   what could not be written down, or in part only
    """
    if not visitor:
        return []
    by = signature(visitor)
    lost = [replace(run, state=f"{run.state}, not kept") for ends in unkept if (run := _past(ends, by))]
    names = {ends.name for ends in unkept}
    found = (_past(ends, by) for ends in kept.newest(LOOKED_AT) if ends.name not in names)
    return [*lost, *(run for run in found if run)][:SHOWN]


def _past(ends: Ends, by: str) -> PastRun | None:
    first, last = _read(ends.first), _read(ends.last)
    if first.get("by") != by or not isinstance(params := first.get("params"), dict):
        return None
    name = str(first.get("demo"))
    title = DEMOS[name].title if name in DEMOS else f"{params.get('model')}, traced"
    place = "/demos/fake/runs" if name == TRACE else "/demos/runs"
    state = str(last.get("event", "")).removeprefix("run.") if ends.ended else "under way"
    when = str(first.get("at", "")).replace("T", " ").removesuffix("+00:00")
    return PastRun(f"{place}/{ends.name}", title, knobs_text(name, params), state, f"{when} UTC")


def _read(line: bytes) -> Mapping[str, Any]:
    """An event as JSON has it; nothing where a line is none."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
