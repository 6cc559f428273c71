"""DualPipeV: DualPipe cut in half. The model is folded into a V, so one copy of the parameters is enough."""

from engine.pipeline.schedules.base import Op, Schedule, Shape
from engine.pipeline.schedules.dualpipe import eight_steps, enough_micro_batches
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
)
