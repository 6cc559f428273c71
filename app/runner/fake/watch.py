"""What passes the dispatcher: each collective with its axis and bytes, and each storage that an operation makes."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import distributed as dist
from torch.distributed._functional_collectives import AsyncCollectiveTensor
from torch.distributed.tensor import DTensor
from torch.distributed.tensor._sharding_prop import ShardingPropagator
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from app.runner.fake.held import PLAIN_RESIZE, RESIZE, Held

WHOLE_SHAPES = "_propagate_tensor_meta_non_cached"  # where DTensor runs an operation on whole shapes
OPS: dict[str, str] = {
    "_allgather_base_": "all_gather",
    "all_gather_into_tensor": "all_gather",
    "_reduce_scatter_base_": "reduce_scatter",
    "reduce_scatter_tensor": "reduce_scatter",
    "allreduce_": "all_reduce",
    "all_reduce": "all_reduce",
    "all_reduce_": "all_reduce",
    "send": "send",
    "recv_": "recv",
}
WRAPPERS = (DTensor, AsyncCollectiveTensor)  # tensors around a tensor, with no memory of their own
NO_TRAFFIC = {"wait_tensor", "_wrap_tensor_autograd"}


class Watch(TorchDispatchMode):
    """Counts collectives by (axis, op, bytes) and the bytes alive. The larger of input and output is a collective's buffer."""

    def __init__(self, axes: dict[str, str], held: Held) -> None:
        super().__init__()
        self.axes, self.held = axes, held
        self.comm: Counter[tuple[str, str, int]] = Counter()
        self._aside = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if any(issubclass(kind, WRAPPERS) for kind in types):
            return NotImplemented  # let the wrapper run first: it comes back with the operations on this rank's part
        done = func(*args, **(kwargs or {}))
        if self._aside:
            return done
        if func.namespace in ("c10d", "_c10d_functional", "_c10d_functional_autograd"):
            self._collective(func, (*args, *(kwargs or {}).values()), done)
        for tensor in tree_leaves(done):
            if isinstance(tensor, torch.Tensor) and not isinstance(tensor, WRAPPERS):
                self.held.add(tensor)
        return done

    def _collective(self, func: Any, given: tuple[Any, ...], done: Any) -> None:
        name: str = func.__name__.partition(".")[0]
        if name in NO_TRAFFIC:
            return
        tensors = [t for t in tree_leaves((given, done)) if isinstance(t, torch.Tensor)]
        size = max((t.numel() * t.element_size() for t in tensors), default=0)
        self.comm[self.axes.get(_group_of(given), "?"), OPS.get(name, name), size] += 1

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch what runs inside, except what DTensor runs on whole shapes only to learn what comes out."""
        plain = getattr(ShardingPropagator, WHOLE_SHAPES)

        def aside(propagator: ShardingPropagator, schema: Any) -> Any:
            self._aside += 1
            try:
                return plain(propagator, schema)
            finally:
                self._aside -= 1

        setattr(ShardingPropagator, WHOLE_SHAPES, aside)
        setattr(torch.UntypedStorage, RESIZE, self.held.resizing())
        try:
            with self:
                yield
        finally:
            setattr(ShardingPropagator, WHOLE_SHAPES, plain)
            setattr(torch.UntypedStorage, RESIZE, PLAIN_RESIZE)


def _group_of(given: tuple[Any, ...]) -> str:
    """The process group of a collective: functional operations carry its name, c10d ones the group itself."""
    for argument in given:
        if isinstance(argument, str):
            if argument not in ("sum", "avg", "max", "min"):
                return argument
        elif isinstance(argument, torch.ScriptObject):
            try:
                return str(dist.ProcessGroup.unbox(argument).group_name)
            except RuntimeError:
                continue  # a reduce operation is a script object too
    return "?"
