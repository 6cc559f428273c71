"""Gradients of weights that every rank holds: averaged after the backward pass."""

from collections.abc import Iterable

import torch
import torch.distributed as dist
from torch import nn


def mean_gradients(parameters: Iterable[nn.Parameter], group: dist.ProcessGroup) -> None:
    """Every gradient becomes its mean over the group, by one all-reduce of all of them together."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    dist.all_reduce(flat, group=group)
    for gradient, mean in zip(gradients, (flat / group.size()).split([g.numel() for g in gradients]), strict=True):
        gradient.copy_(mean.view_as(gradient))
