"""Lanes of stages, written live: all that a stage runs, and why it waits, uncovered along the playhead."""

from collections import defaultdict
from collections.abc import Sequence

from app.board.figures.pipeline_sheet import FILLS, SHADES
from app.board.film.composition import Composition
from app.board.film.pieces import Axis
from app.board.film.track import Way
from app.board.legend import SIZES, words_width
from app.board.scenes.pp.case import Run
from engine.pipeline.timeline import Interval
from engine.pipeline.waits import Wait

BAR = 0.84  # of the pitch of a lane
FAINT, FINE = 6.0, 3.5  # widths of a cell below which its outline is faint, and below which it has none
ASKED = 72  # waits of a step up to which each tells its own reason; above, the longest gaps do


def shade(run: Run, chunk: int) -> int:
    """Shade of a chunk, from 0 for the first to 3 for the last."""
    return round(chunk * (min(SHADES, run.chunks) - 1) / max(1, run.chunks - 1))


def lane(
    picture: Composition,
    key: str,
    way: Way,
    run: Run,
    stage: int,
    axis: Axis,
    tall: float,
    style: str,
    *,
    why: str = "",
    work: Sequence[Interval] | None = None,
    idle: Sequence[Wait] | None = None,
) -> None:
    """A stage's whole lane as one actor: the way uncovers it.

    work, idle   what is on it; unless said, all that the stage runs, and all its waits
    """
    there = run.timeline.by_stage[stage] if work is None else work
    why = why or f"stage {stage} under {run.title}: what it runs, in the order in which it does"
    with picture.actor(key, "lane", way, window=(axis.right - axis.left, tall + 2), why=why):
        asked = _waits(run, stage) if idle is None else idle
        if idle is None and len(run.waits) > ASKED:  # all that no operation covers waits
            picture.cells([_box(axis, 0.0, run.slots, tall)], fill="waiting", ink="")
        for wait in asked:
            with picture.why(wait.sentence):
                picture.cells([_box(axis, wait.start, wait.end, tall)], fill="waiting", ink="")
        cells(picture, run, there, axis, tall, style)


def cells(picture: Composition, run: Run, work: Sequence[Interval], axis: Axis, tall: float, style: str) -> None:
    """Operations edge to edge, one path for each kind and chunk, with the micro-batches' numbers where all fit."""
    groups: dict[tuple[str, int], list[Interval]] = defaultdict(list)
    for op in work:
        groups[op.kind, op.chunk].append(op)
    count = run.micro_batches  # those of the next step count from 0 again
    room = words_width(str(count - 1), style) + 2
    for (kind, chunk), ops in sorted(groups.items()):
        boxes = [_box(axis, op.start, op.end, tall) for op in ops]
        width = min(box[2] for box in boxes)
        with picture.group(f"op-{kind.lower()} shade-{shade(run, chunk)}"):
            picture.cells(boxes, fill=FILLS[kind], ink="ink" if width > FAINT else "ghost" if width > FINE else "")
        if width < room or tall < SIZES[style] + 2:
            continue
        for op, (x, _, wide, _) in zip(ops, boxes, strict=True):
            number = str(op.micro_batch % count)
            picture.text(x + wide / 2, 1 + tall / 2 + 0.34 * SIZES[style], number, style, anchor="middle")


def _box(axis: Axis, start: float, end: float, tall: float) -> tuple[float, float, float, float]:
    x = axis.x(start)
    return x - axis.left, 1.0, axis.x(end) - x, tall


def _waits(run: Run, stage: int) -> list[Wait]:
    """The waits of a stage; where a step has very many, its longest gaps only, each with the reason of its longest piece."""
    mine = [wait for wait in run.waits if wait.stage == stage]
    if len(run.waits) <= ASKED:
        return mine
    found: list[Wait] = []
    for start, end in run.timeline.idle_gaps(stage):
        if pieces := [wait for wait in mine if wait.start < end and wait.end > start]:
            longest = max(pieces, key=lambda wait: wait.end - wait.start)
            found.append(Wait(stage, start, end, longest.op, longest.missing, longest.owner, longest.holder))
    found.sort(key=lambda wait: wait.start - wait.end)
    return found[: ASKED // run.timeline.stages]


def ticks(picture: Composition, axis: Axis, y: float) -> None:
    """The axis of time under the lanes, a mark for each slot or each ten."""
    picture.line(axis.left, y, axis.right, y, ink="rule", stroke="thin", key="axis")
    slot = (axis.right - axis.left) / (axis.end - axis.start)
    every = 1 if slot >= 5 else 5
    first = -(-axis.start // every)
    marks = range(int(first) * every, int(axis.end) + 1, every)
    picture.path("".join(f"M{axis.x(at):.1f} {y:.1f}v4" for at in marks), ink="rule", stroke="thin")
