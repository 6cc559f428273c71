"""Findings about the whole run: a simpler layout, the busiest expert, an MFU nobody has shown, failures."""

from collections.abc import Iterator
from typing import Any

from engine.estimate import Estimate
from engine.findings.base import Candidate, Finding, rule
from engine.language.held import held_text
from engine.language.units import counted, seconds_text, share_text
from engine.memory.state import state_bytes

ALONE = "Use FSDP alone: no pipeline, no tensor parallelism to maintain."
KEPT: tuple[dict[str, Any], ...] = ({}, {"recompute": "selective"}, {"recompute": "full"})  # what it gathers needs room


@rule
def simpler(estimate: Estimate) -> Iterator[Finding]:
    """A small run that FSDP alone would carry."""
    scenario, layout = estimate.scenario, estimate.scenario.layout
    if layout.zero == 3 or layout.pp == 1 or scenario.gpus > estimate.scenario.calibration.factor("simple_gpus"):
        return
    state = state_bytes(estimate.parameters.value, 3, scenario.gpus)
    if state < estimate.scenario.calibration.factor("simple_state_share") * estimate.capacity_bytes:
        yield Finding(
            "simpler-layout-fits",
            "advice",
            "Plain FSDP might do",
            f"Sharded over {counted(scenario.gpus, 'GPU')} the training state is {held_text(state)} each.",
            ALONE,
            (
                *(Candidate({"tp": 1, "pp": 1, "zero": 3, **more}, ALONE) for more in KEPT),
                *(Candidate({"pp": 1, "zero": 3, **more}, "Use FSDP instead of stages.") for more in KEPT),
            ),
        )


@rule
def experts(estimate: Estimate) -> Iterator[Finding]:
    """What is assumed of the busiest expert."""
    layout, model = estimate.scenario.layout, estimate.scenario.model
    if not model.experts or layout.ep == 1:
        return
    imbalance = estimate.scenario.calibration.factors["expert_imbalance"]
    yield Finding(
        "experts-imbalanced",
        "advice",
        "The busiest expert sets the pace",
        f"Reckoned with {imbalance.value:g} times the mean load; {imbalance.low:g} to {imbalance.high:g} are seen.",
        "Balance routing (auxiliary loss or bias), or drop over a capacity.",
    )


@rule
def plausible(estimate: Estimate) -> Iterator[Finding]:
    """An MFU above what anyone has published."""
    value = estimate.mfu.causal.value
    given = estimate.scenario.training.mfu
    most = estimate.scenario.calibration.factors["plausible_mfu"]
    if max(value, given or 0) > most.value:
        shown = max(value, given or 0)
        yield Finding(
            "mfu-implausible",
            "warning",
            "Faster than anyone has shown",
            f"{share_text(shown)} MFU; {most.source}.",
            "Check the batch and the sequence, and which convention and peak a quoted MFU uses.",
        )


@rule
def restarts(estimate: Estimate) -> Iterator[Finding]:
    """A run that loses much of its time to failures."""
    goodput = estimate.training.goodput_share
    if goodput.value < estimate.scenario.calibration.factor("useful_share"):
        mtbf = goodput.numbers["M"]
        yield Finding(
            "no-restart-plan",
            "warning",
            "Failures need a plan",
            f"Some GPU fails every {seconds_text(mtbf)}: {share_text(goodput.value)} of the time would be useful.",
            "Save asynchronously, restart in minutes, keep spare nodes.",
        )
