"""Pipeline parallelism by PyTorch's own schedules, on stages that all take the same time."""

from torch import nn

from app.runner.strategies.base import Rank, adamw, world
from app.runner.strategies.padded import Padded
from app.runner.strategies.staged import Pipelined, only_part, pipeline_schedule, stage_of
from app.runner.torch_schedules import TORCH_SCHEDULES


def build(rank: Rank) -> Pipelined:
    """Keep the parts that the schedule's placement gives to this rank."""
    known = TORCH_SCHEDULES[str(rank.job.params["schedule"])]
    placement = known.own.placement(rank.ranks, known.chunks)
    mine, parts = [place.position for place in placement.places[rank.index]], placement.positions
    model = nn.ModuleList(only_part(rank.model(), part, parts) for part in mine)
    stages = [stage_of(rank, module, part, parts, world()) for module, part in zip(model, mine, strict=True)]
    padded = Padded(rank, rank.job.whole("slot_ms") / 1e3 / known.chunks)
    padded.watch(stages)
    schedule = pipeline_schedule(known.name, stages, rank.job.whole("micro_batches"))
    return Pipelined(
        model,
        adamw(model),
        groups={"pp": world()},
        coordinates={"pp": rank.index},
        stages=stages,
        schedule=schedule,
        before=padded.begin,
        after=padded.tell,
    )
