"""What the frames of the ZeRO scene are made of: GPUs with fields or layers, sliced; one GPU's memory; bytes on the wires."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.board.legend import words_width
from app.board.scenes.base import WIDTH, SceneFigure
from app.board.scenes.pieces import LANE, LANE_GAP, Bar, Lane, block, gpu, lanes
from engine.lens.sharded import LayerPass

DRAWN = 4  # GPUs in the picture, however many count
LAYERS = 5  # layers in the picture
LEFT = 106.0  # of what stands beside a name
FIELDS = (("weights", "weights", 2), ("gradients", "gradients", 2), ("optimizer", "optimizer", 12))
UNIT = 10.6  # height of a byte per parameter
LANES_LEFT, LANES_RIGHT = 92.0, WIDTH - 8.0

Holding = Literal["slice", "gathering", "gathered", "computing", "freed", "leaving", "scattering", "stepped"]


def _columns(left: float, gap: float = 10) -> list[tuple[float, float]]:
    """Left edge and width of each GPU."""
    width = (WIDTH - 4 - left - gap * (DRAWN - 1)) / DRAWN
    return [(left + i * (width + gap), width) for i in range(DRAWN)]


def fields(figure: SceneFigure, sliced: Sequence[str], accent: str = "", stepping: bool = False) -> None:
    """GPUs with weights, gradients and optimizer as areas of their size; of what is sliced each keeps its own part.

    accent     the field whose name is marked
    stepping   an arrow from the optimizer's slice to the weights'
    """
    for i, (x, width) in enumerate(_columns(LEFT)):
        gpu(figure, x, 4, width, 230, f"GPU {i}")
        y = 36.0
        for name, fill, size in FIELDS:
            height = size * UNIT
            _field(figure, i, x + 10, y, width - 20, height, fill, name in sliced)
            if i == 0:
                ink = "dp" if name == accent else "ink"
                figure.text(0, y + 17, name, "remark", ink=ink)
                if size * UNIT > 40:
                    figure.text(0, y + 42, f"{size} bytes", "read", ink="soft")
                    figure.text(0, y + 62, "per parameter", "read", ink="soft")
            y += height + 6
        if stepping:
            own = x + 10 + (width - 20) / DRAWN * (i + 0.5)
            with figure.tip("Adam reads its own slice of the gradients and writes its own slice of the weights"):
                figure.arrow(own, 130, own, 50, ink="dp", stroke="marker", size=15, key=f"step-{i}")


def _field(
    figure: SceneFigure, i: int, x: float, y: float, width: float, height: float, fill: str, sliced: bool
) -> None:
    if not sliced:
        block(figure, x, y, width, height, fill, f"{fill}-{i}")
        return
    part = width / DRAWN
    with figure.tip("kept by the other GPUs, each its own slice"):
        block(figure, x, y, width, height, fill, f"{fill}-{i}-ghost", ghost=True)
    with figure.at(f"{fill}-{i}", x + part * i, y):
        block(figure, 0, 0, part, height, fill, f"{fill}-{i}-own")


def floor(figure: SceneFigure, holding: Sequence[Holding], word: str = "") -> None:
    """GPUs with their layers, each in one of the states of `Holding`, the same on every GPU."""
    columns = _columns(34, gap=12)
    for i, (x, width) in enumerate(columns):
        gpu(figure, x, 2, width, 226, f"GPU {i}")
        for layer, held in enumerate(holding):
            _layer(figure, i, layer, x + 10, 38 + layer * 37, width - 20, held, word)
    for layer, held in enumerate(holding):
        y = 38 + layer * 37
        strong = held in ("computing", "gathering", "scattering")
        figure.text(0, y + 20, f"L{layer + 1}", "caption" if strong else "read", ink="ink" if strong else "soft")
        if held in ("gathering", "scattering"):
            for i in range(DRAWN - 1):
                _exchange(figure, i, columns[i + 1][0] - 6, y)


def _layer(figure: SceneFigure, i: int, layer: int, x: float, y: float, width: float, held: Holding, word: str) -> None:
    """One layer of one GPU: its own slice solid, what is borrowed pale, what is elsewhere dashed."""
    part, key, tall = width / DRAWN, f"layer-{layer}-{i}", 27.0
    own = x + part * i
    if held == "computing":
        with figure.tip("the whole layer is here: this GPU computes it on its own data"):
            block(figure, x, y, width, tall, "weights", key)
        with figure.group("zero-on-weights"):
            figure.text(x + width / 2, y + 20, word, "caption", anchor="middle")
        return
    if held in ("leaving", "scattering"):
        with figure.tip("whole gradients, waiting for the wires or on their way to the owner of each slice"):
            block(figure, x, y, width, tall, "gradients", f"{key}-whole", ink="dp")
    elif held in ("gathering", "gathered"):
        with figure.tip("borrowed from the other GPUs" if held == "gathered" else "arriving from the other GPUs"):
            for j in (j for j in range(DRAWN) if j != i):
                block(figure, x + j * part, y, part, tall, "dp-pale", f"{key}-{j}", ink="dp")
    else:
        block(figure, x, y, width, tall, "", f"{key}-ghost", ghost=True)
    if held == "freed":
        figure.text(x + width * (0.75 if i < DRAWN / 2 else 0.25), y + 20, "freed", "read", anchor="middle", ink="soft")
    both = held in ("leaving", "scattering", "stepped")
    block(figure, own, y, part, tall / 2 if both else tall, "weights", f"{key}-own")
    if both:
        block(figure, own, y + tall / 2, part, tall / 2, "gradients", f"{key}-gradient")


def _exchange(figure: SceneFigure, i: int, x: float, y: float) -> None:
    """A pair of arrows between GPU i and the next: each gives its slice and takes the other's."""
    figure.arrow(x - 22, y + 6, x + 22, y + 6, ink="dp", stroke="thick", lift=7, size=10, key=f"give-{i}")
    figure.arrow(x + 22, y + 21, x - 22, y + 21, ink="dp", stroke="thick", lift=7, size=10, key=f"take-{i}")


