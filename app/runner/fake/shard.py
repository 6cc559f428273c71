"""The stage cut by the framework: DTensor tensor and sequence parallelism inside, FSDP2 across data-parallel ranks."""

import torch
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)

from app.runner.fake.llama import LlamaStage

# BF16 on the wire for weights, FP32 for gradients: what the engine's zero 1 with gradient_bytes 4 says
MIXED = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)


def cut(stage: LlamaStage, tp: DeviceMesh, dp: DeviceMesh) -> None:
    """Cut a stage over its mesh, in place.

    Weights stay gathered between the passes (reshard_after_forward=False), and a pipeline schedule scatters gradients
    once, after the last micro-batch: one gather and one scatter a step, as the engine says of ZeRO-1.
    """
    if tp.size() > 1:
        _cut_tensors(stage, tp)
    for layer in stage.layers:
        fully_shard(layer, mesh=dp, mp_policy=MIXED, reshard_after_forward=False)
    fully_shard(stage, mesh=dp, mp_policy=MIXED, reshard_after_forward=False)


def _cut_tensors(stage: LlamaStage, tp: DeviceMesh) -> None:
    gathered = {"input_layouts": (Shard(1),), "desired_input_layouts": (Replicate(),), "use_local_output": False}
    # One gather before q, k and v: without PrepareModuleInput each of the three would gather for itself
    attention = PrepareModuleInput(
        input_layouts=(Shard(1), None, None), desired_input_layouts=(Replicate(), None, None)
    )
    for layer in stage.layers:
        plan = {
            "attention_norm": SequenceParallel(),
            "attention": attention,
            "attention.wq": ColwiseParallel(),
            "attention.wk": ColwiseParallel(),
            "attention.wv": ColwiseParallel(),
            "attention.wo": RowwiseParallel(output_layouts=Shard(1)),
            "mlp_norm": SequenceParallel(),
            "mlp": PrepareModuleInput(**gathered),
            "mlp.w1": ColwiseParallel(),
            "mlp.w3": ColwiseParallel(),
            "mlp.w2": RowwiseParallel(output_layouts=Shard(1)),
        }
        parallelize_module(layer, tp, plan)
    if stage.first:
        parallelize_module(
            stage, tp, {"embedding": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1))}
        )
    if stage.last:
        head = ColwiseParallel(input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False)
        parallelize_module(stage, tp, {"norm": SequenceParallel(), "head": head})
