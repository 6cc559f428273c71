"""GPipe: all forwards, then all backwards.

    stage 0   F0 F1 F2          B0 B1 B2
    stage 1      F0 F1 F2 B0 B1 B2            (p = 2, m = 3)

B is drawn as long as F.
"""

from engine.pipeline.bubble import bubble_of_ideal, bubble_of_total, bubble_s
from engine.pipeline.in_flight import in_flight_gpipe
from engine.pipeline.schedules.base import Closed, Op, Schedule, Shape


def order(stage: int, shape: Shape) -> list[Op]:
    """Every stage has the same order."""
    return [Op(kind, n, 0) for kind in "FB" for n in range(shape.micro_batches)]


GPIPE = Schedule(
    name="gpipe",
    title="GPipe",
    idea="Cut the batch into micro-batches so that stages overlap; every activation waits for the last forward.",
    source="Huang et al. 2019, section 2.3",
    order=order,
    phased=True,
    simple=True,
    closed=Closed(in_flight_gpipe, bubble_s, bubble_of_total, bubble_of_ideal),
    torch_name="GPipe",
)
