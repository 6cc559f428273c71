"""A pipeline step as it really ran, from the `pipe` events of its ranks: the Timeline that the simulator gives too."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.live.events import of_kind
from app.runner.event_kinds import Pipe, RunEvent
from engine.pipeline.timeline import Interval, Timeline

SHORTEST_S = 1e-9  # a clock tells no less


def pipe_steps(events: Sequence[RunEvent]) -> list[int]:
    """Steps of which there are pipe events."""
    return sorted({pipe.step for pipe in of_kind(events, Pipe)})


def measured_timeline(events: Sequence[RunEvent], step: int) -> Timeline | None:
    """The timeline of one step, in seconds from its first operation; None where nothing was said, or all of it at once.

    An operation's `stage` counts the parts of the model; a stage of the timeline is a rank, its parts are its chunks.

    >>> from app.runner.event_parts import PipeOp
    >>> op = PipeOp("F", stage=0, mb=0, t0=5.0, t1=5.5)
    >>> measured_timeline([Pipe(6.0, rank=0, step=1, ops=(op,), queued_s=0.0)], 1).intervals
    (Interval(stage=0, kind='F', micro_batch=0, chunk=0, start=0.0, end=0.5),)
    """
    said = {pipe.rank: pipe.ops for pipe in _of(events, step) if pipe.ops and isinstance(pipe.rank, int)}
    if not said:
        return None
    zero = min(op.t0 for ops in said.values() for op in ops)
    rows, parts = [], set[int]()
    for place, rank in enumerate(sorted(said)):
        mine = sorted({op.stage for op in said[rank]})
        parts |= set(mine)
        rows += [
            Interval(place, op.kind, op.mb, mine.index(op.stage), op.t0 - zero, op.t1 - zero)
            for op in sorted(said[rank], key=lambda op: op.t0)
        ]
    makespan = max(row.end for row in rows)
    return Timeline(len(said), tuple(rows), makespan, len(said) / len(parts)) if makespan >= SHORTEST_S else None


@dataclass(frozen=True)
class Disturbance:
    """What kept a step from its slots.

    late, ops   operations that took longer than their slot, and all operations
    queued_s    time in which a rank wanted a processor that others had, of the rank that waited most   [s]
    """

    late: int
    ops: int
    queued_s: float


def disturbance(events: Sequence[RunEvent], step: int) -> Disturbance:
    """What the ranks said about this step."""
    said = _of(events, step)
    ops = [op for pipe in said for op in pipe.ops]
    return Disturbance(
        sum(op.overrun for op in ops), len(ops), max((pipe.queued_s or 0.0 for pipe in said), default=0.0)
    )


def _of(events: Sequence[RunEvent], step: int) -> list[Pipe]:
    return [pipe for pipe in of_kind(events, Pipe) if pipe.step == step]