@dataclass(frozen=True)
class Held:
    """Part of one GPU's memory."""

    fill: str
    amount: float


def memory(
    figure: SceneFigure, y: float, parts: Sequence[Held], most: float, capacity: float, words: str, before: float = 0
) -> None:
    """One GPU's memory as a strip, with a line where an H100 is full.

    parts      from the left                                    [bytes]
    most       what the strip's whole width stands for          [bytes]
    capacity   where the line stands                            [bytes]
    words      at the right end
    before     what the frame before held: its edge is dashed   [bytes]
    """
    width, tall = 420.0, 26.0
    scale = width / most
    figure.text(0, y + 20, "one GPU", "remark", ink="ink")
    figure.rectangle(LEFT, y, width, tall, ink="rule", key="memory")
    if before > sum(part.amount for part in parts):
        block(figure, LEFT, y, before * scale, tall, "", "memory-before", ghost=True)
    x = LEFT
    for part in parts:
        if part.amount * scale > 0.4:
            block(figure, x, y, part.amount * scale, tall, part.fill, f"memory-{part.fill}")
        x += part.amount * scale
    at = LEFT + capacity * scale
    over = sum(part.amount for part in parts) > capacity
    ink = "bad" if over else "good"
    with figure.tip("from here on it does not fit into one H100"):
        figure.line(at, y - 5, at, y + tall + 7, ink=ink, stroke="thick", key="capacity")
    name = "one H100"
    if at + 6 + words_width(name) < LEFT + width + 80:
        figure.text(at + 5, y + tall + 17, name, "read", ink=ink)
    else:
        figure.text(at - 5, y + tall + 17, name, "read", ink=ink, anchor="end")
    figure.text(LEFT + width + 14, y + 19, words, "number")


@dataclass(frozen=True)
class Trip:
    """One passage of all weights or all gradients over the wires."""

    words: str
    why: str
    new: bool = False


def trips(figure: SceneFigure, y: float, made: Sequence[Trip], words: str) -> None:
    """What each GPU sends in a step, one bar for each passage; three fill the width."""
    figure.text(0, y + 20, "sends", "remark", ink="ink")
    width = 420.0 / 3
    for i, trip in enumerate(made):
        with figure.tip(trip.why):
            block(
                figure,
                LEFT + i * width,
                y,
                width - 4,
                26,
                "dp-pale" if trip.new else "plain",
                f"trip-{i}",
                trip.words,
                ink="dp" if trip.new else "ink",
            )
    figure.text(LEFT + 420 + 14, y + 19, words, "number")


