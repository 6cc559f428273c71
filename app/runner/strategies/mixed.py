"""Pipeline, fully sharded data parallelism and tensor parallelism on one mesh: each by PyTorch's own, from outside in."""

from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard

from app.runner.rank.gpt import Gpt
from app.runner.strategies.base import Rank, Trained, Training, adamw
from app.runner.strategies.staged import Pipelined, only_part, pipeline_schedule, stage_of
from app.runner.strategies.tp import cut

AXES = ("pp", "dp", "tp")


def build(rank: Rank) -> Trained:
    """A mesh of the axes that this mix has; the others have one rank."""
    degrees = {axis: int(rank.job.params.get(axis, 1)) for axis in AXES}
    mesh = init_device_mesh(rank.device.type, tuple(degrees.values()), mesh_dim_names=AXES)
    places = {axis: mesh.get_local_rank(axis) for axis in AXES}
    model = only_part(rank.model(), places["pp"], degrees["pp"])
    if degrees["tp"] > 1:
        model = cut(model, mesh["tp"])
    if degrees["dp"] > 1:
        sharded(model, mesh["dp"], reshard=degrees["pp"] == 1)
    used = [axis for axis in AXES if degrees[axis] > 1]
    groups, coordinates = {axis: mesh.get_group(axis) for axis in used}, {axis: places[axis] for axis in used}
    part = (places["dp"], degrees["dp"])
    if degrees["pp"] == 1:
        return Training(model, adamw(model), groups, coordinates, part)
    stages = [stage_of(rank, model, places["pp"], degrees["pp"], groups["pp"])]
    schedule = pipeline_schedule("1F1B", stages, rank.job.whole("micro_batches"))
    return Pipelined(model, adamw(model), groups, coordinates, stages, schedule, part)


def sharded(model: Gpt, mesh: DeviceMesh, reshard: bool) -> None:
    """Cut each block, and what is left, over the data-parallel ranks.

    reshard   free a block after its forward; beside a pipeline it would be gathered anew for each micro-batch
    """
    for block in model.blocks.values():
        fully_shard(block, mesh=mesh, reshard_after_forward=reshard)
    fully_shard(model, mesh=mesh, reshard_after_forward=False)
