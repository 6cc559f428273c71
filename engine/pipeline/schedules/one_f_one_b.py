"""1F1B: a backward runs as soon as it can, so a stage holds no more micro-batches than there are stages from it on.

    stage 0   F0 F1 F2       B0 F3 B1    B2    B3
    stage 1      F0 F1    B0 F2 B1 F3 B2    B3
    stage 2         F0 B0 F1 B1 F2 B2 F3 B3            (p = 3, m = 4)

B is drawn as long as F.
"""

from engine.pipeline.bubble import bubble_of_ideal, bubble_of_total, bubble_s
from engine.pipeline.in_flight import in_flight_1f1b
from engine.pipeline.schedules.base import Closed, Op, Schedule, Shape


def order(stage: int, shape: Shape) -> list[Op]:
    """Stage i runs p - i - 1 forwards ahead, then one forward and one backward in turn, then drains."""
    m = shape.micro_batches
    ahead = min(m, shape.stages - stage - 1)
    steady = [op for n in range(m - ahead) for op in (Op("F", n + ahead, 0), Op("B", n, 0))]
    return [Op("F", n, 0) for n in range(ahead)] + steady + [Op("B", n, 0) for n in range(m - ahead, m)]


ONE_F_ONE_B = Schedule(
    name="1f1b",
    title="1F1B",
    idea="Start each backward as early as possible: the same bubble as GPipe, far fewer activations held.",
    source="Narayanan et al. 2021, section 2.2 (PipeDream-Flush)",
    order=order,
    simple=True,
    closed=Closed(in_flight_1f1b, bubble_s, bubble_of_total, bubble_of_ideal),
    torch_name="1F1B",
    megatron=True,
)
