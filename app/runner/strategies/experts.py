"""A layer of experts in place of an MLP: tokens are sorted by expert, sent to where it is, computed, sent back, and weighed."""

from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from torch import Tensor, nn

from app.runner.expert_routing import TOP_K, RankedRouting
from app.runner.rank.gpt import Gpt, Mlp
from app.runner.strategies.base import Rank

Exchange = Callable[[Tensor, Sequence[int], Sequence[int]], Tensor]  # rows, how many go to each rank, how many come


class Exchanged(torch.autograd.Function):
    """An uneven all-to-all. Gradients take the same way back."""

    @staticmethod
    def forward(ctx, rows: Tensor, go: Sequence[int], come: Sequence[int], group: dist.ProcessGroup) -> Tensor:
        ctx.go, ctx.come, ctx.group = go, come, group
        return exchange(rows, go, come, group)

    @staticmethod
    def backward(ctx, *grad_outputs: Tensor):
        return exchange(grad_outputs[0], ctx.come, ctx.go, ctx.group), None, None, None


def exchange(rows: Tensor, go: Sequence[int], come: Sequence[int], group: dist.ProcessGroup) -> Tensor:
    arriving = rows.new_empty((sum(come), *rows.shape[1:]))
    dist.all_to_all_single(arriving, rows.contiguous(), list(come), list(go), group=group)
    return arriving


class ExpertLayer(nn.Module):
    """The experts of this rank, and the router, which every rank holds.

    choices    experts of each of its tokens                        [tokens, k]
    order      its visits, those to the first expert first          [visits]
    arriving   own expert of each visit that comes, from 0          [visits]
    """

    choices: Tensor
    order: Tensor
    arriving: Tensor

    def __init__(self, hidden: int, routing: RankedRouting, rank: int, swap: Exchange):
        super().__init__()
        self.routing, self.swap = routing, swap
        self.router = nn.Linear(hidden, routing.routing.experts, bias=False)
        everyone = [Mlp(hidden) for _ in range(routing.routing.experts)]  # all are drawn, so that ranks agree on each
        self.own = nn.ModuleList(everyone[expert] for expert in routing.experts_of(rank))
        self.go, self.come = routing.sent(rank), routing.received(rank)
        choices = torch.tensor(routing.choices_of(rank))
        self.register_buffer("choices", choices, persistent=False)
        self.register_buffer("order", choices.flatten().argsort(stable=True), persistent=False)
        arriving = [expert for source in range(routing.ranks) for expert in routing.visits(source, rank)]
        self.register_buffer("arriving", torch.tensor(arriving) - routing.experts_of(rank).start, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.flatten(0, 1)
        visits = tokens.repeat_interleave(TOP_K, 0)[self.order]
        back = self.swap(self.computed(self.swap(visits, self.go, self.come)), self.come, self.go)
        answers = torch.zeros_like(back).index_copy(0, self.order, back).unflatten(0, (-1, TOP_K))
        gates = self.router(tokens).gather(1, self.choices).softmax(-1)
        return (answers * gates[..., None]).sum(1).view_as(x)

    def computed(self, rows: Tensor) -> Tensor:
        """What the experts make of the rows that have arrived."""
        done = torch.zeros_like(rows)
        for number, expert in enumerate(self.own):
            mine = (self.arriving == number).nonzero().flatten()
            done = done.index_copy(0, mine, expert(rows[mine]))
        return done


def with_experts(rank: Rank, routing: RankedRouting, index: int, swap: Exchange) -> Gpt:
    """The seeded model with experts in place of every MLP, the same in all processes."""
    model = rank.model()
    for number, block in enumerate(model.blocks.values()):
        torch.manual_seed(rank.job.seed + 1 + number)
        block.mlp = ExpertLayer(rank.shape.hidden, routing, index, swap).to(rank.device)
    return model
