"""Context parallelism: every rank holds some tokens of each sequence and the whole model. Our own attention in three forms.

PyTorch's `context_parallel()` does not run on CPUs: its attention there has no rule for cut sequences.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
import torch.distributed as dist
from torch import Tensor

from app.runner.context_strips import causal_pairs, strip_places
from app.runner.event_kinds import Measure
from app.runner.rank.comm_log import CommLog
from app.runner.rank.gpt import cross_entropy
from app.runner.strategies import cp_gather, cp_ring, cp_ulysses
from app.runner.strategies.base import Rank, Training, adamw, world
from app.runner.strategies.gradients import mean_gradients

FORMS: dict[str, Callable[..., Tensor]] = {
    "gather": cp_gather.attention,
    "ring": cp_ring.attention,
    "ulysses": cp_ulysses.attention,
}


@dataclass(kw_only=True)
class CutSequence(Training):
    """Training on this rank's tokens of every sequence; gradients of the weights are summed over the ranks.

    places   of this rank's tokens in the sequence
    """

    places: Tensor
    group: dist.ProcessGroup

    def step(self, tokens: Tensor, targets: Tensor, log: CommLog) -> float:
        self.optimizer.zero_grad()
        with log.during("forward"):
            loss = self.loss(self.model(tokens[:, self.places], self.places), targets[:, self.places])
        with log.during("backward"):
            loss.backward()
            mean_gradients(self.model.parameters(), self.group)
        with log.during("optimizer"):
            self.optimizer.step()
        return loss.item()


def build(rank: Rank) -> CutSequence:
    """Replace the attention of every layer; the rest of the model looks at one token at a time."""
    group, form, dealing = world(), str(rank.job.params["form"]), str(rank.job.params["dealing"])
    strips = strip_places(rank.shape.sequence, rank.ranks, dealing)
    places = torch.tensor(strips, device=rank.device)
    model = rank.model()
    for block in model.blocks.values():
        block.attention.core = partial(FORMS[form], places=places, group=group)  # type: ignore[union-attr]
    tokens = range(rank.shape.sequence) if form == "ulysses" else strips[rank.index]
    heads = rank.job.whole("heads") // (rank.ranks if form == "ulysses" else 1)
    rank.emit(Measure, name="pairs", value=heads * causal_pairs(tuple(tokens)))
    return CutSequence(
        model,
        adamw(model),
        groups={"cp": group},
        coordinates={"cp": rank.index},
        loss=cross_entropy,
        places=places[rank.index],
        group=group,
    )
