"""Findings about memory: what does not fit, and what leaves little to spare."""

from collections.abc import Iterator
from typing import Any

from engine.estimate import Estimate
from engine.findings.base import Finding, rule
from engine.language.held import held_text
from engine.language.units import opening, share_text


@rule
def memory(estimate: Estimate) -> Iterator[Finding]:
    """Whether the fullest stage fits, and with what to spare."""
    needed, capacity = estimate.fullest.needed.value, estimate.capacity_bytes
    stage = f"stage {estimate.fullest.stage}" if len(estimate.stages) > 1 else "each GPU"
    share = f"{stage} needs {held_text(needed)} of {held_text(capacity)}"
    if needed > capacity:
        yield Finding(
            "out-of-memory",
            "error",
            "It does not fit",
            f"With the allocator's reserve and CUDA's context {share}.",
            *_less_memory(estimate),
            on_wires=True,
        )
    elif estimate.fullest.total.value > estimate.scenario.calibration.factor("roomy_share") * capacity:
        yield Finding(
            "little-headroom",
            "warning",
            "Little memory to spare",
            f"{opening(share)}; below {share_text(estimate.scenario.calibration.factor('roomy_share'))} allocated nobody ran out.",
            *_less_memory(estimate),
        )


def _less_memory(estimate: Estimate) -> tuple[str, dict[str, Any]]:
    """What to change first when memory is short: what is largest and can still be cut."""
    layout, parts = estimate.scenario.layout, estimate.fullest.parts
    largest = max(parts, key=lambda part: part.value).label
    if largest == "activations":
        if layout.micro_batch > 1:
            return "Halve the micro-batch: activations halve with it.", {}
        if layout.recompute != "full":
            return (
                "Recompute the layers: only their inputs are kept, for a second forward pass, a third more work in all.",
                {"recompute": "full"},
            )
    if layout.zero == 0 and layout.shard_width > 1:
        return "Shard the optimizer state (ZeRO-1): it costs no extra traffic.", {"zero": 1}
    if layout.zero < 3 and layout.shard_width > 1 and layout.pp == 1:
        return "Shard gradients and weights as well (FSDP).", {"zero": 3}
    return "Cut the model further: more tensor or pipeline parallelism, or more GPUs.", {}
