"""DualPipeV: DualPipe cut in half. The model is folded into a V, so one copy of the parameters is enough."""

from engine.pipeline.bubble import dualpipev_bubble_s
from engine.pipeline.in_flight import in_flight_dualpipev
from engine.pipeline.schedules.base import Closed, Op, Schedule, Shape
from engine.pipeline.schedules.eight_steps import eight_steps, enough_micro_batches
from engine.pipeline.schedules.placement import fold


def order(stage: int, shape: Shape) -> list[Op]:
    """All stages are on the near side of the turning point, which is the last stage."""
    return eight_steps(stage, shape.stages, shape.micro_batches)


DUALPIPEV = Schedule(
    name="dualpipev",
    title="DualPipeV",
    idea="DualPipe's order on a model folded into a V: the two directions without a second copy of the parameters.",
    source="public DualPipe code (DualPipeV); Sea AI Lab's cut-in-half note of 2025",
    order=order,
    arrange=fold,
    chunks_text="its own two chunks per stage, in a V",
    own_chunks=2,
    rules=(enough_micro_batches,),
    splits_backward=True,
    paired=True,
    closed=Closed(in_flight_dualpipev, dualpipev_bubble_s, any_times=False),
    torch_name="DualPipeV",
)
