"""HSDP: FSDP2 on a mesh of two dims. Tensors are cut inside a group of ranks and copied across groups."""

from torch.distributed.device_mesh import init_device_mesh

from app.runner.strategies.base import Rank, Training, adamw
from app.runner.strategies.fsdp2 import sharded


def build(rank: Rank) -> Training:
    """Copies first, shards second: the ranks of a shard group stand next to each other."""
    axes = ("dp_replicate", "dp_shard")
    mesh = init_device_mesh(rank.device.type, tuple(rank.job.whole(axis) for axis in axes), mesh_dim_names=axes)
    model = sharded(rank, rank.model(), mesh)
    return Training(
        model,
        adamw(model),
        groups={axis: mesh.get_group(axis) for axis in axes},
        coordinates={axis: mesh.get_local_rank(axis) for axis in axes},
        part=(rank.index, rank.ranks),
    )
