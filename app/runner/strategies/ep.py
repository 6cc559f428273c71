"""Expert parallelism: each rank holds some experts of every layer, and a slice of the batch. Our own code on all-to-alls."""

from dataclasses import dataclass

import torch.distributed as dist
from torch import Tensor, nn

from app.runner.event_kinds import Measure
from app.runner.expert_routing import ranked_routing
from app.runner.rank.batches import part_of
from app.runner.rank.comm_log import CommLog
from app.runner.strategies.base import Rank, Training, adamw, world
from app.runner.strategies.experts import Exchanged, with_experts
from app.runner.strategies.gradients import mean_gradients


@dataclass(kw_only=True)
class SpreadExperts(Training):
    """Training on this rank's slice of the batch.

    common   parameters that every rank holds: their gradients are averaged. An expert has seen the tokens of all ranks
             already, each rank's loss being a mean over its own
    """

    common: list[nn.Parameter]
    experts: list[nn.Parameter]
    peers: dist.ProcessGroup

    def step(self, tokens: Tensor, targets: Tensor, log: CommLog) -> float:
        tokens, targets = (part_of(whole, *self.part) for whole in (tokens, targets))
        self.optimizer.zero_grad()
        with log.during("forward"):
            loss = self.loss(self.model(tokens), targets)
        with log.during("backward"):
            loss.backward()
            mean_gradients(self.common, self.peers)
            for parameter in self.experts:
                if parameter.grad is not None:
                    parameter.grad /= self.peers.size()
        with log.during("optimizer"):
            self.optimizer.step()
        return loss.item()


def build(rank: Rank) -> SpreadExperts:
    """The data-parallel group has the same ranks, and a name of its own, so that its traffic is told apart."""
    group, peers = world(), dist.new_group(list(range(rank.ranks)))
    assert isinstance(peers, dist.ProcessGroup)
    routing = ranked_routing(rank.job.params, rank.ranks)
    model = with_experts(rank, routing, rank.index, lambda rows, go, come: Exchanged.apply(rows, go, come, group))
    named = list(model.named_parameters())
    rank.emit(Measure, name="experts", value=tuple(int(n) for n in _arrivals(model)))
    return SpreadExperts(
        model,
        adamw(model),
        groups={"ep": group, "dp": peers},
        coordinates={"ep": rank.index, "dp": rank.index},
        part=(rank.index, rank.ranks),
        common=[p for name, p in named if ".own." not in name],
        experts=[p for name, p in named if ".own." in name],
        peers=peers,
    )


def _arrivals(model: nn.Module) -> Tensor:
    """Tokens that visit each expert of this rank."""
    layer = next(iter(model.blocks.values())).mlp  # type: ignore[union-attr, operator]
    return layer.arriving.bincount(minlength=len(layer.own))
