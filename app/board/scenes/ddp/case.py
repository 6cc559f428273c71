"""The numbers behind the data-parallel scene: gradients, their sum, and the pass it hides behind."""

from dataclasses import dataclass
from functools import cached_property

from app.board.scenes.base import Values
from engine.catalog.hardware import Cluster, cluster_named
from engine.language.formula import Given, Term, Value
from engine.language.units import MIB
from engine.memory.state import held_bytes
from engine.network.collectives import group_bytes_per_s, ring_all_reduce_s, ring_all_reduce_sent_bytes
from engine.step.overlap import backward_s, exposed_tail_s, forward_s, gradient_buckets

CLUSTER: Cluster = cluster_named("hgx-h100")
REACHED = 0.5  # of peak, an even middle for a first picture


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
    def buckets(self) -> Term:
        return gradient_buckets.explain("buckets", S=self.gradients, b=self.values["bucket"] * MIB)

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
        """Of the ring: NVLink inside a node; over nodes, where each GPU has its share of their adapters."""
        local, nvlink = CLUSTER.gpus_per_node, CLUSTER.gpu.fact("nvlink_bytes_per_s")
        if self.gpus <= local:
            return Given("bandwidth inside the node", nvlink.value, nvlink.unit, nvlink.source)
        wires = {"V": nvlink.value, "B": CLUSTER.nic_bytes_per_s}
        return group_bytes_per_s.explain("bandwidth between nodes", **wires, w=1.0, e=1.0, l=local)

    @cached_property
    def traffic(self) -> Term:
        given = {"S": self.gradients, "n": self.gpus, "bytes_per_s": self.bandwidth}
        return ring_all_reduce_s.explain("gradient sum", **given, latency_s=0.0)

    @cached_property
    def tail(self) -> Term:
        return exposed_tail_s.explain("exposed tail", c=self.traffic, B=self.backward, k=self.buckets)
