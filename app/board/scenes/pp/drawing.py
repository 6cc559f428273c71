"""What the pipeline scene draws with: a run, and its rows of operations on one axis."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from app.board.figures.pipeline_sheet import FILLS, SHADES
from app.board.legend import SIZES, words_width
from app.board.scenes.base import WIDTH, SceneFigure
from engine.language.units import digits_text
from engine.pipeline.schedules import ChunkPlacement, Op
from engine.pipeline.timeline import Interval, Timeline
from engine.pipeline.waits import waits

LEFT, RIGHT, TOP = 66.0, WIDTH - 6.0, 8.0
BAR = 0.8  # of the pitch of a row
FINE = 7.5  # mean width of a cell below which it has no outline
MOVERS = 200  # operations up to which each is drawn by hand and may move
MIDDLE = 5.5  # from the middle of a line of text to its base line


def slots_text(value: float) -> str:
    """A number of slots, to a tenth where it needs one.

    >>> slots_text(33.0), slots_text(114.6000001)
    ('33', '114.6')
    """
    return digits_text(round(value, 2), 4)


@dataclass(frozen=True)
class Run:
    """One schedule's step: its orders and its exact timeline.

    send   by which a result reaches another stage later   [slots]
    """

    title: str
    orders: tuple[tuple[Op, ...], ...]
    placement: ChunkPlacement
    timeline: Timeline
    send: float

    @property
    def slots(self) -> float:
        return self.timeline.makespan

    @property
    def held(self) -> tuple[float, ...]:
        """Most micro-batches that each stage holds, weight gradients still to come included."""
        return self.timeline.held_until_weights

    @property
    def chunks(self) -> int:
        return len(self.placement.places[0])

    @property
    def work(self) -> float:
        """What a stage computes, averaged over the stages.   [slots]"""
        return sum(self.timeline.busy) / self.timeline.stages

    @cached_property
    def span(self) -> float:
        """From a stage's first operation to the end of its last one, averaged over the stages.   [slots]"""
        return sum(row[-1].end - row[0].start for row in self.timeline.by_stage) / self.timeline.stages

    @property
    def gapless(self) -> bool:
        """Whether no stage waits between its first and its last operation."""
        return self.span - self.work < 1e-9


@dataclass(frozen=True)
class Rows:
    """Where the rows of stages stand, and what a slot is wide.

    end   of the axis   [slots]
    """

    stages: int
    end: float
    left: float = LEFT
    right: float = RIGHT
    top: float = TOP
    tall: float = 226.0

    @property
    def pitch(self) -> float:
        return min(76.0, self.tall / self.stages)

    @property
    def bar(self) -> float:
        return self.pitch * BAR

    @property
    def bottom(self) -> float:
        return self.top + self.pitch * self.stages

    def x(self, time: float) -> float:
        return self.left + time * (self.right - self.left) / self.end

    def y(self, stage: int) -> float:
        return self.top + stage * self.pitch

    def box(self, stage: int, start: float, end: float) -> tuple[float, float, float, float]:
        return self.x(start), self.y(stage), self.x(end) - self.x(start), self.bar


def timeline(figure: SceneFigure, run: Run, rows: Rows, *, grey: bool = False) -> None:
    """Names of the stages, waiting with its reasons, and all operations; grey where something else is the matter."""
    for stage in range(rows.stages):
        figure.text(0, rows.y(stage) + rows.bar / 2 + MIDDLE, f"stage {stage}", ink="soft" if grey else "ink")
    idle(figure, run, rows)
    if len(run.timeline.intervals) <= MOVERS:
        _movers(figure, run, rows, grey)
    else:
        straight(figure, run, rows, grey)


def idle(figure: SceneFigure, run: Run, rows: Rows) -> None:
    """Grey hatching where a stage waits; each piece says why."""
    for wait in waits(run.orders, run.placement, run.timeline, run.send):
        with figure.tip(wait.sentence):
            figure.cells([rows.box(wait.stage, wait.start, wait.end)], fill="waiting", ink="")


def shade(run: Run, chunk: int) -> int:
    """Shade of a chunk, from 0 for the first to 3 for the last."""
    return round(chunk * (min(SHADES, run.chunks) - 1) / max(1, run.chunks - 1))


