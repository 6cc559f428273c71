"""The numbers behind the data-parallel scene: gradients, their sum, and the pass it hides behind."""

from dataclasses import dataclass
from functools import cached_property

from app.board.scenes.base import Values
from app.board.scenes.data_wires import ring_bandwidth
from engine.catalog.hardware import Cluster, cluster_named
from engine.language.formula import Term, Value
from engine.language.inputs import Amount
from engine.language.units import MIB
from engine.lens.buckets import Buckets, ring_all_reduce_hops, ring_slice_bytes
from engine.memory.state import held_bytes
from engine.network.collectives import ring_all_reduce_s, ring_all_reduce_sent_bytes
from engine.step.overlap import backward_s, exposed_tail_s, forward_s, gradient_buckets

CLUSTER: Cluster = cluster_named("hgx-h100")
LAYERS = 4  # drawn: enough to see that the last one is first
REACHED = 0.5  # of peak, an even middle for a first picture

KNOBS = (
    Amount("gpus", "GPUs", 4, 4, 1024, scale="doubling"),
    Amount("billions", "parameters", 7, 1, 70, unit="billion"),
    Amount("bucket", "bucket", 25, 1, 1024, unit="MiB"),
    Amount("tokens", "tokens per GPU", 8192, 256, 65536, scale="doubling"),
)


@dataclass(frozen=True)
class Case:
    """The numbers of one setting of the knobs."""

    values: Values

    @property
    def gpus(self) -> int:
        return int(self.values["gpus"])

    @cached_property
    def gradients(self) -> Term:
        return held_bytes.explain("gradients in BF16", b=2, P=self.values["billions"] * 1e9, D=1)

    @cached_property
    def sent(self) -> Term:
        return ring_all_reduce_sent_bytes.explain("sent by each GPU", S=self.gradients, n=self.gpus)

    @cached_property
    def hops(self) -> Term:
        return ring_all_reduce_hops.explain("hops of one sum", n=self.gpus)

    @cached_property
    def buckets(self) -> Term:
        return gradient_buckets.explain("buckets", S=self.gradients, b=self.values["bucket"] * MIB)

    @property
    def bucket_bytes(self) -> float:
        """One bucket, all being alike.   [bytes]"""
        return self.gradients.value / self.buckets.value

    @cached_property
    def slice(self) -> Term:
        return ring_slice_bytes.explain("one hop of a bucket", S=self.bucket_bytes, n=self.gpus)

    @cached_property
    def backward(self) -> Term:
        return backward_s.explain("backward pass", **self._work)

    @cached_property
    def forward(self) -> Term:
        return forward_s.explain("forward pass", **self._work)

    @property
    def _work(self) -> dict[str, float]:
        return {
            "N": self.values["billions"] * 1e9,
            "T": self.values["tokens"],
            "P": CLUSTER.gpu.peak("bf16"),
            "u": REACHED,
        }

    @cached_property
    def bandwidth(self) -> Value:
        return ring_bandwidth(CLUSTER, self.gpus)

    @cached_property
    def traffic(self) -> Term:
        wire = {"bytes_per_s": self.bandwidth, "latency_s": 0.0}
        return ring_all_reduce_s.explain("gradient sum", S=self.gradients, n=self.gpus, **wire)

    @cached_property
    def tail(self) -> Term:
        return exposed_tail_s.explain("exposed tail", c=self.traffic, B=self.backward, k=self.buckets)

    @cached_property
    def passing(self) -> Buckets:
        """The buckets of the backward pass, on the engine's clock."""
        return Buckets(int(self.buckets.value), self.backward.value, self.traffic.value)

    def sent_by(self, now: float) -> float:
        """What a GPU has sent so long after the backward pass began.   [bytes]"""
        return self.passing.summed(now) / self.buckets.value * self.sent.value
