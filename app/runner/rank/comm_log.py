"""Every collective a rank issues, seen where PyTorch dispatches it: DDP's reducer, FSDP, DTensor and pipelines all pass here."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.tensor import DTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

NAMESPACES = ("c10d", "_c10d_functional", "_c10d_functional_autograd", "_dtensor")
KINDS = {
    "allreduce": "all_reduce",
    "all_reduce": "all_reduce",
    "allgather": "all_gather",
    "all_gather": "all_gather",
    "reduce_scatter": "reduce_scatter",
    "broadcast": "broadcast",
    "alltoall": "all_to_all",
    "all_to_all": "all_to_all",
    "shard_dim_alltoall": "all_to_all",
    "send": "send",
    "recv": "recv",
    "barrier": "barrier",
    "monitored_barrier": "barrier",
    "gather": "gather",
    "scatter": "scatter",
    "reduce": "reduce",
}


@dataclass
class Call:
    """One collective.

    bytes    of its larger side, input or output
    t0, t1   issued, and waited for where that is seen; since the run started   [s]
    """

    axis: str
    op: str
    bytes: int
    phase: str
    t0: float
    t1: float | None = None


@dataclass
class CommLog(TorchDispatchMode):
    """The collectives issued while it is open, in order.

    axes    name of a process group -> the axis it serves
    start   time.monotonic() of the run's beginning   [s]
    phase   what the step is doing: "forward", "backward", "optimizer"
    spans   phase -> from when to when, since the run started   [s]
    """

    start: float
    axes: dict[str, str] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    phase: str = ""
    spans: dict[str, tuple[float, float]] = field(default_factory=dict)
    waiting: dict[int, Call] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__()

    __hash__ = object.__hash__

    def name_axes(self, groups: Mapping[str, dist.ProcessGroup]) -> None:
        """Say which axis each group serves; the whole world counts as the axis given for it."""
        self.axes |= {group.group_name: axis for axis, group in groups.items()}

    @contextmanager
    def during(self, phase: str) -> Iterator[None]:
        """Book calls to this phase."""
        before, self.phase, began = self.phase, phase, self.now()
        try:
            yield
        finally:
            self.phase, self.spans[phase] = before, (began, self.now())

    def now(self) -> float:
        return round(time.monotonic() - self.start, 5)

    def taken(self) -> list[Call]:
        """The calls so far; the log is empty then."""
        calls, self.calls, self.waiting = self.calls, [], {}
        return calls

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if any(issubclass(kind, DTensor) for kind in types):
            return NotImplemented  # it goes first, and what it sends comes past here again
        if func.namespace not in NAMESPACES:
            return func(*args, **kwargs)
        name = func._schema.name.partition("::")[2]
        began = self.now()
        result = func(*args, **kwargs)
        if name == "wait_tensor":
            self._waited(args[0])
        elif kind := _kind(name):
            call = Call(self._axis(args, kwargs), kind, _larger_side(args, kwargs, result), self.phase, began)
            self.calls.append(call)
            self._follow(call, result)
        return result

    def _axis(self, args: Any, kwargs: Any) -> str:
        """The axis of a call's group: functional ops carry its name, others the group itself."""
        for argument in (*args, *kwargs.values()):
            if isinstance(argument, str) and argument in self.axes:
                return self.axes[argument]
            if isinstance(argument, torch.ScriptObject) and "ProcessGroup" in str(argument._type()):
                name = dist.ProcessGroup.unbox(argument).group_name
                return self.axes.get(name, "world")
        return "world"

    def _follow(self, call: Call, result: Any) -> None:
        """Remember what to wait for, so that the end of the call can be noted."""
        for leaf in tree_leaves(result):
            if isinstance(leaf, Tensor) and type(leaf) is Tensor:
                self.waiting[leaf.data_ptr()] = call
            elif isinstance(leaf, torch.ScriptObject) and "Work" in str(leaf._type()):
                _note_end(leaf, call, self)

    def _waited(self, tensor: Any) -> None:
        if type(tensor) is Tensor and (call := self.waiting.pop(tensor.data_ptr(), None)):
            call.t1 = self.now()


def _note_end(work: Any, call: Call, log: CommLog) -> None:
    def ended(_: Any) -> None:
        call.t1 = log.now()

    try:
        dist.Work.unbox(work).get_future().then(ended)
    except (RuntimeError, AttributeError):  # receives and barriers of gloo have no future
        return


def _kind(name: str) -> str | None:
    bare = name.strip("_").removesuffix("_autograd")
    for ending in ("_into_tensor", "_base", "_tensor", "_single", "_coalesced", "_out"):
        bare = bare.removesuffix(ending)
    bare = bare.removesuffix("_into_tensor").removesuffix("_tensor").removesuffix("_base").rstrip("_")
    return KINDS.get(bare)


def _larger_side(args: Any, kwargs: Any, result: Any) -> int:
    """Bytes of the larger of what goes in and what comes out, counted once where both are one buffer."""
    inputs = _storage_bytes(args[:1]) if len(args) < 2 else max(_storage_bytes(args[:1]), _storage_bytes(args[1:2]))
    return max(inputs, _storage_bytes(result))


def _storage_bytes(part: Any) -> int:
    return sum(leaf.nbytes for leaf in tree_leaves(part) if isinstance(leaf, Tensor))
