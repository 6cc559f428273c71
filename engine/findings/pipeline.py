"""Findings about the pipeline: a large bubble, too few micro-batches, stages of unequal size."""

from collections.abc import Iterator
from typing import Any

from engine.estimate import Estimate
from engine.findings.base import Finding, rule
from engine.language.document import divisors
from engine.language.units import counted, share_text
from engine.layout.meaning import meaning_refusals
from engine.pipeline.bubble import bubble_of_total
from engine.pipeline.schedules.interleaved import INTERLEAVED


@rule
def bubble(estimate: Estimate) -> Iterator[Finding]:
    """A bubble worth the trouble of another schedule."""
    layout, share = estimate.scenario.layout, estimate.alone.bubble_of_total
    if share <= estimate.scenario.calibration.factor("large_bubble_share"):
        return
    options = [(v, after) for v, after in _interleavings(estimate) if after < share]
    better = " or ".join(f"v = {v} ({share_text(after)})" for v, after in options[:2])
    advice = f"Interleave {better}." if better else "Run more micro-batches, or fewer stages."
    yield Finding(
        "large-bubble",
        "warning",
        f"{share_text(share)} of every step waits",
        f"{counted(layout.pp, 'stage')} fill and drain around {counted(layout.micro_batches, 'micro-batch')}.",
        advice,
        {"schedule": INTERLEAVED.name, "vp": options[0][0]} if options else {},
    )


def _interleavings(estimate: Estimate) -> list[tuple[int, float]]:
    """Chunk counts that the layers allow, each with the bubble it leaves."""
    layout, layers = estimate.scenario.layout, estimate.scenario.model.layers
    if layout.pp == 1 or layers % layout.pp or layout.micro_batches % layout.pp:
        return []
    stage = layers // layout.pp
    options = [v for v in range(layout.vp + 1, stage + 1) if stage % v == 0]
    legal = [v for v in options if _legal(estimate, {"schedule": INTERLEAVED.name, "vp": v})]
    return [(v, float(bubble_of_total(layout.pp, layout.micro_batches, v))) for v in legal]


def _legal(estimate: Estimate, change: dict[str, Any]) -> bool:
    """Whether a changed layout has a meaning when dp takes what is left and the global batch stays, so far as it divides."""
    scenario = estimate.scenario
    layout = scenario.layout.model_copy(update={**change, "dp": None}).on_gpus(scenario.gpus)
    if layout.dp is None:
        return False
    batch = max(1, scenario.layout.global_batch // (layout.dp * layout.micro_batch))
    layout = layout.model_copy(update={"micro_batches": batch})
    return not meaning_refusals(layout, scenario.model, scenario.gpus, scenario.sequence_tokens)


@rule
def micro_batches(estimate: Estimate) -> Iterator[Finding]:
    """Too few micro-batches to fill the pipeline."""
    layout = estimate.scenario.layout
    if layout.pp > 1 and layout.micro_batches < layout.pp:
        yield Finding(
            "too-few-micro-batches",
            "warning",
            "Fewer micro-batches than stages",
            f"{counted(layout.micro_batches, 'micro-batch')} cannot fill {counted(layout.pp, 'stage')}: some always wait.",
            f"Run at least {4 * layout.pp} micro-batches per pipeline, with less data parallelism or a larger batch.",
        )


@rule
def uneven_stages(estimate: Estimate) -> Iterator[Finding]:
    """Layers that do not divide into equal stages."""
    model, layout = estimate.scenario.model, estimate.scenario.layout
    chunks = layout.pp * layout.vp
    if layout.pp > 1 and model.layers % chunks and (model.layers + 2) % chunks:
        near = [p for p in divisors(model.layers) if _legal(estimate, {"pp": p})]
        if not near:
            return
        best = min(near, key=lambda p: abs(p - layout.pp))
        yield Finding(
            "does-not-divide",
            "warning",
            "Stages of unequal size",
            f"{counted(model.layers, 'layer')} over {counted(layout.pp, 'stage')}: the larger stages make the others wait.",
            f"{counted(best, 'stage')} would hold {counted(model.layers // best, 'layer')} each.",
            {"pp": best},
        )
