"""One stage under the framework's own 1F1B schedule, with no neighbour to talk to."""

from collections.abc import Callable

import torch
from torch import nn
from torch.distributed import ProcessGroup
from torch.distributed.pipelining import PipelineStage, Schedule1F1B
from torch.distributed.pipelining._utils import InferenceMode
from torch.distributed.tensor.parallel import loss_parallel
from torch.nn import functional as F

from app.runner.fake.request import FakeRequest
from app.runner.fake.roles import Role

CPU = torch.device("cpu")


class StaticSchedule(Schedule1F1B):
    """1F1B that knows its shapes. The stages' vote on them receives zeros from fake neighbours and would choose to ask."""

    def _warmup_p2p(self, stages: list, has_backward: bool, p2p_done: bool) -> None:
        for stage in stages:
            stage._inference_mode = InferenceMode.STATIC


def activations(request: FakeRequest) -> torch.Tensor:
    """What travels between stages. Without requires_grad no gradient would travel back."""
    tokens = request.sequence_tokens // request.layout.sp
    return torch.empty(
        request.layout.micro_batch, tokens, request.model.hidden, dtype=torch.bfloat16, requires_grad=True
    )


def words(request: FakeRequest, sequences: int) -> torch.Tensor:
    return torch.empty(sequences, request.sequence_tokens, dtype=torch.int64)


def loss(scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(scores.flatten(0, 1).float(), targets.flatten())


def pipeline_stage(module: nn.Module, request: FakeRequest, role: Role, group: ProcessGroup) -> PipelineStage:
    """The stage with the shapes of what comes in and goes out: fake neighbours cannot tell them."""
    layout, last = request.layout, role.stage == request.layout.pp - 1
    comes = words(request, layout.micro_batch) if role.stage == 0 else activations(request)
    scores = (layout.micro_batch, request.sequence_tokens, request.model.vocab // layout.tp)
    goes = torch.empty(scores, dtype=torch.bfloat16, requires_grad=True) if last else activations(request)
    return PipelineStage(module, role.stage, layout.pp, CPU, input_args=(comes,), output_args=(goes,), group=group)


def run_step(stage: PipelineStage, request: FakeRequest, forward: Callable[..., object]) -> None:
    """All micro-batches of one step, forward and backward.

    forward   called in place of the stage's own forward pass, to look at it
    """
    layout = request.layout
    stage.forward_one_chunk = forward
    schedule = StaticSchedule(stage, layout.micro_batches, loss_fn=loss)
    sequences = layout.micro_batch * layout.micro_batches
    inputs = (words(request, sequences),) if stage.is_first else ()
    targets = words(request, sequences) if stage.is_last else None
    with loss_parallel():  # usable once: made anew for each step
        schedule.step(*inputs, target=targets, return_outputs=False)
