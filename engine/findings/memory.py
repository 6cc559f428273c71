"""Findings about memory: what does not fit, and what leaves little to spare."""

from collections.abc import Iterator

from engine.estimate import Estimate
from engine.findings.base import Finding, rule
from engine.findings.cuts import less_memory
from engine.language.held import held_text
from engine.language.units import share_text

FURTHER = "Cut the model further: more tensor or pipeline parallelism, or more GPUs."


@rule
def memory(estimate: Estimate) -> Iterator[Finding]:
    """Whether the fullest stage fits, and with what to spare."""
    needed, capacity = estimate.fullest.needed.value, estimate.capacity_bytes
    stage = f"Stage {estimate.fullest.stage}" if len(estimate.stages) > 1 else "Each GPU"
    share = f"needs {held_text(needed)} of {held_text(capacity)}"
    roomy = estimate.scenario.calibration.factor("roomy_share")
    if needed > capacity:
        cuts = less_memory(estimate)
        yield Finding(
            "out-of-memory",
            "error",
            "It does not fit",
            f"{stage} {share}, with the allocator's reserve and CUDA's context.",
            cuts[0].words if cuts else FURTHER,
            cuts,
            on_wires=True,
        )
    elif estimate.fullest.total.value > roomy * capacity:
        cuts = less_memory(estimate)
        yield Finding(
            "little-headroom",
            "warning",
            "Little memory to spare",
            f"{stage} {share}; below {share_text(roomy)} allocated nobody ran out.",
            cuts[0].words if cuts else FURTHER,
            cuts,
        )
