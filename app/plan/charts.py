"""The planner's charts to explore: what is held over the step, and one knob turned through its range."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.board.charts import Turn, knob_curves, memory_over_step, turn
from app.plan.form import FIELDS, Field, document_of
from app.web.json_text import script_json
from engine.estimate import Estimate
from engine.language.choice import choose
from engine.language.domain import number_in, number_text
from engine.language.held import held_text
from engine.language.inputs import Amount
from engine.language.units import seconds_text, share_text

KNOBS = tuple(field for field in FIELDS.values() if field.input.kind == "slider")
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
            held_text(stage.total.value - stage.activations.value),
            held_text(stage.total.value),
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
    stands = number_in(state[field.name])  # nothing where the field is left out
    here = None if stands is None else float(stands)
    turns = [
        turn(value, lambda value=value: document_of({**state, field.name: number_text(value)}))
        for value in positions(field, here)
    ]
    chart = knob_curves(field.label, turns, here, capacity_bytes)
    head = (field.label, "MFU (causal)", "one step", "memory needed")
    return ChartPanel(
        "knob", f"{field.label}, turned through its range", script_json(chart), head, tuple(map(_row, turns))
    )


def positions(field: Field, here: float | None = None) -> Sequence[float]:
    """The positions of a slider, and where it stands."""
    knob: Amount = field.input  # type: ignore[assignment]
    low, high = knob.span
    if knob.scale == "doubling":
        values = [low * 2**power for power in range(64) if low * 2**power <= high]
    else:
        count = min(LINEAR_POSITIONS, round((high - low) / knob.step))
        values = [round(low + (high - low) * place / count, 3) for place in range(count + 1)]
        values = [float(round(value)) for value in values] if knob.step >= 1 else values
    return sorted({*values, *([] if here is None else [here])})


def _row(made: Turn) -> tuple[str, ...]:
    if made.mfu is None or made.step_s is None or made.peak_bytes is None:
        return f"{made.value:,.10g}", made.why_not, "", ""
    return f"{made.value:,.10g}", share_text(made.mfu), seconds_text(made.step_s), held_text(made.peak_bytes)
