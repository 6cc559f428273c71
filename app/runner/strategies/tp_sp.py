"""Tensor with sequence parallelism: between the cut matrices each rank keeps only its slice of the tokens."""

import torch.nn.functional as F
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    PrepareModuleOutput,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)

from app.runner.rank.gpt import Gpt
from app.runner.strategies.base import Rank, Training, adamw

TOKENS = Shard(1)  # dim 1 of [batch, tokens, hidden]


def build(rank: Rank) -> Training:
    """Cut matrices and tokens over all ranks; the loss too, where asked for."""
    mesh = init_device_mesh(rank.device.type, (rank.ranks,), mesh_dim_names=("tp",))
    spread = rank.job.params["loss"] == "parallel"
    model = cut(rank.model(), mesh, spread)
    made = Training(model, adamw(model), groups={"tp": mesh.get_group("tp")}, coordinates={"tp": rank.index})
    if spread:
        made.loss, made.around = spread_loss, loss_parallel
    return made


def cut(model: Gpt, mesh: DeviceMesh, spread_logits: bool) -> Gpt:
    """The model with matrices cut, and tokens cut wherever they are not gathered for a matrix.

    spread_logits   each rank keeps the logits of its part of the vocabulary
    """
    gathered = {"input_layouts": TOKENS, "desired_input_layouts": Replicate()}
    plan = {
        "norm1": SequenceParallel(),
        "attention": PrepareModuleInput(**gathered),
        **{f"attention.{name}": ColwiseParallel() for name in ("wq", "wk", "wv")},
        "attention.wo": RowwiseParallel(output_layouts=TOKENS),
        "norm2": SequenceParallel(),
        "mlp": PrepareModuleInput(**gathered),
        "mlp.w1": ColwiseParallel(),
        "mlp.w2": RowwiseParallel(output_layouts=TOKENS),
    }
    for block in model.blocks.values():
        parallelize_module(block, mesh, plan)
    logits = Shard(-1) if spread_logits else Replicate()
    head = ColwiseParallel(input_layouts=TOKENS, output_layouts=logits, use_local_output=not spread_logits)
    embed = PrepareModuleOutput(output_layouts=Replicate(), desired_output_layouts=TOKENS)
    parallelize_module(model, mesh, {"embed": embed, "norm": SequenceParallel(), "head": head})
    return model


def spread_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross entropy over a vocabulary that no rank holds whole."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())
