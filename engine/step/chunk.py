"""Seconds that one chunk of a stage takes for one micro-batch: computation, recomputation and waiting for collectives."""

from dataclasses import dataclass

from engine.compute.work import Work, embedding_work, head_work, layer_work
from engine.layout.stages import Chunk
from engine.network.communication import Traffic
from engine.network.issued import Collective, LayerTraffic


@dataclass(frozen=True)
class ChunkTime:
    """Seconds of one chunk and micro-batch: what it computes, computes again, and waits for collectives."""

    work: Work
    recompute: float
    forward_wait: float
    backward_wait: float
    traffic: tuple[tuple[int, bool, LayerTraffic], ...]  # so many layers, with experts or without, issue this
    backward_nic: float  # of the backward pass's computation, beside which the NIC is busy with other axes than dp

    @property
    def forward(self) -> float:
        return self.work.forward + self.forward_wait

    @property
    def backward_input(self) -> float:
        return self.recompute + self.work.backward_input + self.backward_wait


def chunk_time(traffic: Traffic, chunk: Chunk) -> ChunkTime:
    """Seconds of one chunk and micro-batch."""
    model, layout, machine, tokens = traffic.model, traffic.layout, traffic.machine, traffic.sequence_tokens
    kinds = [
        (number, layer_work(model, layout, machine, tokens, moe), moe)
        for number, moe in ((chunk.dense, False), (chunk.moe, True))
        if number
    ]
    issued = tuple((number, moe, traffic.layer(work, moe)) for number, work, moe in kinds)
    ends = [
        work(model, layout, machine, tokens)
        for present, work in ((chunk.embedding, embedding_work), (chunk.head, head_work))
        if present
    ]
    parts = [(number, work) for number, work, _ in kinds] + [(1, work) for work in ends]
    work = Work(
        *(sum(n * getattr(w, name) for n, w in parts) for name in ("forward", "backward_input", "backward_weight"))
    )
    again = {
        "none": 0.0,
        "selective": sum(n * w.core for n, w, _ in kinds),
        "full": sum(n * w.forward for n, w, _ in kinds),
    }
    repeat = 1 if layout.recompute == "full" else 0
    return ChunkTime(
        work=work,
        recompute=again[layout.recompute],
        forward_wait=sum(n * t.forward_s for n, _, t in issued),
        backward_wait=sum(n * (t.backward_s + repeat * _repeated_s(t)) for n, _, t in issued),
        traffic=issued,
        backward_nic=sum(n * _nic_s(t) for n, _, t in issued),
    )


def _nic_s(traffic: LayerTraffic) -> float:
    return sum(c.seconds.value - c.exposed.value for c in traffic.backward if c.reach.leaves_node and c.axis != "dp")


def _repeated_s(traffic: LayerTraffic) -> float:
    return sum(c.exposed.value for c in traffic.forward if repeats(c))


def repeats(collective: Collective) -> bool:
    """Whether full recomputation issues a forward collective once more: no gather of weights, which backward does anyway."""
    return collective.axis != "dp"
