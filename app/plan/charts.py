"""The planner's charts to explore: what is held over the step, and one knob turned through its range."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.board.charts import Turn, knob_curves, memory_over_step, turn
from app.plan.form import FIELDS, Field, document_of
from app.web.json_text import script_json
from engine.estimate import Estimate
from engine.language.choice import choose
from engine.language.units import bytes_text, seconds_text, share_text

KNOBS = tuple(field for field in FIELDS.values() if field.kind == "slider")
LINEAR_POSITIONS = 16


@dataclass(frozen=True)
class ChartPanel:
    """A chart with the table that says the same in words; `rows` are cells, the first names its row."""

    name: str
    label: str
    data: Markup
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def memory_panel(found: Estimate) -> ChartPanel:
    """Memory of each stage over one step."""
    rows = tuple(
        (
            f"stage {stage.stage}",
            bytes_text(stage.total.value - stage.activations.value, True),
            bytes_text(stage.total.value, True),
        )
        for stage in found.stages
    )
    label = "Memory of each pipeline stage over one step"
    return ChartPanel("memory", label, script_json(memory_over_step(found)), ("", "always", "at the peak"), rows)


def knob_panel(state: Mapping[str, str], name: str, capacity_bytes: float) -> ChartPanel:
    """One field of the form turned through its slider's range, everything else as it stands.

    name   of a slider
    """
    field = choose("knob", name, {knob.name: knob for knob in KNOBS})
    turns = [
        turn(value, lambda value=value: document_of({**state, field.name: f"{value:g}"}))
        for value in _positions(field, state)
    ]
    chart = knob_curves(field.label, turns, float(state[field.name]), capacity_bytes)
    head = (field.label, "MFU (causal)", "one step", "memory needed")
    return ChartPanel(
        "knob", f"{field.label}, turned through its range", script_json(chart), head, tuple(map(_row, turns))
    )


def _positions(field: Field, state: Mapping[str, str]) -> Sequence[float]:
    """The positions of a slider, and where it stands."""
    if field.scale == "doubling":
        values = [field.low * 2**power for power in range(64) if field.low * 2**power <= field.high]
    else:
        count = min(LINEAR_POSITIONS, round((field.high - field.low) / field.step))
        values = [round(field.low + (field.high - field.low) * at / count, 3) for at in range(count + 1)]
        values = [float(round(value)) for value in values] if field.step >= 1 else values
    return sorted({*values, float(state[field.name])})


def _row(made: Turn) -> tuple[str, ...]:
    if made.mfu is None or made.step_s is None or made.peak_bytes is None:
        return f"{made.value:,g}", made.why_not, "", ""
    return f"{made.value:,g}", share_text(made.mfu), seconds_text(made.step_s), bytes_text(made.peak_bytes, True)
