"""What a stage holds follows from its order alone, whatever its operations take: each frees what it has before the next begins."""

from engine.pipeline.orders import orders_of, short_of
from engine.pipeline.schedules import Schedule


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
    placement = schedule.placement(stages, chunks)
    if schedule.phased:  # all forwards first
        return (float(micro_batches),) * stages
    few = short_of(schedule, stages, micro_batches, chunks)
    return tuple(placement.chunk_share * most for most in orders_of(schedule, stages, few, chunks).most_held("BW"))
