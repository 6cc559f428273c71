"""A model cut into pipeline parts, and the step of PyTorch's own schedules on it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import PipelineScheduleSingle, get_schedule_class
from torch.optim import Optimizer

from app.runner.rank.batches import part_of
from app.runner.rank.comm_log import CommLog
from app.runner.rank.gpt import Gpt, cross_entropy
from app.runner.stage_parts import dealt_layers
from app.runner.strategies.base import Rank, nothing


def only_part(model: Gpt, part: int, parts: int) -> Gpt:
    """The model with everything but one part dropped."""
    kept = {str(layer) for layer in dealt_layers(len(model.blocks), parts)[part]}
    for layer in list(model.blocks):
        if layer not in kept:
            del model.blocks[layer]
    if part > 0:
        model.embed = None
    if part < parts - 1:
        model.norm = model.head = None
    return model


def pipeline_schedule(name: str, stages: Sequence[PipelineStage], micro_batches: int) -> Any:
    """PyTorch's schedule of this name: its classes take one stage, or the list of those on this rank."""
    kind: Any = get_schedule_class(name)
    given: Any = stages[0] if issubclass(kind, PipelineScheduleSingle) else list(stages)
    return kind(given, micro_batches, loss_fn=cross_entropy)


def stage_of(rank: Rank, module: nn.Module, part: int, parts: int, group: dist.ProcessGroup) -> PipelineStage:
    """One part as PyTorch's schedules want it."""
    return PipelineStage(module, part, parts, rank.device, group=group)


@dataclass
class Pipelined:
    """Training by a pipeline schedule. Only ranks that hold the model's end see a loss.

    model   all parts on this rank
    part    which slice of the batch goes through this pipeline, of how many
    """

    model: nn.Module
    optimizer: Optimizer
    groups: Mapping[str, dist.ProcessGroup]
    coordinates: Mapping[str, int]
    stages: Sequence[PipelineStage]
    schedule: Any
    part: tuple[int, int] = (0, 1)
    before: Callable[[int], object] = nothing
    after: Callable[[int], object] = nothing
    losses: list[Tensor] = field(default_factory=list)

    def step(self, tokens: Tensor, targets: Tensor, log: CommLog) -> float | None:
        """One step of the schedule, and of the optimizer."""
        tokens, targets = (part_of(whole, *self.part) for whole in (tokens, targets))
        self.optimizer.zero_grad()
        first, last = (any(getattr(stage, end) for stage in self.stages) for end in ("is_first", "is_last"))
        with log.during("pipeline"):
            self.schedule.step(
                *((tokens,) if first else ()),
                target=targets if last else None,
                losses=self.losses if last else None,
                return_outputs=False,
            )
        with log.during("optimizer"):
            self.optimizer.step()
        return sum(loss.item() for loss in self.losses) / len(self.losses) if last else None
