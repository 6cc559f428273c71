"""What each rank of a mesh pp x dp x tp holds and sends: stages of whole layers, matrices cut, rows of what is left dealt.

Ranks count as PyTorch's mesh does: tp fastest, then dp, then pp.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, prod

from app.runner.predict import FP32_BYTES, Calls
from app.runner.stage_parts import Tensors, dealt_layers, part_tensors
from engine.lens.demo_model import TinyGpt, row_shards
from engine.lens.demo_traffic import fsdp_gathered_bytes, fsdp_gathers, stream_bytes

CUT_BY_ROWS = ("wq.weight", "wk.weight", "wv.weight", "w1.weight", "head.weight")
CUT_BY_COLUMNS = ("wo.weight", "w2.weight")
Traffic = tuple[int, int]  # calls and bytes


def tensor_parallel_shape(name: str, shape: tuple[int, ...], tp: int) -> tuple[int, ...]:
    """This rank's part of a matrix; embeddings and norms stay whole.

    >>> tensor_parallel_shape("blocks.0.mlp.w2.weight", (64, 256), 2), tensor_parallel_shape("norm.weight", (64,), 2)
    ((64, 128), (64,))
    """
    if name.endswith(CUT_BY_ROWS):
        return (shape[0] // tp, *shape[1:])
    return (shape[0], shape[1] // tp) if name.endswith(CUT_BY_COLUMNS) else shape


@dataclass(frozen=True)
class Mesh:
    """The degrees of a mix, and what goes through it.

    micro_batches   of each pipeline and step   [count]
    reshard         what FSDP frees after a forward: 1 the blocks; 0 nothing, as beside a pipeline
    """

    model: TinyGpt
    pp: int
    dp: int
    tp: int
    batch: int
    micro_batches: int = 1

    @property
    def reshard(self) -> int:
        return int(self.pp == 1)

    @property
    def ranks(self) -> int:
        return self.pp * self.dp * self.tp

    @cached_property
    def stages(self) -> tuple[Tensors, ...]:
        """Tensors of each stage as tensor parallelism leaves them."""
        return tuple(
            tuple(
                (name, tensor_parallel_shape(name, shape, self.tp))
                for name, shape in part_tensors(self.model, s, self.pp)
            )
            for s in range(self.pp)
        )

    @property
    def held_numbers(self) -> tuple[int, ...]:
        """Parameters that each rank holds."""
        return tuple(
            sum(row_shards(shape[0], self.dp)[place] * prod(shape[1:]) for _, shape in stage)
            for stage in self.stages
            for place in range(self.dp)
            for _ in range(self.tp)
        )

    def padded_numbers(self, stage: int, of: str = "") -> int:
        """Parameters of a stage with the rows that fill up uneven cuts; `of` is the beginning of their names."""
        return sum(
            ceil(shape[0] / self.dp) * self.dp * prod(shape[1:])
            for name, shape in self.stages[stage]
            if name.startswith(of)
        )

    def layers(self, stage: int) -> int:
        return len(dealt_layers(self.model.layers, self.pp)[stage])

    def passes_stream_bytes(self, channels: int) -> int:
        """Bytes of the stream of one micro-batch on one data-parallel rank."""
        sequences = self.batch // (self.dp * self.micro_batches)
        return stream_bytes(FP32_BYTES, sequences, self.model.sequence, channels)

    def sums(self, stage: int) -> Traffic:
        """All-reduces of tensor parallelism: four a layer and micro-batch, and one for the input of the head."""
        count = self.micro_batches * (4 * self.layers(stage) + (stage == self.pp - 1))
        return count, count * self.passes_stream_bytes(self.model.hidden)

    def logits(self, stage: int) -> Traffic:
        """All-gathers of tensor parallelism: the logits, on the last stage."""
        count = self.micro_batches * (stage == self.pp - 1)
        return count, count * self.passes_stream_bytes(self.model.vocabulary)

    def _root(self, stage: int) -> int:
        """Whether anything is left for FSDP's root beside the blocks."""
        return int(any(not name.startswith("blocks.") for name, _ in self.stages[stage]))

    def gathers(self, stage: int) -> Traffic:
        """All-gathers of FSDP: each unit once a step, or the blocks again for the backward."""
        layers, whole = self.layers(stage), self.padded_numbers(stage)
        block = self.padded_numbers(stage, "blocks.") // layers
        return fsdp_gathers(layers, self.reshard) - 1 + self._root(stage), fsdp_gathered_bytes(
            FP32_BYTES, whole, block, layers, self.reshard
        )

    def scatters(self, stage: int) -> Traffic:
        """Reduce-scatters of FSDP: each unit once a step, after the last micro-batch."""
        return self.layers(stage) + self._root(stage), FP32_BYTES * self.padded_numbers(stage)

    def sends(self, stage: int) -> Traffic:
        """Sends of 1F1B, and as many receives: forward to the next stage, backward to the one before."""
        count = self.micro_batches * ((stage > 0) + (stage < self.pp - 1))
        return count, count * self.passes_stream_bytes(self.model.hidden)

    def calls(self, why: Mapping[tuple[str, str], str]) -> tuple[Calls, ...]:
        """All collectives of a step, axis by axis."""
        kinds: list[tuple[str, str, int, Callable[[int], Traffic]]] = [
            ("tp", "all_reduce", self.tp, self.sums),
            ("tp", "all_gather", self.tp, self.logits),
            ("dp", "all_gather", self.dp, self.gathers),
            ("dp", "reduce_scatter", self.dp, self.scatters),
            ("pp", "send", self.pp, self.sends),
            ("pp", "recv", self.pp, self.sends),
        ]
        return tuple(
            calls
            for axis, op, degree, traffic in kinds
            if degree > 1
            for calls in self._alike(axis, op, degree, traffic, why.get((axis, op), ""))
        )

    def _alike(self, axis: str, op: str, degree: int, traffic: Callable[[int], Traffic], why: str) -> list[Calls]:
        """Stages with equal traffic together."""
        ranks, each = defaultdict(list), self.dp * self.tp
        for stage in range(self.pp):
            ranks[traffic(stage)] += range(stage * each, (stage + 1) * each)
        when = "later" if self.pp > 1 else "every"
        return [
            Calls(axis, op, count, size, degree, when, tuple(on) if len(ranks) > 1 else None, why)
            for (count, size), on in ranks.items()
        ]
