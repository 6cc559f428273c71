"""What a strategy is given (`Rank`) and what it gives (`Training`).

A strategy is one file with one function, `build(rank) -> Training`. It takes the seeded model, cuts or wraps it with the
framework's own calls, makes the optimizer, and says which process group serves which axis.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from app.runner.job import Emit, Job
from app.runner.rank.batches import part_of
from app.runner.rank.comm_log import CommLog
from app.runner.rank.gpt import Gpt, cross_entropy, seeded_gpt
from app.runner.rank.held import local
from engine.lens.demo_model import TinyGpt

LEARNING_RATE, WEIGHT_DECAY = 3e-4, 0.1


@dataclass
class Rank:
    """One process of a run, before its strategy is built."""

    index: int
    job: Job
    device: torch.device
    log: CommLog
    emit: Emit

    @property
    def ranks(self) -> int:
        return self.job.ranks

    @property
    def shape(self) -> TinyGpt:
        return TinyGpt(self.job.whole("hidden"), self.job.whole("layers"), self.job.whole("sequence"))

    def model(self) -> Gpt:
        """The whole model on this rank's device, with the weights that all ranks begin with."""
        return seeded_gpt(self.shape, self.job.whole("heads"), self.job.seed).to(self.device)


class Trained(Protocol):
    """What the worker needs: anything with these will do. A pipeline has a step of its own."""

    model: nn.Module
    optimizer: Optimizer
    groups: Mapping[str, dist.ProcessGroup]
    coordinates: Mapping[str, int]
    before: Callable[[int], object]
    after: Callable[[int], object]

    def step(self, tokens: Tensor, targets: Tensor, log: CommLog) -> float | None:
        """Train on this global batch; the mean loss of this rank's part, or None where it sees none."""
        ...


def nothing(_: object) -> None:
    """What most strategies do between steps."""


@dataclass
class Training:
    """A model that is trained by forward, backward and optimizer step on this rank's slice of the batch.

    groups        axis -> the process group that serves it
    coordinates   axis -> this rank's place on it
    part          which slice of the batch, of how many
    loss          of logits and targets
    around        entered for each step: loss_parallel() is such a context
    first         step to begin with, after a restart
    before        called with the number of each step before it is measured, and after it
    """

    model: nn.Module
    optimizer: Optimizer
    groups: Mapping[str, dist.ProcessGroup]
    coordinates: Mapping[str, int]
    part: tuple[int, int] = (0, 1)
    loss: Callable[[Tensor, Tensor], Tensor] = cross_entropy
    around: Callable[[], AbstractContextManager[object]] = nullcontext
    first: int = 0
    before: Callable[[int], object] = nothing
    after: Callable[[int], object] = nothing

    def step(self, tokens: Tensor, targets: Tensor, log: CommLog) -> float:
        tokens, targets = (part_of(whole, *self.part) for whole in (tokens, targets))
        self.optimizer.zero_grad()
        with self.around():
            with log.during("forward"):
                loss = self.loss(self.model(tokens), targets)
            with log.during("backward"):
                loss.backward()
        with log.during("optimizer"):
            self.optimizer.step()
        return local(loss).item()


def adamw(model: nn.Module) -> AdamW:
    """The optimizer of every demo, the reference included."""
    return AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)


def world() -> dist.ProcessGroup:
    """The group of all ranks."""
    group = dist.group.WORLD
    assert group is not None
    return group
