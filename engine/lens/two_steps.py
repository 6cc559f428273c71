"""Two steps of a pipeline, one after the other: what is gained where no stage has to wait for all others in between.

A stage that has run its own order may update its own weights and go on, if the optimizer waits for no number that is
made of all stages' gradients, such as their global norm. The norm is then checked afterwards, and a step that should
have been clipped is undone (Qi et al. 2023, arXiv 2401.10241, section 4: post-validation).
"""

from collections.abc import Sequence

from engine.pipeline.schedules import ChunkPlacement, Op
from engine.pipeline.simulator import Durations, simulate
from engine.pipeline.timeline import Timeline


def two_steps(
    orders: Sequence[Sequence[Op]], placement: ChunkPlacement, durations: Durations, send_s: float = 0.0
) -> Timeline:
    """The timeline of a step and the next one, each stage going on as soon as it is done with its own order.

    orders   [stage] -> operations of one step; micro-batches of the next step are numbered on

    >>> from engine.pipeline.schedules import SHOWN_ONLY
    >>> from engine.pipeline.simulator import even_durations
    >>> zb_h2 = SHOWN_ONLY["zb-h2"]
    >>> placement = zb_h2.placement(4)
    >>> two_steps(zb_h2.ops(4, 8), placement, even_durations(placement, 1, 1, 1)).makespan  # one takes 27
    51.0
    """
    size = 1 + max(op.micro_batch for order in orders for op in order)
    chained = [[*order, *(op._replace(micro_batch=op.micro_batch + size) for op in order)] for order in orders]
    return simulate(chained, placement, durations, send_s)


def next_step_slots(one: Timeline, two: Timeline) -> float:
    """From the end of a step to the end of the next, where each stage goes on by itself.   [time unit]

    one, two   timelines of a step, and of two of them

    >>> next_step_slots(Timeline(1, (), 27.0), Timeline(1, (), 51.0))
    24.0
    """
    return two.makespan - one.makespan
