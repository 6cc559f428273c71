"""Interleaved 1F1B: each stage holds v thin chunks, so the pipe fills and drains v times faster.

Micro-batches pass in groups of p: a group goes through chunk 0 of all stages, then through chunk 1, and so on.

    stage 0   F0 F1 f0 f1 F2 b0 F3 b1 f2 ...    (p = 2, v = 2; capitals are chunk 0)
"""

from functools import lru_cache

from engine.language.refusal import Refusal
from engine.pipeline.bubble import bubble_of_ideal, bubble_of_total, bubble_s
from engine.pipeline.in_flight import in_flight_interleaved
from engine.pipeline.schedules.base import Closed, Op, Schedule, Shape, nearest_multiples
from engine.pipeline.schedules.one_f_one_b import ONE_F_ONE_B

CODE = "interleave-illegal"


def order(stage: int, shape: Shape) -> list[Op]:
    """Stage i runs 2 (p - i - 1) + (v - 1) p chunks ahead, then one forward and one backward chunk in turn."""
    p, m, v = shape
    if v == 1:
        return ONE_F_ONE_B.order(stage, shape)
    total = m * v
    ahead = min(total, 2 * (p - stage - 1) + (v - 1) * p)
    forward, backward = _passes(shape)
    steady = [op for pair in zip(forward[ahead:], backward, strict=False) for op in pair]
    return forward[:ahead] + steady + backward[total - ahead :]


@lru_cache(maxsize=1)  # the stages of a pipe ask for theirs one after the other
def _passes(shape: Shape) -> tuple[list[Op], list[Op]]:
    """All forwards and all backwards of a stage, in order: every stage has the same."""
    p, m, v = shape
    places = [_place(k, p, v) for k in range(m * v)]
    return [Op("F", n, chunk) for n, chunk in places], [Op("B", n, v - 1 - chunk) for n, chunk in places]


def _place(k: int, p: int, v: int) -> tuple[int, int]:
    """Micro-batch and chunk of a stage's k-th forward."""
    group, rest = divmod(k, p * v)
    return group * p + rest % p, rest // p


def _whole_groups(shape: Shape) -> None:
    if shape.chunks == 1:
        return
    if shape.stages < 2:
        raise Refusal("layout.pp", shape.stages, "interleaving chunks needs at least two stages", "2, or vp=1", CODE)
    if shape.micro_batches % shape.stages:
        rule = f"the interleaved schedule passes micro-batches in groups of pp={shape.stages}, so it needs a multiple"
        near = nearest_multiples(shape.micro_batches, shape.stages)
        raise Refusal("layout.micro_batches", shape.micro_batches, rule, near, CODE)


INTERLEAVED = Schedule(
    name="interleaved",
    title="Interleaved 1F1B",
    idea="Give each stage v thin chunks: the bubble shrinks v times, the sends grow v times.",
    source="Narayanan et al. 2021, section 2.2; warm-up count of Megatron-LM",
    order=order,
    chunks_text="vp chunks per stage, vp at least 2 (vp=1 is 1F1B)",
    own_chunks=None,
    with_one_chunk=ONE_F_ONE_B,
    rules=(_whole_groups,),
    round_of=lambda shape: 1 if shape.chunks == 1 else shape.stages,
    closed=Closed(in_flight_interleaved, bubble_s, bubble_of_total, bubble_of_ideal),
    torch_name="Interleaved1F1B",
    megatron=True,
)
