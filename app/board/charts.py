"""Results as Plotly figures: plain dictionaries, whose colours are names of tokens that <plot-chart> looks up.

A colour is written "--tp", the custom property of tokens.css, so that one chart serves both boards.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from engine.estimate import Estimate, estimate
from engine.language.held import held_text, held_unit
from engine.language.refusal import Refusal
from engine.language.units import count_text, seconds_text, share_text
from engine.memory.stage import StageMemory
from engine.pipeline.timeline import Timeline
from engine.scenario import scenario_from

Chart = dict[str, Any]

POINTS = 300  # of one line: more cannot be told apart on a screen
MOST_LINES = 8
LINES = (("--tp", "solid"), ("--pp", "dash"), ("--dp", "dot"), ("--cp", "dashdot"), ("--ep", "longdash"))


def memory_over_step(shown: Estimate) -> Chart:
    """Memory of each stage over one step: what it always holds, and activations as micro-batches come and go.

    Of more than eight stages, eight are drawn, the first and the last among them. Each held micro-batch weighs the same,
    so that the peak is the one of the stage's memory; where backward is split, what waits for W counts until I ends.
    """
    timeline, whole = shown.step.timeline, shown.scenario.layout.micro_batches
    count = len(shown.stages)
    chosen = sorted(
        {round(at * (count - 1) / max(1, min(count, MOST_LINES) - 1)) for at in range(min(count, MOST_LINES))}
    )
    traces = [_stage_line(timeline, shown.stages[stage], at) for at, stage in enumerate(chosen)]
    axis = "time in the step (s)"
    if shown.step.shown_micro_batches < whole:
        axis = f"time in a shorter step like it (s): the middle of the {count_text(whole)} micro-batches repeats"
    end, capacity = timeline.makespan, shown.capacity_bytes
    traces.append(
        _line([0, end], [capacity / held_unit()[1]] * 2, f"one GPU: {held_text(capacity)}", "--bad", "solid", "skip")
    )
    return {
        "data": traces,
        "layout": _layout({"title": {"text": axis}, "range": [0, end]}, _bytes_axis("")) | {"showlegend": True},
    }


def _stage_line(timeline: Timeline, stage: StageMemory, at: int) -> Chart:
    always = stage.total.value - stage.activations.value
    steps = [(0.0, 0), *timeline.memory_over_time(stage.stage), (timeline.makespan, 0)]
    each = stage.activations.value / max(1, max(held for _, held in steps))
    points = list(thinned([(time, always + held * each) for time, held in steps]))
    colour, dash = LINES[at % len(LINES)]
    name = f"stage {stage.stage}"
    texts = [f"{name}<br>{held_text(held)} at {seconds_text(time)}" for time, held in points]
    line = _line([time for time, _ in points], [held / held_unit()[1] for _, held in points], name, colour, dash, texts)
    line["line"]["shape"] = "hv"
    return line


def thinned(points: Sequence[tuple[float, float]], most: int = POINTS) -> Iterator[tuple[float, float]]:
    """So many points of a line at most: of each stretch its highest one, and both ends.

    >>> list(thinned([(0, 1), (1, 5), (2, 2), (3, 7), (4, 0)], most=4))
    [(0, 1), (1, 5), (3, 7), (4, 0)]
    """
    if len(points) <= most:
        yield from points
        return
    inner, stretches = points[1:-1], most - 2
    yield points[0]
    for at in range(stretches):
        yield max(inner[at * len(inner) // stretches : (at + 1) * len(inner) // stretches], key=lambda point: point[1])
    yield points[-1]


@dataclass(frozen=True)
class Turn:
    """What one position of a knob gives: the shares and amounts, or why it has no meaning."""

    value: float
    mfu: float | None = None
    step_s: float | None = None
    peak_bytes: float | None = None
    why_not: str = ""


def turn(value: float, document: Callable[[], dict[str, Any]]) -> Turn:
    """What a plan gives with its knob at this value.

    document   makes the scenario as JSON; may refuse, as the engine may
    """
    try:
        found = estimate(scenario_from(document()))
    except Refusal as refusal:
        return Turn(value, why_not=refusal.advice)
    return Turn(value, found.mfu.causal.value, found.step.seconds.value, found.fullest.needed.value)


def knob_curves(name: str, turns: Sequence[Turn], current: float | None, capacity_bytes: float) -> Chart:
    """One knob turned through its range: MFU, step time and the memory of the fullest stage, one above the other.

    name             of the knob, as the page calls it
    turns            at its positions, ascending
    current          where it stands, if it does
    capacity_bytes   memory of the GPU, drawn as a line   [bytes]

    A position without meaning is a gap; a cross on the axis says why.
    """
    rows = (
        (
            "MFU (causal)",
            [turn.mfu and 100 * turn.mfu for turn in turns],
            [_or_none(share_text, turn.mfu) for turn in turns],
            "%",
        ),
        ("step", [turn.step_s for turn in turns], [_or_none(seconds_text, turn.step_s) for turn in turns], "s"),
        (
            "memory needed",
            [turn.peak_bytes and turn.peak_bytes / held_unit()[1] for turn in turns],
            [_or_none(held_text, turn.peak_bytes) for turn in turns],
            held_unit()[0],
        ),
    )
    traces, layout = [], _layout(_knob_axis(name, [turn.value for turn in turns]), {})
    layout["annotations"] = []
    for at, (title, numbers, texts, unit) in enumerate(rows):
        axis = "" if at == 0 else str(at + 1)
        hover = [
            f"{name} = {turn.value}<br>{title} {text}" if text else "" for turn, text in zip(turns, texts, strict=True)
        ]
        line = _line([turn.value for turn in turns], numbers, title, LINES[at][0], "solid", hover)
        traces.append(line | {"yaxis": f"y{axis}", "mode": "lines+markers", "connectgaps": False})
        layout[f"yaxis{axis}"] = _axis() | {"domain": _domain(at), "rangemode": "tozero", "nticks": 5}
        layout["annotations"].append(_row_title(f"{title} ({unit})", _domain(at)[1]))
    illegal = [turn for turn in turns if turn.why_not]
    if illegal:
        traces.append(_illegal(name, illegal))
    layout["shapes"] = [*([] if current is None else [_marker(current)]), _capacity(capacity_bytes)]
    layout["xaxis"]["anchor"], layout["margin"]["t"] = "y3", 30
    return {"data": traces, "layout": layout}


def _or_none(text: Any, value: float | None) -> str | None:
    return None if value is None else text(value)


def _row_title(words: str, top: float) -> Chart:
    return {
        "text": words,
        "showarrow": False,
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": top,
        "xanchor": "left",
        "yanchor": "bottom",
    }


def _domain(row: int) -> list[float]:
    """Three rows of equal height, the first at the top."""
    return [round((2 - row) * 0.36, 2), round((2 - row) * 0.36 + 0.28, 2)]


def _illegal(name: str, turns: Sequence[Turn]) -> Chart:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "no meaning",
        "yaxis": "y3",
        "x": [turn.value for turn in turns],
        "y": [0] * len(turns),
        "text": [f"{name} = {turn.value}: {turn.why_not}" for turn in turns],
        "hoverinfo": "text",
        "cliponaxis": False,
        "marker": {"symbol": "x-thin", "size": 11, "color": "--bad", "line": {"width": 2, "color": "--bad"}},
    }


def _marker(current: Any) -> Chart:
    """A line through all rows where the knob stands."""
    return {
        "type": "line",
        "x0": current,
        "x1": current,
        "yref": "paper",
        "y0": 0,
        "y1": 1,
        "line": {"color": "--remark", "width": 2, "dash": "dot"},
    }


def _capacity(capacity_bytes: float) -> Chart:
    """The memory of the GPU across the lowest row."""
    held = capacity_bytes / held_unit()[1]
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "yref": "y3",
        "y0": held,
        "y1": held,
        "line": {"color": "--bad", "width": 2},
    }


def _knob_axis(name: str, values: Sequence[Any]) -> Chart:
    """Linear, or logarithmic where the positions double."""
    doubling = len(values) > 2 and min(values) > 0 and values[-1] / values[0] >= 4 * len(values)
    scale = {"type": "log"} if doubling else {}
    return {"title": {"text": name}, "tickvals": list(values)[:: max(1, len(values) // 8)]} | scale


def _line(x: Sequence[float], y: Sequence[Any], name: str, colour: str, dash: str, hover: list[str] | str) -> Chart:
    told = {"hoverinfo": hover} if isinstance(hover, str) else {"text": hover, "hoverinfo": "text"}
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": list(x),
        "y": list(y),
        "line": {"color": colour, "dash": dash, "width": 2.5},
    } | told


def _axis() -> Chart:
    return {"gridcolor": "--rule", "zerolinecolor": "--rule", "linecolor": "--ink", "automargin": True}


def _bytes_axis(title: str) -> Chart:
    return _axis() | {"title": {"text": title or f"memory ({held_unit()[0]})"}, "rangemode": "tozero"}


def _layout(x: Chart, y: Chart) -> Chart:
    return {
        "paper_bgcolor": "transparent",
        "plot_bgcolor": "transparent",
        "font": {"color": "--ink", "size": 15},
        "showlegend": False,
        "margin": {"l": 60, "r": 16, "t": 16, "b": 48},
        "xaxis": _axis() | x,
        "yaxis": y,
        "legend": {"orientation": "h", "y": -0.24, "yanchor": "top"},
        "hoverlabel": {"bgcolor": "--board-raised", "font": {"color": "--ink"}},
    }
