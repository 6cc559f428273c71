"""Tensor parallelism as Megatron cuts it: columns of the first matrix, rows of the second, one sum after each pair."""

from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import Replicate
from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, RowwiseParallel, parallelize_module
from torch.distributed.tensor.parallel.style import ParallelStyle

from app.runner.rank.gpt import Gpt
from app.runner.strategies.base import Rank, Training, adamw


def build(rank: Rank) -> Training:
    """Cut every block and the head over all ranks; each sees the whole batch."""
    mesh = init_device_mesh(rank.device.type, (rank.ranks,), mesh_dim_names=("tp",))
    model = cut(rank.model(), mesh, shared_input=rank.job.params["inputs"] == "shared")
    return Training(model, adamw(model), groups={"tp": mesh.get_group("tp")}, coordinates={"tp": rank.index})


def cut(model: Gpt, mesh: DeviceMesh, shared_input: bool = True) -> Gpt:
    """The model with its matrices cut over the mesh; embeddings and norms stay whole.

    shared_input   queries, keys and values take one input, so that its gradient is summed once and not three times
    """
    plan: dict[str, ParallelStyle] = {
        "attention.wo": RowwiseParallel(),
        "mlp.w1": ColwiseParallel(),
        "mlp.w2": RowwiseParallel(),
    }
    plan |= {f"attention.{name}": ColwiseParallel() for name in ("wq", "wk", "wv")}
    if shared_input:
        same = {"input_layouts": Replicate(), "desired_input_layouts": Replicate(), "use_local_output": False}
        plan |= {"attention": PrepareModuleInput(**same), "mlp": PrepareModuleInput(**same)}
    for block in model.blocks.values():
        parallelize_module(block, mesh, plan)
    parallelize_module(model, mesh, {"head": ColwiseParallel(output_layouts=Replicate())})
    return model
