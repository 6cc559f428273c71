"""Zero-bubble schedules: a neighbour waits only for the input gradient (I); the weight gradient (W) is filler.

ZB-H1 keeps 1F1B's memory: stage i runs p - i - 1 forwards ahead and holds back i weight gradients, which fill its
cool-down. ZB-H2 fills the warm-up as well, with up to 2p - 1 micro-batches in flight: the step becomes a parallelogram.

    stage 0   F0 F1 F2       I0 W0 F3 I1 W1 I2 W2 I3 W3
    stage 1      F0 F1    I0 F2 I1 W0 F3 I2 W1 I3 W2 W3
    stage 2         F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3    (ZB-H1, p = 3, m = 4)
"""

from engine.pipeline.bubble import zb_h1_bubble_of_ideal, zb_h1_bubble_s, zb_h2_bubble_s
from engine.pipeline.in_flight import in_flight_1f1b
from engine.pipeline.schedules.base import Closed, Op, Schedule, Shape


def _order(shape: Shape, ahead: int, late: int) -> list[Op]:
    """`ahead` forwards before the first I, and W always `late` micro-batches behind I, the rest at the end."""
    m = shape.micro_batches
    ops = [Op("F", n, 0) for n in range(min(m, ahead))]
    for n in range(m):
        ops.append(Op("I", n, 0))
        if n >= late:
            ops.append(Op("W", n - late, 0))
        if n + ahead < m:
            ops.append(Op("F", n + ahead, 0))
    return ops + [Op("W", n, 0) for n in range(max(0, m - late), m)]


def order_h1(stage: int, shape: Shape) -> list[Op]:
    """p - i micro-batches ahead, W behind I by i: together p on every stage."""
    return _order(shape, ahead=shape.stages - stage, late=stage)


def order_h2(stage: int, shape: Shape) -> list[Op]:
    """2 (p - i) - 1 micro-batches ahead, W behind I by 2 i: together 2p - 1 on every stage."""
    return _order(shape, ahead=2 * (shape.stages - stage) - 1, late=2 * stage)


ZB_H1 = Schedule(
    name="zb-h1",
    title="ZB-H1",
    idea="Split the backward: send the input gradient on at once, compute weight gradients where 1F1B would idle.",
    source="Qi et al. 2023 (arXiv 2401.10241), section 2.1",
    order=order_h1,
    splits_backward=True,
    closed=Closed(
        in_flight_1f1b, zb_h1_bubble_s, bubble_of_ideal=zb_h1_bubble_of_ideal, filled_from=lambda stages: stages
    ),
)

ZB_H2 = Schedule(
    name="zb-h2",
    title="ZB-H2",
    idea="Run further ahead as well: no stage idles between its first and last operation, at twice the memory.",
    source="Qi et al. 2023 (arXiv 2401.10241), section 2.2; needs an optimiser step that may be rolled back",
    order=order_h2,
    splits_backward=True,
    closed=Closed(bubble_s=zb_h2_bubble_s, filled_from=lambda stages: 2 * stages - 1, any_times=False),
)
