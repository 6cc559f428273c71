"""Time one GPU computes on one micro-batch: of a layer, of the embedding, of the head and the loss. The sum of its kernels."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from engine.catalog.model import Model
from engine.compute.kernels import Kernel, embedding_kernels, head_kernels, layer_kernels
from engine.compute.machine import Machine
from engine.layout.layout import Layout


@dataclass(frozen=True)
class Work:
    """Seconds of computation on one micro-batch.

    forward, backward_input, backward_weight   the passes
    core                                       attention's forward, which selective recomputation repeats
    """

    forward: float
    backward_input: float
    backward_weight: float
    core: float = 0.0

    @property
    def total(self) -> float:
        return self.forward + self.backward_input + self.backward_weight


def work_of(kernels: Iterable[Kernel]) -> Work:
    """The kernels of a micro-batch, added up."""
    kernels = tuple(kernels)
    forward, backward_input, backward_weight = (sum(kernel.seconds[way] for kernel in kernels) for way in range(3))
    core = sum(kernel.seconds[0] for kernel in kernels if kernel.kind == "attention")
    return Work(forward, backward_input, backward_weight, core)


@lru_cache(maxsize=1024)
def layer_work(model: Model, layout: Layout, machine: Machine, sequence_tokens: int, moe: bool) -> Work:
    """Seconds of one layer and micro-batch on one GPU."""
    return work_of(layer_kernels(model, layout, machine, sequence_tokens, moe))


@lru_cache(maxsize=1024)
def head_work(model: Model, layout: Layout, machine: Machine, sequence_tokens: int) -> Work:
    """Seconds of the output head and the loss of one micro-batch."""
    return work_of(head_kernels(model, layout, machine, sequence_tokens))


@lru_cache(maxsize=1024)
def embedding_work(model: Model, layout: Layout, machine: Machine, sequence_tokens: int) -> Work:
    """Seconds of the input embedding of one micro-batch."""
    return work_of(embedding_kernels(model, layout, machine, sequence_tokens))