def clock(figure: SceneFigure, y: float, rows: Sequence[Lane], end: float, now: float | None = None) -> None:
    """Lanes whose bars carry their words inside or, where those are short and the lane is free, behind them."""
    lanes(figure, y, rows, end, left=LANES_LEFT, right=LANES_RIGHT, now=now)
    scale = (LANES_RIGHT - LANES_LEFT) / end
    for at, lane in enumerate(rows):
        base = y + at * (LANE + LANE_GAP) + LANE - 8
        following = [bar.start for bar in lane.bars[1:]] + [end]
        for bar, until in zip(lane.bars, following, strict=True):
            _behind(figure, bar, until, base, scale, now)


def _behind(figure: SceneFigure, bar: Bar, until: float, base: float, scale: float, now: float | None) -> None:
    """The words of a bar too short for them, in the free space after it."""
    wide = words_width(bar.words)
    left, right = LANES_LEFT + bar.end * scale + 6, LANES_LEFT + until * scale
    if not bar.words or wide < max(2.0, (bar.end - bar.start) * scale) - 6 or left + wide > right - 2:
        return
    if now is not None and left - 6 < LANES_LEFT + now * scale < left + wide + 4:
        return
    figure.text(left, base, bar.words, "read", ink="soft")


def late(figure: SceneFigure, y: float, sooner: float, later: float) -> None:
    """How much later one of two ends on the same axis of time."""
    left, right = (LANES_LEFT + (LANES_RIGHT - LANES_LEFT) * time / later for time in (sooner, later))
    figure.line(left, y - 136, left, y - 2, ink="bad", stroke="dashed", key="sooner")
    if right - left > 24:
        figure.arrow(left + 2, y - 10, right - 2, y - 10, ink="bad", stroke="thick", key="late")


def sums(figure: SceneFigure, y: float, rows: Sequence[tuple[str, str]]) -> None:
    """Answers side by side under their names."""
    width = (WIDTH - 8) / len(rows)
    for at, (name, text) in enumerate(rows):
        figure.text(4 + at * width, y, name, "remark")
        figure.text(4 + at * width, y + 36, text, "answer")


def held_as(turn: LayerPass, now: float) -> Holding:
    """What a layer is at this moment of a pass."""
    if turn.compute.start <= now < turn.compute.end:
        return "computing"
    if turn.gather.start < now < turn.gather.end:
        return "gathering"
    if turn.gather.end <= now < turn.compute.start:
        return "gathered"
    if turn.scatter and turn.compute.end <= now < turn.scatter.end:
        return "scattering" if turn.scatter.start < now else "leaving"
    if now >= turn.compute.end:
        return "stepped" if turn.scatter else "freed"
    return "slice"


def compute_lane(named: tuple[tuple[str, LayerPass], ...], now: float | None, fill: str) -> Lane:
    bars = [
        Bar(
            t.compute.start,
            t.compute.end,
            fill if now is None or t.compute.start <= now < t.compute.end else "plain",
            name,
        )
        for name, t in named
    ]
    return Lane("compute", tuple(bars))


def wire_lane(named: tuple[tuple[str, LayerPass], ...], now: float | None) -> Lane:
    spans = [(f"gather {name}", t.gather) for name, t in named]
    spans += [(f"scatter {name}", t.scatter) for name, t in named if t.scatter]
    bars = []
    for words, span in sorted(spans, key=lambda pair: pair[1].start):
        busy = now is None or span.start < now < span.end
        bars.append(
            Bar(
                span.start,
                span.end,
                "dp-pale" if not busy or now is None else "dp",
                "" if busy and now is not None else words,
                words,
                "dp",
            )
        )
    return Lane("wires", tuple(bars))


def with_waiting(compute: Lane) -> Lane:
    """The lane with its gaps shown as waiting."""
    bars, free = [], 0.0
    for bar in compute.bars:
        if bar.start > free * (1 + 1e-9):
            bars.append(Bar(free, bar.start, "waiting", why="idle: the layer is not here yet", ink="ghost"))
        bars.append(bar)
        free = bar.end
    return Lane(compute.name, tuple(bars))


def both_busy(turns: tuple[LayerPass, ...]) -> float:
    """A moment at which one layer computes while another's gradients travel, if there is one."""
    for sent in turns:
        for other in turns:
            if sent.scatter:
                start, end = max(sent.scatter.start, other.compute.start), min(sent.scatter.end, other.compute.end)
                if start < end:
                    return (start + end) / 2
    return turns[-1].compute.end
