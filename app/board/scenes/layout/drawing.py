"""Pieces of the layout scene: the order of axes, who talks to whom, where a step goes, what a GPU holds."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.board.figures.topology_floor import Floor, Lit, draw_floor, draw_node, draw_wires
from app.board.legend import Entry, legend
from app.board.scenes.base import WIDTH, SceneFigure
from app.board.scenes.layout.case import Case, ratio_text, stages_of_units, traffic_s, unit_names
from app.board.scenes.pieces import block
from engine.estimate import Estimate
from engine.language.units import bytes_text, count_text, counted, seconds_text
from engine.layout.layout import Axis
from engine.network.placement import Placement

PANEL = 548.0  # where the words at the right begin
BARS, BAR, BAR_LEFT, BAR_RIGHT = 338.0, 26.0, 92.0, WIDTH - 88
AXIS_FILL = {"tp": "tp-pale", "dp": "dp-pale", "pp": "pp-pale", "cp": "cp-pale", "ep": "ep-pale"}
WIRES = {
    "none": "alone, nothing travels",
    "nvlink": "NVLink, in the node",
    "leaf": "NICs, under a leaf",
    "spine": "leaf, spine, leaf",
}
MEMORY = (
    ("weights", "weights"),
    ("gradients", "gradients"),
    ("optimizer", "optimizer"),
    ("activations", "activations"),
    ("buffers", "buffers"),
)


@dataclass(frozen=True)
class Talk:
    """What the panel says about one axis: a large word and two lines; a quiet one falls back."""

    axis: str
    head: str
    first: str
    second: str
    loud: bool = True


def order_chips(figure: SceneFigure, order: Sequence[str]) -> None:
    """The axes from the fastest changing to the slowest. Their places change when the order does."""
    for place, axis in enumerate(order):
        x = PANEL + place * 58
        with figure.at(f"order-{axis}", x, 6), figure.tip(f"{axis.upper()} is number {place + 1} in the rank order"):
            figure.rectangle(0, 0, 38, 28, fill=f"{axis}-pale", ink=axis, key=f"order-{axis}")
            figure.text(19, 20, axis.upper(), "read", anchor="middle")
        if place:
            figure.arrow(x - 18, 20, x - 3, 20, ink="soft", size=7, key=f"order-arrow-{place}")
    figure.text(PANEL, 54, "fastest axis first", "read", ink="soft")


def talks(figure: SceneFigure, rows: Sequence[Talk], top: float = 108) -> None:
    """One axis under the other."""
    for at, row in enumerate(rows):
        with figure.at(f"talk-{row.axis}", PANEL, top + at * 72):
            ink, fill = ("ink", AXIS_FILL[row.axis]) if row.loud else ("soft", "board")
            figure.rectangle(0, -18, 34, 24, fill=fill, ink=row.axis if row.loud else "ghost", key=f"talk-{row.axis}")
            figure.text(17, 0, row.axis.upper(), "read", anchor="middle", ink=ink)
            figure.text(44, 2, row.head, "caption", ink=ink)
            figure.text(0, 24, row.first, "read", ink=ink)
            figure.text(0, 42, row.second, "read", ink="soft")


def gpus_text(count: int) -> str:
    """So many GPUs, in words."""
    return counted(count, "GPU")


def facts(figure: SceneFigure, rows: Sequence[tuple[str, str]], top: float = 108) -> None:
    """Large numbers with a word below each."""
    for at, (answer, words) in enumerate(rows):
        figure.text(PANEL, top + at * 62, answer, "title")
        figure.text(PANEL, top + 22 + at * 62, words, "read", ink="soft")


def you(figure: SceneFigure, floor: Floor, rank: int) -> None:
    """A line around the GPU one looks from, and its name."""
    box = floor.gpu(rank)
    with figure.at("you", box.x, box.y):
        figure.rectangle(-3, -3, box.width + 6, box.height + 6, stroke="thick", key="you")
    figure.text(PANEL, 80, f"you: rank {count_text(rank)}", "caption")


def floor_names(figure: SceneFigure, floor: Floor, names: Sequence[str]) -> None:
    """What stands where: switches at the left, a name below each unit."""
    figure.text(0, floor.leaf(0, 0).y + 13, "leaves", "read", ink="soft")
    figure.text(0, floor.spine.y + 22, "spine", "read", ink="soft")
    figure.text(0, floor.unit(0).y + 15, "nodes", "read", ink="soft")
    for unit, name in enumerate(names):
        figure.text(floor.unit(unit).x, floor.y + floor.height + 19, name, "caption")


def spine_name(figure: SceneFigure, floor: Floor, ratio: float) -> None:
    """How much wider the wires below the leaves are than those above."""
    words = ratio_text(ratio) if ratio > 1 else "full bandwidth"
    figure.text(
        floor.spine.middle, floor.spine.y + 19, words, "read", anchor="middle", ink="bad" if ratio > 1 else "soft"
    )


def step_bar(figure: SceneFigure, at: float, name: str, made: Estimate, longest: float, *, ghost: bool = False) -> None:
    """One step from the left, by what takes its time, on an axis that ends at `longest` seconds."""
    step, y = made.step, BARS + at * (BAR + 8)
    scale, x = (BAR_RIGHT - BAR_LEFT) / longest, BAR_LEFT
    figure.text(0, y + BAR - 7, name, "read", ink="soft" if ghost else "ink")
    for what, seconds, fill, why in step_parts(made):
        width = seconds * scale
        if width >= 0.8:
            with figure.at(f"step-{at}-{what}", x, y), figure.tip(f"{why}: {seconds_text(seconds)}"):
                block(figure, 0, 0, width, BAR, fill, f"step-{at}-{what}", what)
        x += width
    figure.text(WIDTH - 2, y + BAR - 7, seconds_text(step.seconds.value), "number", anchor="end")


def step_parts(made: Estimate) -> tuple[tuple[str, float, str, str], ...]:
    """Name, time, fill and reason of each part of a step."""
    step = made.step
    axes = (
        ("TP", "tp", "tensor-parallel sums that nothing hides"),
        ("PP", "pp", "hand-overs between stages"),
        ("DP", "dp", "gradients that nothing hides"),
    )
    return (
        ("compute", step.compute.value, "f", "matrix products of the slowest stage"),
        *((name, step.exposed_on(axis), AXIS_FILL[axis], why) for name, axis, why in axes),
        ("bubble", step.bubble.value, "waiting", "the pipeline fills and drains"),
        ("optimizer", step.optimizer.value, "optimizer", "the optimizer's step"),
    )


def time_bar(figure: SceneFigure, at: int, name: str, seconds: float, longest: float, fill: str, words: str) -> None:
    """One duration from the left."""
    y, scale = BARS + at * (BAR + 8), (BAR_RIGHT - BAR_LEFT) / (longest or 1.0)
    figure.text(0, y + BAR - 7, name, "read")
    if seconds * scale >= 0.8:
        with figure.at(f"time-{at}", BAR_LEFT, y):
            block(figure, 0, 0, seconds * scale, BAR, fill, f"time-{at}", words, ink=fill.removesuffix("-pale"))
    figure.text(WIDTH - 2, y + BAR - 7, seconds_text(seconds) if seconds else "nothing", "number", anchor="end")


def memory_bar(figure: SceneFigure, made: Estimate, y: float, height: float) -> None:
    """What the fullest GPU holds against its memory; past the line it does not fit."""
    held, capacity = made.fullest, made.capacity_bytes
    scale, x = (WIDTH - 12) / max(capacity, held.total.value), 6.0
    figure.rectangle(6, y, capacity * scale, height, fill="board", key="capacity")
    for fill, name in MEMORY:
        width = getattr(held, name).value * scale
        if width > 0.8:
            with figure.tip(f"{name}: {getattr(held, name).text}"):
                block(figure, x, y, width, height, fill, f"held-{name}", radius=8 if fill == "activations" else 0)
        x += width
    if x > 6 + capacity * scale:
        figure.line(
            6 + capacity * scale, y - 10, 6 + capacity * scale, y + height + 10, ink="bad", stroke="thick", key="full"
        )


def memory_legend(figure: SceneFigure, made: Estimate, y: float) -> None:
    entries = [
        Entry(fill, name, bytes_text(getattr(made.fullest, name).value), radius=6 if fill == "activations" else 0)
        for fill, name in MEMORY
    ]
    legend(figure, entries, 6, y, WIDTH - 12, columns=len(entries))


def time_strip(figure: SceneFigure, made: Estimate, y: float, height: float) -> None:
    """The step across the whole width, and its parts by name below."""
    parts = [part for part in step_parts(made) if part[1] > 0]
    scale, x = (WIDTH - 12) / made.step.seconds.value, 6.0
    for what, seconds, fill, why in parts:
        if seconds * scale >= 0.8:
            with figure.tip(f"{why}: {seconds_text(seconds)}"):
                block(figure, x, y, seconds * scale, height, fill, f"strip-{what}")
        x += seconds * scale
    entries = [Entry(fill, what, seconds_text(seconds), letter="") for what, seconds, fill, _ in parts]
    legend(figure, entries, 6, y + height + 12, WIDTH - 12, columns=len(entries))


def dress(
    figure: SceneFigure,
    case: Case,
    order: Sequence[str],
    placed: Placement,
    *,
    named: str = "stage",
    ratio: float = 1,
    mark: bool = True,
) -> None:
    """What stands around every floor with ranks on it."""
    order_chips(figure, order)
    floor_names(figure, case.floor, unit_names(case.floor) if named == "unit" else stages_of_units(case.floor, placed))
    spine_name(figure, case.floor, ratio)
    if mark:
        you(figure, case.floor, case.you)


def connected(
    figure: SceneFigure,
    case: Case,
    placed: Placement,
    *,
    rest: str = "plain",
    tp: bool = True,
    pp: bool = True,
    uplink: float = 1,
) -> None:
    """The floor with the groups of one GPU and the wires they use."""
    asked: tuple[tuple[Axis, bool], ...] = (("dp", True), ("pp", pp), ("tp", tp))
    shown: list[Axis] = [axis for axis, on in asked if on and placed.degree(axis) > 1]
    groups: dict[Axis, list[int]] = {axis: placed.group(axis, case.you) for axis in shown}
    draw_floor(figure, case.floor, [Lit(group, axis) for axis, group in groups.items()], rest=rest, uplink=uplink)
    for lane, (axis, group) in enumerate(groups.items()):
        if placed.reach(axis).leaves_node:
            with figure.tip(f"{axis.upper()} of rank {case.you}: {WIRES[placed.reach(axis).wire]}, on its rail"):
                draw_wires(figure, case.floor, group, axis, lane=lane, uplink=uplink, fill=f"{axis}-pale")
    around: tuple[Axis, ...] = ("pp", "tp")
    for axis in around:
        for node in sorted({case.floor.node_of(rank) for rank in groups.get(axis, ())}):
            draw_node(figure, case.floor, node, axis)


def peers_legend(figure: SceneFigure) -> None:
    """What the three colours say of the ranks that carry them."""
    rows: tuple[tuple[Axis, str, float], ...] = (
        ("tp", "share its matrices", 54),
        ("dp", "hold the same weights", 276),
        ("pp", "the other stages", 522),
    )
    for axis, words, x in rows:
        figure.rectangle(x, 348, 34, 24, fill=axis, ink=axis, key=f"legend-{axis}")
        figure.text(x + 42, 366, f"{axis.upper()}: {words}", "read")


def compare(figure: SceneFigure, case: Case, axis: str, one: Estimate, other: Estimate, order: Sequence[str]) -> None:
    """Traffic of an axis in both orders, on one scale."""
    times = [traffic_s(made, axis) for made in (one, other)]
    for at, (seconds, names) in enumerate(zip(times, (case.order, order), strict=True)):
        time_bar(
            figure, at, " ".join(name.upper() for name in names), seconds, max(times), f"{axis}-pale", axis.upper()
        )


def what_it_sends(made: Estimate, axis: Axis, loud: bool = True) -> Talk:
    """What an axis sends in a step, and how long one send or half of one sum takes, hidden or not."""
    found, reach = [c for c in made.step.communication if c.axis == axis], made.step.placement.reach(axis)
    if not found:
        return Talk(axis, gpus_text(reach.size), WIRES["none"], "", loud=False)
    often = sum(c.count for c in found)
    top = max(found, key=lambda c: c.each_s)
    words = f"{seconds_text(top.each_s)}, {count_text(often)} times"
    if axis == "dp":
        words = f"{bytes_text(sum(c.payload_bytes * c.count for c in found))}, {seconds_text(traffic_s(made, axis))}"
    return Talk(axis, gpus_text(reach.size), WIRES[reach.wire], words, loud)


def stalled(axis: str, groups: int, ranks: int, degree: int) -> Talk:
    if degree == 1:
        return Talk(axis, "no group", "nobody waits", "", loud=False)
    return Talk(
        axis,
        f"{counted(groups, 'group')} stall{'s' if groups == 1 else ''}",
        f"{gpus_text(ranks)} in {'it' if groups == 1 else 'them'}",
        "",
    )
