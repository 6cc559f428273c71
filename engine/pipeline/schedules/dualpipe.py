"""DualPipe: micro-batches enter from both ends, so a forward of one direction always meets a backward of the other.

Each device holds two parts of the model, one for each direction, and so two copies of the parameters per stage.
"""

from engine.language.refusal import Refusal
from engine.pipeline.bubble import dualpipe_bubble_s
from engine.pipeline.in_flight import in_flight_dualpipe
from engine.pipeline.schedules.base import Closed, Op, Schedule, Shape, nearest_multiples
from engine.pipeline.schedules.dualpipev import DUALPIPEV
from engine.pipeline.schedules.eight_steps import eight_steps, enough_micro_batches
from engine.pipeline.schedules.placement import both_ways


def order(stage: int, shape: Shape) -> list[Op]:
    """The second half of the devices mirrors the first: their part 0 is the other direction."""
    half, rounds = shape.stages // 2, shape.micro_batches // 2
    mirrored = stage >= half
    depth = shape.stages - 1 - stage if mirrored else stage
    return [
        Op(kind, n + rounds * (part ^ mirrored), part ^ mirrored, joined)
        for kind, n, part, joined in eight_steps(depth, half, rounds)
    ]


def _pairs(shape: Shape) -> None:
    if shape.stages % 2:
        rule = "DualPipe runs two pipes in opposite directions and needs an even number of stages"
        raise Refusal("layout.pp", shape.stages, rule, nearest_multiples(shape.stages, 2))
    if shape.micro_batches % 2:
        rule = "DualPipe sends half of the micro-batches in from each end and needs an even number"
        near = str(max(shape.micro_batches + 1, 2 * shape.stages))
        raise Refusal("layout.micro_batches", shape.micro_batches, rule, near)


DUALPIPE = Schedule(
    name="dualpipe",
    title="DualPipe",
    idea="Feed the pipe from both ends: a small bubble, and a backward beside each forward to hide communication.",
    source="DeepSeek-V3 report (arXiv 2412.19437), section 3.2.1; order of the public DualPipe code",
    order=order,
    arrange=both_ways,
    chunks_text="its own two parts per stage, one for each direction",
    own_chunks=2,
    rules=(_pairs, enough_micro_batches),
    splits_backward=True,
    round_of=lambda shape: 2,
    parameter_copies=2,
    paired=True,
    closed=Closed(in_flight_dualpipe, dualpipe_bubble_s, any_times=False),
    stand_in=DUALPIPEV,
)
