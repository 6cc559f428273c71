"""The schedules of torch.distributed.pipelining as the engine's own: what its simulator needs to say what a run will show.

Those that the engine knows by PyTorch's name are its own. Two more are written here as PyTorch's classes order them; the
tests compare each with the orders that PyTorch gives.
"""

from collections import deque
from dataclasses import dataclass

from engine.language.refusal import Refusal
from engine.pipeline.bubble import bubble_of_total
from engine.pipeline.schedules import SCHEDULES
from engine.pipeline.schedules.base import Closed, Op, Rule, Schedule, Shape, nearest_multiples
from engine.pipeline.schedules.one_f_one_b import ONE_F_ONE_B
from engine.pipeline.simulator import run_schedule
from engine.pipeline.timeline import Timeline

CHUNKS = 2  # of a stage where the layout would decide
FORWARD, BACKWARD_INPUT, BACKWARD_WEIGHT = 1.0, 1.0, 1.0  # of a full stage; a full backward takes both parts


def breadth_first(stage: int, shape: Shape) -> list[Op]:
    """All micro-batches through a chunk before the next chunk; then all back, the last first."""
    _, m, v = shape
    forward = [Op("F", n, chunk) for chunk in range(v) for n in range(m)]
    return forward + [Op("B", op.micro_batch, op.chunk) for op in reversed(forward)]


def interleaved_zero_bubble(stage: int, shape: Shape) -> list[Op]:
    """Interleaved, with half the ramp: stage i lets i weight gradients wait, and works them off at the end."""
    p, m, v = shape
    total, ahead = m * v, min(m * v, p - stage - 1 + (v - 1) * p)
    places = [(k // (p * v) * p + k % p, k % (p * v) // p) for k in range(total)]
    forward = [Op("F", n, chunk) for n, chunk in places]
    backward = [Op("I", n, v - 1 - chunk) for n, chunk in places]
    ops, waiting = forward[:ahead], deque[Op]()
    for k, op in enumerate(backward):
        ops += [*forward[ahead + k : ahead + k + 1], op]
        waiting.append(op._replace(kind="W"))
        if k >= stage:
            ops.append(waiting.popleft())
    return [*ops, *waiting]


def as_many_as_stages(shape: Shape) -> None:
    """PyTorch's 1F1B refuses fewer."""
    if shape.micro_batches < shape.stages:
        rule = f"1F1B in PyTorch needs at least as many micro-batches as stages, {shape.stages}"
        raise Refusal("micro_batches", shape.micro_batches, rule, str(shape.stages), "too-few")


def whole_groups(shape: Shape) -> None:
    """As the engine's interleaved schedule. PyTorch also takes numbers that it can cut into other equal groups."""
    if shape.micro_batches % shape.stages:
        rule = f"micro-batches pass in groups of pp = {shape.stages}, so it needs a multiple"
        raise Refusal(
            "micro_batches", shape.micro_batches, rule, nearest_multiples(shape.micro_batches, shape.stages), "divides"
        )


LOOPED_BFS = Schedule(
    "looped-bfs",
    "Looped BFS",
    "All micro-batches through one chunk, then through the next.",
    "Lamy-Poirier 2022 (arXiv 2211.05953); order as in torch.distributed.pipelining",
    breadth_first,
    own_chunks=2,
    phased=True,
    closed=Closed(bubble_of_total=bubble_of_total),
    torch_name="LoopedBFS",
)
INTERLEAVED_ZB = Schedule(
    "interleaved-zb",
    "Interleaved zero bubble",
    "Interleaved chunks whose weight gradients fill the drain.",
    "Qi et al. 2023 (arXiv 2401.10241), ZB1P; order as in torch.distributed.pipelining",
    interleaved_zero_bubble,
    own_chunks=2,
    rules=(whole_groups,),
    splits_backward=True,
    torch_name="InterleavedZeroBubble",
)


@dataclass(frozen=True)
class TorchSchedule:
    """A schedule that PyTorch has.

    own     the same order, as the engine writes it
    rule    what PyTorch asks for beyond the engine
    """

    own: Schedule
    rule: Rule | None = None

    @property
    def name(self) -> str:
        """Of PyTorch's class."""
        return self.own.torch_name

    @property
    def chunks(self) -> int:
        """Chunks of a stage: the schedule's own, or two.   [count]"""
        return self.own.own_chunks or CHUNKS

    def check(self, stages: int, micro_batches: int) -> None:
        """Refuse a shape that it cannot run, naming the knobs of a demo."""
        try:
            self.own.check(stages, micro_batches, self.chunks)
            if self.rule:
                self.rule(Shape(stages, micro_batches, self.chunks))
        except Refusal as refusal:
            field = refusal.field.removeprefix("layout.")
            raise Refusal(field, refusal.value, refusal.rule, refusal.nearest, refusal.code) from None

    def timeline(self, stages: int, micro_batches: int) -> Timeline:
        """The exact timeline of equal stages, a forward of a full stage taking 1."""
        times = FORWARD, BACKWARD_INPUT, BACKWARD_WEIGHT
        return run_schedule(self.own, stages, micro_batches, self.chunks, *times)


RULES = {ONE_F_ONE_B: as_many_as_stages}
TORCH_SCHEDULES = {
    schedule.torch_name: TorchSchedule(schedule, RULES.get(schedule))
    for schedule in (*SCHEDULES.values(), LOOPED_BFS, INTERLEAVED_ZB)
    if schedule.torch_name
}
