"""The verdict of a run as a table: what was predicted, what was measured, and why they may differ. Pending until measured."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.runner.catalog import DEMOS
from app.runner.event_kinds import Check, Compared
from app.runner.fake.request import FULL, INPUTS, LAYERS
from app.runner.told import Told
from engine.language.inputs import Choice, Input
from engine.language.units import bytes_text, digits_text, power_text, seconds_text, share_text

TRACE = "fake"  # what a trace says where a run has the name of its demo
MOST_LISTED = 4  # values of ranks that differ, before they are told as a range
PARTS = {
    "parameters": "parameters on a rank",
    "gradients": "gradients on a rank",
    "optimizer": "optimizer state on a rank",
}
WHEN = {"every": "a step", "first": "in the first step", "second": "in the second step", "later": "a later step"}


@dataclass(frozen=True)
class VerdictRow:
    """One thing a run was said to show. ok is None until it was measured."""

    name: str
    label: str
    predicted: str
    measured: str
    tolerance: str
    ok: bool | None
    why: str


def verdict_rows(predicted: Told | None, checks: Sequence[Check]) -> list[VerdictRow]:
    """Rows measured, or while there are none, rows that say what is predicted."""
    return [_measured(check) for check in checks] if checks else _pending(predicted) if predicted else []


def _measured(check: Check) -> VerdictRow:
    unit, tolerance, name = check.unit, check.tolerance, check.name
    part = ": how often" if name.startswith("calls.") else ": bytes" if name.startswith("bytes.") else ""
    why = "" if name.startswith("bytes.") else check.why
    allowed = "exact" if tolerance == 0 else f"± {value_text(tolerance, unit)}"
    if tolerance == 0 and check.ok and _more(check.measured, check.predicted):
        allowed = "at least"
    return VerdictRow(
        name,
        f"{check.label}{part}",
        value_text(check.predicted, unit),
        value_text(check.measured, unit),
        allowed,
        check.ok,
        why,
    )


def _more(measured: Compared, predicted: Compared) -> bool:
    return isinstance(measured, int | float) and isinstance(predicted, int | float) and measured > predicted


def _pending(predicted: Told) -> list[VerdictRow]:
    rows = []
    if predicted.loss_tolerance:
        tolerance = f"± {value_text(predicted.loss_tolerance, 'nats')}"
        rows.append(VerdictRow("loss", "loss, next to one process alone", "0", "", tolerance, None, ""))
    for state in predicted.state:
        held, label = value_text(state.bytes, "bytes"), PARTS.get(state.part, state.part)
        rows.append(VerdictRow(f"state.{state.part}", label, held, "", "exact", None, state.why))
    for calls in predicted.calls:
        on = f", rank {', '.join(map(str, calls.on))}" if calls.on else ""
        what = f"{calls.op.replace('_', '-')} over {calls.axis}{on}, {WHEN.get(calls.when, '')}"
        key, often, size = f"{calls.axis}.{calls.op}.{calls.when}", f"{what}: how often", f"{what}: bytes"
        rows.append(VerdictRow(f"calls.{key}", often, value_text(calls.n, "calls"), "", "exact", None, calls.why))
        rows.append(VerdictRow(f"bytes.{key}", size, value_text(calls.bytes, "bytes"), "", "exact", None, ""))
    return rows


def knobs_text(demo: str, params: Mapping[str, object]) -> str:
    """The knobs of a run or a trace in a line, called as its form calls them.

    >>> knobs_text("ddp", {"ranks": 4, "bucket_kib": 1024})
    'ranks 4 · bucket cap 1 MiB'
    >>> knobs_text("fake", {"tp": 8, "layers_per_stage": 0})
    'TP 8 · layers a stage all'
    """
    own = INPUTS if demo == TRACE else DEMOS[demo].knobs if demo in DEMOS else ()
    knobs = {knob.name: knob for knob in own}
    return " · ".join(_knob_text(name, knobs.get(name), value) for name, value in params.items())


def _knob_text(name: str, knob: Input | None, value: object) -> str:
    if knob is None:
        return f"{name.replace('_', ' ')} {value}"
    label = knob.label.rpartition(" · ")[2].partition(",")[0]  # without what a form explains beside it
    if isinstance(knob, Choice):
        known = {knob.text(option): text for option, text in knob.options.items()}
        return f"{label} {known.get(str(value), value)}"
    if name == LAYERS.name and value == FULL:
        return f"{label} all"
    return f"{label} {value}{f' {knob.unit}' if knob.unit else ''}"


def value_text(value: Compared, unit: str) -> str:
    """A value of a verdict as a person reads it; bytes that must be exact are written out.

    >>> value_text(13_706_240, "bytes"), value_text((1, 2), "calls"), value_text(2.4e-7, "nats"), value_text(0.282, "share")
    ('13,706,240 B', '1 / 2', '2.4e-07', '28.2 %')
    """
    if value is None:
        return "not measured"
    if isinstance(value, tuple):
        if len(value) > MOST_LISTED:
            return f"{value_text(min(value), unit)} to {value_text(max(value), unit)}"
        return " / ".join(value_text(one, unit) for one in value)
    if isinstance(value, str):
        return value
    return _number_text(value, unit)


def _number_text(value: float, unit: str) -> str:
    if not math.isfinite(value):
        return "no number"
    if unit == "bytes":
        return f"{value:,.0f} B" if value < 1e10 else bytes_text(value)
    if unit == "calls":
        return f"{value:,.0f}"
    if unit == "nats":
        return "0" if value == 0 else f"{value:.2g}"
    if unit.startswith("share"):
        return share_text(value)
    if unit == "s":
        return seconds_text(value)
    return (
        f"{digits_text(value) if abs(value) >= 1e-3 or value == 0 else power_text(value)}{f' {unit}' if unit else ''}"
    )
