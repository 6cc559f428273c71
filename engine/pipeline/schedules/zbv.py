"""ZB-V: two half-size chunks per stage in a V, backward split. The last part of the model sits on stage 0 again, so its
backward can start where the forward came from, and every stage holds the same number of activations.

    stage 0   F0 F1 F2 f0 i0 w0 f1 i1 w1 I0 W0 f2 i2 w2 I1 W1 I2 W2
    stage 1      F0 f0 F1 f1 i0 w0 F2 I0 W0 f2 i1 w1 I1 i2 I2 W1 w2 W2    (p = 2, m = 3; capitals are chunk 0)
"""

from engine.pipeline.bubble import zb_v_bubble_s
from engine.pipeline.in_flight import in_flight_zb_v
from engine.pipeline.schedules.base import Closed, Op, Schedule, Shape
from engine.pipeline.schedules.placement import fold


def order(stage: int, shape: Shape) -> list[Op]:
    """The hand-made order for F = I = W. Fewer micro-batches than 2p - 1 leave holes in it, never a deadlock."""
    p = shape.stages
    m = max(shape.micro_batches, 2 * p - 1)
    forward = [2 * (p - stage) - 1, 0]  # next micro-batch of each chunk
    backward = [0, 0]
    ops = [Op("F", n, 0) for n in range(forward[0])]

    def add(kinds: str, chunk: int) -> None:
        done = forward if kinds == "F" else backward
        ops.extend(Op(kind, done[chunk], chunk) for kind in kinds)
        done[chunk] += 1

    for _ in range(stage):
        add("F", 1)
        add("F", 0)
    for _ in range(p - stage):
        add("F", 1)
        add("IW", 1)
    while forward[1] < m:
        if forward[0] < m:
            add("F", 0)
        add("IW", 0)
        add("F", 1)
        add("IW", 1)
    ops += _drain(stage, p, backward)
    return [op for op in ops if op.micro_batch < shape.micro_batches]


def _drain(stage: int, p: int, backward: list[int]) -> list[Op]:
    """The last input gradients, then the weight gradients that they left behind."""
    back0, back1 = backward
    ops: list[Op] = []
    for n in range(stage):
        ops += [Op("I", back0 + n, 0), Op("I", back1 + n, 1)]
    for n in range(p - stage):
        ops += [Op("I", back0 + stage + n, 0), Op("W", back0 + n, 0)]
    ops += [Op("W", back1 + n, 1) for n in range(stage)]
    return ops + [Op("W", back0 + n, 0) for n in range(p - stage, p)]


ZB_V = Schedule(
    name="zb-v",
    title="ZB-V",
    idea="Fold the model into a V and split the backward: no idling when F = I = W, with 1F1B's memory on every stage.",
    source="Qi et al. 2023 (arXiv 2401.10241), section 6; order as in torch.distributed.pipelining",
    order=order,
    arrange=fold,
    chunks_text="its own two chunks per stage, in a V",
    own_chunks=2,
    splits_backward=True,
    closed=Closed(in_flight_zb_v, zb_v_bubble_s, filled_from=lambda stages: 2 * stages - 1, any_times=False),
    torch_name="ZBVZeroBubble",
)