def _movers(figure: SceneFigure, run: Run, rows: Rows, grey: bool) -> None:
    """Each operation on its own, so that it may move; straight and edge to edge, so that no gap looks like waiting."""
    labelled = _labelled(run, rows)
    for op in run.timeline.intervals:
        x, y, width, height = rows.box(op.stage, op.start, op.end)
        half = "B" if op.kind == "I" else op.kind  # an input gradient stands where the whole backward stood
        with figure.at(
            f"{half}{op.micro_batch}.{op.chunk}@{op.stage}", x, y, f"op-{op.kind.lower()} shade-{shade(run, op.chunk)}"
        ):
            fill, ink = ("plain", "ghost") if grey else (FILLS[op.kind], "ink")
            figure.cells([(0, 0, width, height)], fill=fill, ink=ink)
            if op.kind in labelled:
                figure.text(
                    width / 2,
                    height / 2 + MIDDLE,
                    str(op.micro_batch),
                    "number",
                    anchor="middle",
                    ink="soft" if grey else "ink",
                )


def straight(figure: SceneFigure, run: Run, rows: Rows, grey: bool = False) -> None:
    """Operations too many to be drawn by hand: one path for each kind and chunk."""
    groups: dict[tuple[str, int], list[Interval]] = defaultdict(list)
    for op in run.timeline.intervals:
        groups[op.kind, op.chunk].append(op)
    fine = (rows.x(run.slots) - rows.left) * rows.stages / max(1, len(run.timeline.intervals)) < FINE
    ink = "" if fine else "ghost" if grey else "ink"
    for (kind, chunk), ops in sorted(groups.items()):
        with figure.group(f"op-{kind.lower()} shade-{shade(run, chunk)}"):
            boxes = (rows.box(op.stage, op.start, op.end) for op in ops)
            told = ((x, y, width * 0.88, height) for x, y, width, height in boxes) if fine else boxes
            figure.cells(told, fill="plain" if grey else FILLS[kind], ink=ink)


def _labelled(run: Run, rows: Rows) -> set[str]:
    """Kinds of which every cell has room for its micro-batch's number."""
    room = words_width(str(max(op.micro_batch for op in run.timeline.intervals)), "number") + 3
    narrow = {op.kind for op in run.timeline.intervals if rows.x(op.end) - rows.x(op.start) < room}
    return set() if rows.bar < SIZES["number"] + 3 else set(FILLS) - narrow


def axis(figure: SceneFigure, rows: Rows, run: Run, before: Run | None = None, name: str = "") -> None:
    """Ticks for slots, and how long the step is; a dashed line where it ended before, if that is elsewhere."""
    y = rows.bottom + 2
    if rows.x(1) - rows.left >= 5:
        figure.path(
            "".join(f"M{rows.x(slot):.1f} {y:.1f}v4" for slot in range(int(rows.end) + 1)), ink="rule", stroke="thin"
        )
    figure.line(rows.left, y, rows.right, y, ink="rule", stroke="thin", key="axis")
    words = f"{slots_text(run.slots)} slots"
    right, half = rows.x(run.slots), words_width(words, "read") / 2
    with figure.at("end", right, rows.top):
        figure.line(0, -4, 0, rows.bottom - rows.top + 8, stroke="thick", key="end")
    at = min(right, WIDTH - half - 2)
    if before is not None and abs(rows.x(before.slots) - right) >= 3:
        at = _before(figure, rows, (f"{name}: {slots_text(before.slots)}", rows.x(before.slots)), (at, half, right))
    figure.text(at, y + 22, words, anchor="middle")


def _before(figure: SceneFigure, rows: Rows, earlier: tuple[str, float], own: tuple[float, float, float]) -> float:
    """The dashed line where another step ended, with its name. Gives where the step's own length is written then."""
    (words, other), (at, half, right) = earlier, own
    figure.line(other, rows.top - 4, other, rows.bottom + 8, ink="ghost", stroke="dashed", key="before")
    wide = words_width(words) / 2
    place = min(other, WIDTH - wide - 2) if other > right else min(other, at - half - wide - 10)
    if other > right and place - at < half + wide + 10:
        at = right - half + 4
        place = max(place, at + half + wide + 10)
    if place + wide < WIDTH and place - wide > 0:
        figure.text(place, rows.bottom + 24, words, anchor="middle", ink="soft")
    return at
