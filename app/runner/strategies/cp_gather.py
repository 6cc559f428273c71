"""Context parallelism, first form: every rank gathers all keys and values, and keeps only its own queries."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor


class Gathered(torch.autograd.Function):
    """The strips of all ranks, one after the other. What comes back is summed and cut again."""

    @staticmethod
    def forward(ctx, strip: Tensor, group: dist.ProcessGroup) -> Tensor:
        ctx.group = group
        whole = strip.new_empty((group.size() * strip.shape[0], *strip.shape[1:]))
        dist.all_gather_single(whole, strip.contiguous(), group=group)
        return whole

    @staticmethod
    def backward(ctx, *grad_outputs: Tensor):
        (gradient,) = grad_outputs
        mine = gradient.new_empty((gradient.shape[0] // ctx.group.size(), *gradient.shape[1:]))
        dist.reduce_scatter_single(mine, gradient.contiguous(), group=ctx.group)
        return mine, None


def attention(q: Tensor, k: Tensor, v: Tensor, places: Tensor, group: dist.ProcessGroup) -> Tensor:
    """Attention of this rank's queries to the keys of all.   [batch, heads, tokens, size]

    places   of the tokens of each rank in the sequence   [ranks, tokens]
    """
    both = Gathered.apply(torch.stack((k, v)), group).unflatten(0, (group.size(), 2))
    keys, values = (strips.movedim(0, 2).flatten(2, 3) for strips in both.unbind(1))
    seen = places[group.rank()][:, None] >= places.flatten()[None]
    return F.scaled_dot_product_attention(q, keys, values, attn_mask=seen)
