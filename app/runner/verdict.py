"""Predicted against measured: one row for each thing a run was said to show. Pure: predictions and events in, rows out."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

from app.live.events import of_kind
from app.runner.event_bounds import Number
from app.runner.event_kinds import REFERENCE, Check, Comm, RunEvent, State, Step, Wire
from app.runner.measures import numbers_of
from app.runner.predict import Calls, Failure, Held, Measurable, Prediction
from app.runner.root_cause import Cause, ranks_text

HELD: dict[str, Callable[[State], int]] = {
    "parameters": lambda state: state.param_bytes,
    "gradients": lambda state: state.grad_bytes,
    "optimizer": lambda state: state.opt_bytes,
}
LABELS = {
    "parameters": "parameters on a rank",
    "gradients": "gradients on a rank",
    "optimizer": "optimizer state on a rank",
}


def verdict(
    prediction: Prediction, events: Sequence[RunEvent], cause: Cause | None = None, victim: int | None = None
) -> list[Check]:
    """The rows, in the order a page shows them: loss, state, collectives, wire, and what else was predicted.

    cause    why the run failed, if it did
    victim   the rank that was made to misbehave, in a fault demo
    """
    steps, states = of_kind(events, Step), of_kind(events, State)
    rows = [loss_row(prediction.loss_tolerance, steps)] if _compared(steps) else []
    rows += [held_row(held, states) for held in prediction.held if states]
    rows += call_rows(prediction.calls, of_kind(events, Comm)) if prediction.calls else []
    if prediction.wire_bytes and (later := [wire for wire in of_kind(events, Wire) if wire.step > 1]):
        rows.append(wire_row(prediction, later))  # steps 0 and 1 also carry what frameworks say to each other once
    rows += [measured_row(expected, numbers_of(events, expected.name)) for expected in prediction.more]
    rows += [row for judge in prediction.judges for row in judge(events)]
    return rows + ([failure_row(prediction.failure, cause, victim)] if prediction.failure else [])


def _losses(steps: Sequence[Step], alone: bool) -> dict[int, list[float]]:
    """Step -> the losses that were seen in it: by the one that trains alone, or by those that train together."""
    found: dict[int, list[float]] = defaultdict(list)
    for step in steps:
        if step.loss is not None and (step.rank == REFERENCE) == alone:
            found[step.step].append(step.loss)
    return found


def _compared(steps: Sequence[Step]) -> bool:
    """Whether some step was seen by the reference and by a rank that knows a loss."""
    return bool(_losses(steps, alone=True).keys() & _losses(steps, alone=False).keys())


def loss_row(tolerance: float, steps: Sequence[Step]) -> Check:
    """Largest difference, over the steps, between the mean loss of all ranks and that of one process alone."""
    alone = {step: losses[-1] for step, losses in _losses(steps, alone=True).items()}
    together = _losses(steps, alone=False)
    common = alone.keys() & together.keys()
    worst = max((abs(math.fsum(together[s]) / len(together[s]) - alone[s]) for s in common), default=math.inf)
    return Check(
        "loss",
        "loss, next to one process alone",
        0.0,
        worst,
        "nats",
        tolerance,
        worst <= tolerance,
        f"the same training cut differently: only rounding differs, over {len(common)} steps",
    )


def held_row(held: Held, states: Sequence[State]) -> Check:
    """Bytes of one part of the state, on every rank."""
    found = {state.rank: HELD[held.part](state) for state in states if isinstance(state.rank, int)}
    measured = _one_or_all([found[rank] for rank in sorted(found)])
    return Check(
        f"state.{held.part}",
        LABELS[held.part],
        held.expected,
        measured,
        "bytes",
        0,
        measured == held.expected,
        held.why,
    )


def _one_or_all(values: Sequence[int]) -> int | tuple[int, ...]:
    return values[0] if values and all(value == values[0] for value in values) else tuple(values)


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


def call_rows(predicted: Sequence[Calls], comms: Sequence[Comm]) -> list[Check]:
    """Count and bytes of each kind of collective, then what nobody predicted."""
    rows = [row for calls in predicted for row in _rows_of(calls, comms)]
    known = {(calls.axis, calls.op) for calls in predicted}
    strange = sorted({(made.axis, made.op) for comm in comms for made in comm.calls} - known)
    return rows + [
        Check(f"calls.{axis}.{op}", f"{op} over {axis}, which nobody predicted", 0, "some", "calls", 0, False, "")
        for axis, op in strange
    ]


def _rows_of(calls: Calls, comms: Sequence[Comm]) -> list[Check]:
    meant = [comm for comm in comms if STEPS[calls.when](comm.step) and (calls.on is None or comm.rank in calls.on)]
    if not meant:
        return []
    same = [[made for made in comm.calls if (made.axis, made.op) == (calls.axis, calls.op)] for comm in meant]
    count = _one_or_all([sum(made.n for made in found) for found in same])
    size = _one_or_all([sum(made.bytes for made in found) for found in same])
    what, key = (
        f"{calls.op.replace('_', '-')} over {calls.axis}, {WHEN[calls.when]}",
        f"{calls.axis}.{calls.op}.{calls.when}",
    )
    if calls.on is not None:
        what, key = f"{what}, {ranks_text(calls.on)}", f"{key}.{'-'.join(map(str, calls.on))}"
    return [
        Check(f"calls.{key}", what, calls.count, _distinct(count), "calls", 0, count == calls.count, calls.why),
        Check(f"bytes.{key}", what, calls.bytes, _distinct(size), "bytes", 0, size == calls.bytes, calls.why),
    ]


def _distinct(found: int | tuple[int, ...]) -> int | tuple[int, ...]:
    return tuple(sorted(set(found))) if isinstance(found, tuple) else found


def wire_row(prediction: Prediction, wires: Sequence[Wire]) -> Check:
    """Bytes that a rank sent in a later step, counted by the kernel, in the mean over ranks and steps."""
    sent = [wire.bytes_sent for wire in wires]
    measured, predicted = round(sum(sent) / len(sent)), round(prediction.wire_bytes or 0.0)
    tolerance = round(prediction.wire_tolerance_bytes)
    return Check(
        "wire",
        "sent by a rank in a step, counted by the kernel",
        predicted,
        measured,
        "bytes",
        tolerance,
        abs(measured - predicted) <= tolerance,
        prediction.wire_why,
    )


def measured_row(expected: Measurable, found: Sequence[Number]) -> Check:
    """A number of its own: of all that was measured, what is furthest from the prediction, or too small."""
    if not found:
        return Check(
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
    return Check(
        expected.name, expected.label, expected.predicted, least, expected.unit, expected.tolerance, ok, expected.why
    )


def failure_row(failure: Failure, cause: Cause | None, victim: int | None) -> Check:
    """Who was found to be the cause."""
    found = None if cause is None else cause.rank
    ok = cause is not None and found == victim and failure.says in cause.words
    return Check("cause", "rank named as the root cause", victim, found, "rank", 0, ok, failure.why)
