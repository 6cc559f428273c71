"""What a stage holds follows from its order alone, whatever its operations take: each frees what it has before the next begins."""

from collections.abc import Iterable
from functools import lru_cache

from engine.pipeline.schedules import SCHEDULES, Schedule
from engine.pipeline.schedules.base import Op

SETTLED_ROUNDS = 10  # of all stages: by then every schedule's orders repeat


def held_until_weights(schedule: Schedule, stages: int, micro_batches: int, chunks: int = 1) -> tuple[float, ...]:
    """Most micro-batches of each stage between F and the end of B or W, in units of a full stage.   [micro-batches]

    stages          of the pipeline           [count]
    micro_batches   of a step                 [count]
    chunks          of a stage (layout's vp)  [count]

    What Timeline.held_until_weights counts, without a timeline: an upper bound of what memory must hold.

    >>> from engine.pipeline.schedules import ONE_F_ONE_B
    >>> held_until_weights(ONE_F_ONE_B, 4, 16)
    (4.0, 3.0, 2.0, 1.0)
    """
    if SCHEDULES.get(schedule.name) is schedule:
        return _kept(schedule.name, stages, micro_batches, chunks)
    return _held(schedule, stages, micro_batches, chunks)


@lru_cache(maxsize=256)
def _kept(name: str, stages: int, micro_batches: int, chunks: int) -> tuple[float, ...]:
    return _held(SCHEDULES[name], stages, micro_batches, chunks)


def _held(schedule: Schedule, stages: int, micro_batches: int, chunks: int) -> tuple[float, ...]:
    placement = schedule.placement(stages, chunks)
    if schedule.phased:  # all forwards first
        return (float(micro_batches),) * stages
    period = placement.pipes * stages
    few = min(micro_batches, SETTLED_ROUNDS * period + micro_batches % period)
    return tuple(placement.chunk_share * _peak(order) for order in schedule.ops(stages, few, chunks))


def _peak(order: Iterable[Op]) -> int:
    """Most chunks held at once. Of two joined operations both begin before either ends."""
    most = held = ending = 0
    for op in order:
        if op.kind == "F":
            held += 1
            most = max(most, held)
        ending += op.kind in "BW"
        if not op.joined:
            held, ending = held - ending, 0
    return most
