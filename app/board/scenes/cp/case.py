"""The numbers behind the context-parallel scene: work, bytes and time of one setting of its knobs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from app.board.scenes.base import Values
from engine.catalog.hardware import cluster_named
from engine.catalog.model import model_named
from engine.language.formula import Term
from engine.language.inputs import Amount, Choice
from engine.language.units import count_text
from engine.lens.ring_attention import (
    DEALINGS,
    Partial,
    attention_block_s,
    attention_over_six_n,
    causal_worst_over_mean,
    dealt_strips,
    merged,
    merged_sum,
    partial_softmax,
    ring_hop_bytes,
    uneven_waiting_share,
)
from engine.lens.ring_steps import RingStep, ring_steps
from engine.memory.parameters import count
from engine.network.collectives import send_s

KNOBS = (
    Amount("ranks", "GPUs", 4, 2, 8, scale="doubling"),
    Amount("sequence", "sequence", 131072, 8192, 1048576, scale="doubling", unit="tokens"),
    Amount("tp", "tensor parallel", 1, 1, 8, scale="doubling"),
    Choice("deal", "half-strips dealt", "zig-zag", {name: name.replace("-", " ") for name in DEALINGS}),
)
SHAPE = model_named("llama-3-70b")
CLUSTER = cluster_named("hgx-h100")
REACHED = 0.6  # of peak: long attention blocks
FORWARD, BACKWARD = 4, 8  # FLOP of a pair and channel
# One query's scores and values in each strip, as an example: the largest score comes late, so that sums are rescaled.
SCORES = ((3.1, 0.6), (2.0, 0.4), (0.9, 2.4), (1.5, 0.2), (2.9, 1.1), (0.3, 1.7), (2.1, 0.8), (1.2, 0.5))
VALUED = ((4.0, 1.0), (2.0, 5.0), (3.0, 6.0), (1.0, 7.0), (8.0, 2.0), (5.0, 3.0), (6.0, 4.0), (2.0, 9.0))


@dataclass(frozen=True)
class Merge:
    """A query after one more block of keys.

    source   whose keys
    result   over all keys so far
    scale    what the sum so far was multiplied with, to fit a larger maximum; None for the first block
    """

    source: int
    result: Partial
    scale: float | None


@dataclass(frozen=True)
class Case:
    """The numbers of one setting of the knobs."""

    values: Values

    @property
    def ranks(self) -> int:
        return int(self.values["ranks"])

    @property
    def last(self) -> int:
        return self.ranks - 1

    @property
    def dealing(self) -> str:
        return DEALINGS[int(self.values["deal"])]

    @cached_property
    def strips(self) -> tuple[tuple[int, int], ...]:
        return dealt_strips(self.dealing, self.ranks)

    @cached_property
    def worst(self) -> Term:
        return causal_worst_over_mean.explain("slowest GPU, strips in order", C=self.ranks)

    @cached_property
    def waiting(self) -> Term:
        return uneven_waiting_share.explain("waiting, strips in order", w=self.worst)

    def hop(self, tensors: int, label: str, tp: float | None = None) -> Term:
        return ring_hop_bytes.explain(
            label,
            n=tensors,
            b=2,
            s=self.values["sequence"],
            C=self.ranks,
            k=SHAPE.kv_heads,
            d=SHAPE.head_dim,
            t=tp or self.values["tp"],
        )

    def hop_s(self, tensors: int, label: str) -> Term:
        sent = self.hop(tensors, f"{label}: bytes")
        return send_s.explain(f"{label}: time", S=sent, B=CLUSTER.nic_bytes_per_s, a=0.0)

    def block_s(self, flop: int, label: str) -> Term:
        return attention_block_s.explain(
            label,
            f=flop,
            h=SHAPE.heads * SHAPE.head_dim,
            s=self.values["sequence"],
            C=self.ranks,
            t=self.values["tp"],
            P=CLUSTER.gpu.peak("bf16"),
            u=REACHED,
        )

    @cached_property
    def forward_hop(self) -> Term:
        return self.hop_s(2, "one hop of keys and values")

    @cached_property
    def forward_block(self) -> Term:
        return self.block_s(FORWARD, "one full block, one layer")

    def added(self, sequence: float) -> Term:
        return attention_over_six_n.explain(
            f"attention adds at {count_text(sequence)} tokens",
            L=SHAPE.layers,
            h=SHAPE.heads * SHAPE.head_dim,
            s=sequence,
            N=count(SHAPE).total,
        )

    @cached_property
    def in_order(self) -> tuple[tuple[int], ...]:
        """Strips as they stand in the sequence: one to a GPU."""
        return tuple((rank,) for rank in range(self.ranks))

    def steps(self, strips: Sequence[Sequence[int]], begins: float = 0.0) -> tuple[tuple[RingStep, ...], ...]:
        """One layer's attention, forward, on all GPUs: steps in seconds from `begins`."""
        return ring_steps(strips, self.forward_block.value, self.forward_hop.value, begins)

    @property
    def hidden(self) -> bool:
        """Whether a hop ends before the shortest step does."""
        return self.forward_hop.value <= self.forward_block.value / 2

    @property
    def merging(self) -> list[Merge]:
        """A query of the last rank after each block, in the order in which blocks reach it."""
        rows: list[Merge] = []
        for source in range(self.last, -1, -1):
            block = partial_softmax(SCORES[source], VALUED[source])
            result = merged(rows[-1].result, block) if rows else block
            scale = float(merged_sum(1.0, rows[-1].result.maximum, 0.0, result.maximum)) if rows else None
            rows.append(Merge(source, result, scale))
        return rows

    @property
    def at_once(self) -> Partial:
        """The same query over all keys together."""
        return partial_softmax(sum(SCORES[: self.ranks], ()), sum(VALUED[: self.ranks], ()))
