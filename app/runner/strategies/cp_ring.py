"""Context parallelism, second form: keys and values pass round a ring, and each rank merges what it has seen so far.

Forward they make n-1 hops. Backward they make them again with their gradients beside them, and the gradients one more, to
where they belong.
"""

import torch
import torch.distributed as dist
from torch import Tensor

LOWEST = float("-inf")


def attention(q: Tensor, k: Tensor, v: Tensor, places: Tensor, group: dist.ProcessGroup) -> Tensor:
    """Attention of this rank's queries to the keys of all.   [batch, heads, tokens, size]

    places   of the tokens of each rank in the sequence   [ranks, tokens]
    """
    return Ring.apply(q, torch.stack((k, v)), places, group)


class Ring(torch.autograd.Function):
    """Exact attention, block by block: largest score, sum of exponentials and output are carried along."""

    @staticmethod
    def forward(ctx, q: Tensor, block: Tensor, places: Tensor, group: dist.ProcessGroup) -> Tensor:
        ctx.group, own = group, block
        top, total, output = q.new_full(q.shape[:-1], LOWEST), q.new_zeros(q.shape[:-1]), torch.zeros_like(q)
        for hop in range(group.size()):
            arriving = passed_on(block, group) if hop < group.size() - 1 else None
            scores = masked_scores(q, block[0], places, group, hop)
            higher = torch.maximum(top, scores.amax(-1))
            weights, kept = torch.exp(scores - higher[..., None]), torch.exp(top - higher)
            total = total * kept + weights.sum(-1)
            output = output * kept[..., None] + weights @ block[1]
            top = higher
            block = arrived(arriving) if arriving else block
        output = output / total[..., None]
        ctx.save_for_backward(q, own, places, output, top + total.log())
        return output

    @staticmethod
    def backward(ctx, *grad_outputs: Tensor):
        (gradient,) = grad_outputs
        q, block, places, output, logsum = ctx.saved_tensors
        scale, share = q.shape[-1] ** -0.5, (gradient * output).sum(-1, keepdim=True)
        toward_q, travelling = torch.zeros_like(q), torch.cat((block, torch.zeros_like(block)))
        for hop in range(ctx.group.size()):
            k, v, toward_k, toward_v = travelling
            weights = torch.exp(masked_scores(q, k, places, ctx.group, hop) - logsum[..., None])
            slopes = weights * (gradient @ v.transpose(-1, -2) - share) * scale
            toward_q += slopes @ k
            toward_k += slopes.transpose(-1, -2) @ q
            toward_v += weights.transpose(-1, -2) @ gradient
            last = hop == ctx.group.size() - 1
            travelling = arrived(passed_on(travelling[2:] if last else travelling, ctx.group))
        return toward_q, travelling, None, None


def masked_scores(q: Tensor, k: Tensor, places: Tensor, group: dist.ProcessGroup, hop: int) -> Tensor:
    """Scores of own queries with the keys that began `hop` ranks before."""
    mine, source = group.rank(), (group.rank() - hop) % group.size()
    hidden = places[mine][:, None] < places[source][None]
    return (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5).masked_fill(hidden, LOWEST)


def passed_on(block: Tensor, group: dist.ProcessGroup) -> tuple[Tensor, list[dist.Work]]:
    """A block on its way to the next rank, and the one that comes from the rank before."""
    mine, ranks, comes = group.rank(), group.size(), torch.empty_like(block)
    ops = [
        dist.P2POp(dist.isend, block.contiguous(), group=group, group_peer=(mine + 1) % ranks),
        dist.P2POp(dist.irecv, comes, group=group, group_peer=(mine - 1) % ranks),
    ]
    return comes, dist.batch_isend_irecv(ops)


def arrived(passing: tuple[Tensor, list[dist.Work]]) -> Tensor:
    block, works = passing
    for work in works:
        work.wait()
    return block
