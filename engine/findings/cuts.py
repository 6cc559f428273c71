"""Changes that need less memory: each by itself, what costs least first, and then several together."""

from collections.abc import Iterator
from typing import Any

from engine.estimate import Estimate
from engine.findings.base import Candidate
from engine.findings.tensor import NORMS
from engine.layout.layout import Layout
from engine.pipeline.schedules import USUAL

ALL_AT_ONCE = "Several cuts at once, since none is enough by itself."
SHARDED = "Shard everything over all GPUs (FSDP) instead of cutting it into stages."


def less_memory(estimate: Estimate) -> tuple[Candidate, ...]:
    """What to cut when memory is short: of what is largest first, one thing after the other, at last all of it."""
    layout, parts = estimate.scenario.layout, estimate.fullest.parts
    kept, held = list(_activations(layout)), list(_state(estimate))
    first = max(parts, key=lambda part: part.value).label == "activations"
    single = (*kept, *held) if first else (*held, *kept)
    return (*single, *_several(estimate))


def _activations(layout: Layout) -> Iterator[Candidate]:
    """Less kept for the backward pass."""
    size = layout.micro_batch
    if layout.tp > 1 and not layout.sequence_parallel:
        yield Candidate({"sequence_parallel": True}, NORMS)
    if size > 1:
        yield Candidate({"micro_batch": size // 2}, "Halve the micro-batch: activations halve with it.")
        yield Candidate({"micro_batch": 1}, "One sequence a micro-batch: activations shrink with it.")
    if layout.recompute == "none":
        yield Candidate({"recompute": "selective"}, "Recompute attention alone: it keeps most and costs least to redo.")
    if layout.recompute != "full":
        yield Candidate(
            {"recompute": "full"},
            "Recompute the layers: only their inputs are kept, for a second forward pass, a third more work in all.",
        )
    if not layout.runs.simple and layout.pp > 1:
        yield Candidate({"schedule": USUAL.name, "vp": 1}, f"Run {USUAL.title}: its stages hold fewer micro-batches.")
    yield Candidate({"cp": 2 * layout.cp}, "Cut the sequence (CP): each GPU keeps half of its tokens.")


def _state(estimate: Estimate) -> Iterator[Candidate]:
    """Less of weights, gradients and optimizer."""
    layout, node = estimate.scenario.layout, estimate.scenario.cluster.gpus_per_node
    shards = layout.data_width * layout.cp > 1
    if layout.zero == 0 and shards:
        yield Candidate({"zero": 1}, "Shard the optimizer state (ZeRO-1): it costs no extra traffic.")
    if layout.zero < 3 and shards and layout.pp == 1:
        yield Candidate({"zero": 3}, "Shard gradients and weights as well (FSDP).")
    if layout.hsdp_shard:
        yield Candidate({"hsdp_shard": 2 * layout.hsdp_shard}, "Shard over twice as many ranks.")
    if layout.zero in (1, 2) and shards:
        yield from (Candidate({"zero": zero}, "Shard more.") for zero in range(layout.zero + 1, 4))
    if estimate.scenario.model.experts:
        yield Candidate({"ep": 2 * layout.ep}, "Spread the experts over twice as many GPUs.")
    if 2 * layout.tp <= node:
        yield Candidate({"tp": 2 * layout.tp}, "Cut the layers once more, inside the node.")
    yield Candidate({"pp": 2 * layout.pp}, "Twice as many stages: each holds half of the layers.")


def _several(estimate: Estimate) -> Iterator[Candidate]:
    """Cuts together, each time one more, with stages and without."""
    layout, node = estimate.scenario.layout, estimate.scenario.cluster.gpus_per_node
    tps = sorted({tp for tp in (layout.tp, 2 * layout.tp, min(8, node)) if layout.tp <= tp <= node} | {layout.tp})
    lean: dict[str, Any] = {"micro_batch": 1, "zero": max(1, layout.zero), "sequence_parallel": True}
    yield Candidate(lean, ALL_AT_ONCE)
    for redone in ({}, {"recompute": "full"}):
        yield from (Candidate({**lean, **redone, "tp": tp}, ALL_AT_ONCE) for tp in tps if redone or tp != layout.tp)
        for tp in dict.fromkeys((tps[-1], tps[0], 1)):
            yield Candidate({**lean, **redone, "tp": tp, "pp": 1, "zero": 3, "hsdp_shard": None}, SHARDED)
    for tp in reversed(tps):
        for deeper in (2, 4, 8):
            yield Candidate({**lean, "recompute": "full", "tp": tp, "pp": deeper * layout.pp}, ALL_AT_ONCE)
    for cp in (2, 4, 8):
        cut = {**lean, "recompute": "full", "tp": tps[-1], "cp": cp * layout.cp}
        yield Candidate({**cut, "zero": 3, "pp": 1, "hsdp_shard": None}, ALL_AT_ONCE)
        yield Candidate(cut, ALL_AT_ONCE)
