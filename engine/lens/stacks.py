"""What a stage of a pipeline keeps for backward passes to come, micro-batch by micro-batch, and how long it has waited."""

from typing import NamedTuple

from engine.pipeline.timeline import Timeline


class Kept(NamedTuple):
    """Activations of one micro-batch in one chunk of a stage, in the time unit of the timeline.

    taken    when its forward starts
    freed    when its backward ends, or the input-gradient part of it: Timeline.memory_over_time counts until then
    let_go   when nothing of it is needed any more: after the weight-gradient part, where that runs by itself
    """

    micro_batch: int
    chunk: int
    taken: float
    freed: float
    let_go: float


def kept(timeline: Timeline, stage: int) -> tuple[Kept, ...]:
    """All that a stage keeps in a step, in the order in which it is taken.

    >>> from engine.pipeline.simulator import run
    >>> kept(run("zb-h1", stages=2, micro_batches=1), 0)
    (Kept(micro_batch=0, chunk=0, taken=0.0, freed=4.0, let_go=5.0),)
    """
    row = timeline.by_stage[stage]
    ends = {(op.kind, op.micro_batch, op.chunk): op.end for op in row}
    found = []
    for op in row:
        if op.kind == "F":
            of = (op.micro_batch, op.chunk)
            freed = next(ends[kind, *of] for kind in "BI" if (kind, *of) in ends)
            found.append(Kept(*of, op.start, freed, ends.get(("W", *of), freed)))
    return tuple(found)


Gaps = tuple[tuple[float, float], ...]


def idle(timeline: Timeline) -> Gaps:
    """From when to when any stage has nothing to run, stage by stage.   [time unit of the timeline]"""
    return tuple(gap for stage in range(timeline.stages) for gap in timeline.idle_gaps(stage))


def waited(gaps: Gaps, moment: float) -> float:
    """How long all stages together have had nothing to run by a moment of the step.   [time unit, summed over stages]

    gaps   what `idle` gives

    >>> from engine.pipeline.simulator import run
    >>> waited(idle(run("1f1b", stages=2, micro_batches=1)), 2.0)
    2.0
    """
    return sum(min(end, moment) - start for start, end in gaps if start < moment)
