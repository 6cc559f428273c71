"""Bytes of training state that this rank really holds."""

from collections.abc import Iterable
from typing import Any

from torch import Tensor, nn
from torch.distributed.tensor import DTensor
from torch.optim import Optimizer


def local(tensor: Tensor) -> Tensor:
    """This rank's part of a tensor that may be spread over ranks."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def held_bytes(model: nn.Module, optimizer: Optimizer) -> tuple[int, int, int]:
    """Bytes of parameters, gradients and optimizer state, step counters left out."""
    parameters = list(model.parameters())
    inner = getattr(optimizer, "optim", optimizer)  # ZeroRedundancyOptimizer keeps its share in an optimizer of its own
    moments = (value for state in inner.state.values() for value in state.values() if _is_moment(value))
    return _bytes(parameters), _bytes(p.grad for p in parameters if p.grad is not None), _bytes(moments)


def local_shapes(model: nn.Module, most: int = 3) -> dict[str, tuple[int, ...]]:
    """Shape of this rank's part of the first matrices of the model."""
    matrices = [(name, tuple(local(p).shape)) for name, p in model.named_parameters() if p.dim() == 2]
    return dict(matrices[:1] + matrices[2 : most + 1])


def _is_moment(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dim() > 0


def _bytes(tensors: Iterable[Tensor]) -> int:
    return sum(local(tensor).nbytes for tensor in tensors)
