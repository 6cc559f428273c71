"""FSDP2: fully_shard on each block and on the root; every tensor is cut by rows over the ranks and gathered when needed."""

import torch
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

from app.runner.rank.gpt import Gpt
from app.runner.strategies.base import Rank, Training, adamw


def build(rank: Rank) -> Training:
    """Shard over all ranks."""
    mesh = init_device_mesh(rank.device.type, (rank.ranks,), mesh_dim_names=("dp",))
    model = sharded(rank, rank.model(), mesh)
    return Training(
        model,
        adamw(model),
        groups={"dp": mesh.get_group("dp")},
        coordinates={"dp": rank.index},
        part=(rank.index, rank.ranks),
    )


def sharded(rank: Rank, model: Gpt, mesh: DeviceMesh) -> Gpt:
    """The model, each block a unit of its own, and what is left in the root's."""
    reshard = str(rank.job.params.get("reshard", "blocks"))
    half = rank.job.params.get("precision") == "bf16"
    policy = MixedPrecisionPolicy(torch.bfloat16, torch.float32) if half else MixedPrecisionPolicy()
    for block in model.blocks.values():
        fully_shard(block, mesh=mesh, mp_policy=policy, reshard_after_forward=reshard != "none")
    fully_shard(model, mesh=mesh, mp_policy=policy, reshard_after_forward=reshard == "all")
    return model
