"""Context parallelism, third form (DeepSpeed-Ulysses): for attention, ranks trade tokens for heads.

Between the exchanges a rank has every token of some heads, so that attention itself needs no other rank.
"""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor


class Exchanged(torch.autograd.Function):
    """Slice i of each rank goes to rank i. Its gradient takes the same way back."""

    @staticmethod
    def forward(ctx, slices: Tensor, group: dist.ProcessGroup) -> Tensor:
        ctx.group = group
        return exchange(slices, group)

    @staticmethod
    def backward(ctx, *grad_outputs: Tensor):
        return exchange(grad_outputs[0], ctx.group), None


def exchange(slices: Tensor, group: dist.ProcessGroup) -> Tensor:
    comes = torch.empty_like(slices, memory_format=torch.contiguous_format)
    dist.all_to_all_single(comes, slices.contiguous(), group=group)
    return comes


def attention(q: Tensor, k: Tensor, v: Tensor, places: Tensor, group: dist.ProcessGroup) -> Tensor:
    """Attention of this rank's queries to the keys of all.   [batch, heads, tokens, size]

    places   of the tokens of each rank in the sequence   [ranks, tokens]
    """
    ranks = group.size()
    queries, keys, values = (
        Exchanged.apply(part.unflatten(1, (ranks, -1)).movedim(1, 0), group).movedim(0, 2).flatten(2, 3)
        for part in (q, k, v)
    )
    seen = places.flatten()[:, None] >= places.flatten()[None]
    output = F.scaled_dot_product_attention(queries, keys, values, attn_mask=seen)
    return Exchanged.apply(output.unflatten(2, (ranks, -1)).movedim(2, 0), group).movedim(0, 1).flatten(1, 2)
