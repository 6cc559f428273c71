"""Predicted against measured: one row for each thing a run was said to show. Pure: predictions and events in, rows out."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from app.runner.job import REFERENCE
from app.runner.predict import Calls, Failure, Held, Measurable, Prediction
from app.runner.root_cause import Cause

Event = Mapping[str, Any]
Row = dict[str, Any]
FIELDS = {"parameters": "param_bytes", "gradients": "grad_bytes", "optimizer": "opt_bytes"}
LABELS = {
    "parameters": "parameters on a rank",
    "gradients": "gradients on a rank",
    "optimizer": "optimizer state on a rank",
}


def verdict(
    prediction: Prediction, events: Sequence[Event], cause: Cause | None = None, victim: int | None = None
) -> list[Row]:
    """The rows, in the order a page shows them: loss, state, collectives, wire, and what else was predicted.

    cause    why the run failed, if it did
    victim   the rank that was made to misbehave, in a fault demo
    """
    by_kind: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        by_kind[event["event"]].append(event)
    rows = [loss_row(prediction.loss_tolerance, by_kind["step"])] if _compared(by_kind["step"]) else []
    rows += [held_row(held, by_kind["state"]) for held in prediction.held if by_kind["state"]]
    rows += call_rows(prediction.calls, by_kind["comm"]) if prediction.calls else []
    if prediction.wire_bytes and (later := [event for event in by_kind["wire"] if event["step"] > 1]):
        rows.append(wire_row(prediction, later))  # steps 0 and 1 also carry what frameworks say to each other once
    rows += [measured_row(row, by_kind["measure"]) for row in prediction.more]
    rows += [row for judge in prediction.judges for row in judge(events)]
    return rows + ([failure_row(prediction.failure, cause, victim)] if prediction.failure else [])


def row(name: str, label: str, predicted: Any, measured: Any, unit: str, tolerance: float, ok: bool, why: str) -> Row:
    """One row. tolerance is absolute, in the unit; 0 is exact."""
    return {
        "name": name,
        "label": label,
        "predicted": predicted,
        "measured": measured,
        "unit": unit,
        "tolerance": tolerance,
        "ok": ok,
        "why": why,
    }


def _compared(steps: Iterable[Event]) -> bool:
    """Whether some step was seen by the reference and by a rank that knows a loss."""
    alone = {event["step"] for event in steps if event["rank"] == REFERENCE}
    return any(event["step"] in alone for event in steps if event["rank"] != REFERENCE and event["loss"] is not None)


def loss_row(tolerance: float, steps: Sequence[Event]) -> Row:
    """Largest difference, over the steps, between the mean loss of all ranks and that of one process alone."""
    alone = {event["step"]: event["loss"] for event in steps if event["rank"] == REFERENCE}
    together: dict[int, list[float]] = defaultdict(list)
    for event in steps:
        if event["rank"] != REFERENCE and event["loss"] is not None:
            together[event["step"]].append(event["loss"])
    common = alone.keys() & together.keys()
    worst = max((abs(math.fsum(together[s]) / len(together[s]) - alone[s]) for s in common), default=math.inf)
    return row(
        "loss",
        "loss, next to one process alone",
        0.0,
        worst,
        "nats",
        tolerance,
        worst <= tolerance,
        f"the same training cut differently: only rounding differs, over {len(common)} steps",
    )


def held_row(held: Held, states: Sequence[Event]) -> Row:
    """Bytes of one part of the state, on every rank."""
    found = {event["rank"]: event[FIELDS[held.part]] for event in states if event["rank"] != REFERENCE}
    measured = _one_or_all([found[rank] for rank in sorted(found)])
    return row(
        f"state.{held.part}",
        LABELS[held.part],
        held.expected,
        measured,
        "bytes",
        0,
        measured == held.expected,
        held.why,
    )


def _one_or_all(values: list[Any]) -> Any:
    return values[0] if values and all(value == values[0] for value in values) else values


STEPS: dict[str, Callable[[int], bool]] = {
    "every": lambda step: True,
    "first": lambda step: step == 0,
    "second": lambda step: step == 1,
    "later": lambda step: step > 0,
    "steady": lambda step: step != 1,
}
WHEN = {
    "every": "a step",
    "first": "in the first step",
    "second": "in the second step",
    "later": "a later step",
    "steady": "in all steps but the second",
}


def call_rows(predicted: Sequence[Calls], comms: Sequence[Event]) -> list[Row]:
    """Count and bytes of each kind of collective, then what nobody predicted."""
    rows = [row for calls in predicted for row in _rows_of(calls, comms)]
    known = {(calls.axis, calls.op) for calls in predicted}
    strange = sorted({(c["axis"], c["op"]) for event in comms for c in event["calls"]} - known)
    return rows + [
        row(f"calls.{axis}.{op}", f"{op} over {axis}, which nobody predicted", 0, "some", "calls", 0, False, "")
        for axis, op in strange
    ]


def _rows_of(calls: Calls, comms: Sequence[Event]) -> list[Row]:
    events = [e for e in comms if STEPS[calls.when](e["step"]) and (calls.on is None or e["rank"] in calls.on)]
    if not events:
        return []
    same = [[c for c in e["calls"] if (c["axis"], c["op"]) == (calls.axis, calls.op)] for e in events]
    count = _one_or_all([sum(c["n"] for c in found) for found in same])
    size = _one_or_all([sum(c["bytes"] for c in found) for found in same])
    what, key = (
        f"{calls.op.replace('_', '-')} over {calls.axis}, {WHEN[calls.when]}",
        f"{calls.axis}.{calls.op}.{calls.when}",
    )
    if calls.on is not None:
        what, key = f"{what}, {ranks_text(calls.on)}", f"{key}.{'-'.join(map(str, calls.on))}"
    return [
        row(f"calls.{key}", what, calls.count, _distinct(count), "calls", 0, count == calls.count, calls.why),
        row(f"bytes.{key}", what, calls.bytes, _distinct(size), "bytes", 0, size == calls.bytes, calls.why),
    ]


def ranks_text(ranks: Sequence[int]) -> str:
    """Some ranks in words.

    >>> ranks_text((1,)), ranks_text((0, 1, 2))
    ('rank 1', 'ranks 0, 1 and 2')
    """
    first, last = ", ".join(map(str, ranks[:-1])), str(ranks[-1])
    return f"ranks {first} and {last}" if first else f"rank {last}"


def _distinct(found: Any) -> Any:
    return sorted(set(found)) if isinstance(found, list) else found


def wire_row(prediction: Prediction, wires: Sequence[Event]) -> Row:
    """Bytes that a rank sent in a later step, counted by the kernel, in the mean over ranks and steps."""
    sent = [event["bytes_sent"] for event in wires]
    measured, predicted = round(sum(sent) / len(sent)), round(prediction.wire_bytes or 0.0)
    tolerance = round(prediction.wire_tolerance_bytes)
    return row(
        "wire",
        "sent by a rank in a step, counted by the kernel",
        predicted,
        measured,
        "bytes",
        tolerance,
        abs(measured - predicted) <= tolerance,
        prediction.wire_why,
    )


def measured_row(expected: Measurable, measures: Sequence[Event]) -> Row:
    """A number of its own: of all that was measured, what is furthest from the prediction, or too small."""
    found = [event["value"] for event in measures if event["name"] == expected.name]
    if not found:
        return row(
            expected.name,
            expected.label,
            expected.predicted,
            None,
            expected.unit,
            expected.tolerance,
            False,
            expected.why,
        )
    least = min(found) if expected.at_least else max(found, key=lambda value: abs(value - expected.predicted))
    short = expected.predicted - least
    ok = short <= expected.tolerance if expected.at_least else abs(short) <= expected.tolerance
    return row(
        expected.name, expected.label, expected.predicted, least, expected.unit, expected.tolerance, ok, expected.why
    )


def failure_row(failure: Failure, cause: Cause | None, victim: int | None) -> Row:
    """Who was found to be the cause."""
    found = None if cause is None else cause.rank
    ok = cause is not None and found == victim and failure.says in cause.sentence
    return row("cause", "rank named as the root cause", victim, found, "rank", 0, ok, failure.why)
