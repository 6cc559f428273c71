"""Findings about the pipeline: a large bubble, too few micro-batches, stages of unequal size."""

from collections.abc import Iterator
from typing import Any

from engine.estimate import Estimate
from engine.findings.base import Candidate, Finding, changes, rule
from engine.findings.offered import runs_here
from engine.language.document import divisors
from engine.language.refusal import Refusal
from engine.language.units import counted, share_text
from engine.layout.completion import completed
from engine.layout.layout import Layout
from engine.layout.stages import split_layers
from engine.pipeline.bubble import bubble_of_total
from engine.pipeline.schedules import SCHEDULES
from engine.pipeline.schedules.interleaved import INTERLEAVED

MOST_INTERLEAVINGS = 3  # thinner chunks send more and win little


@rule
def bubble(estimate: Estimate) -> Iterator[Finding]:
    """A bubble worth the trouble of another schedule."""
    layout, share = estimate.scenario.layout, estimate.alone.bubble_of_total
    if share <= estimate.scenario.calibration.factor("large_bubble_share"):
        return
    options = [(v, after) for v, after in _interleavings(estimate) if after < share][:MOST_INTERLEAVINGS]
    better = " or ".join(f"v = {v} ({share_text(after)})" for v, after in options[:2])
    yield Finding(
        "large-bubble",
        "warning",
        f"{share_text(share)} of every step waits",
        f"{counted(layout.pp, 'stage')} fill and drain around {counted(layout.micro_batches, 'micro-batch')}.",
        f"Interleave {better}." if better else "Run more micro-batches, or fewer stages.",
        (
            *(
                Candidate(
                    {"schedule": INTERLEAVED.name, "vp": v},
                    f"Interleave: v = {v} leaves a bubble of {share_text(after)}.",
                )
                for v, after in options
            ),
            *_fuller_pipes(layout),
            *_split_backwards(estimate),
        ),
    )


def _interleavings(estimate: Estimate) -> Iterator[tuple[int, float]]:
    """Chunk counts that the layers allow, each with the bubble it leaves."""
    layout, layers = estimate.scenario.layout, estimate.scenario.model.layers
    for v in divisors(layers // layout.pp) if layout.pp > 1 else ():
        change = {"schedule": INTERLEAVED.name, "vp": v}
        if v > layout.vp and (made := legal(estimate, change)):
            yield v, float(bubble_of_total(made.pp, made.micro_batches, v))


def _fuller_pipes(layout: Layout) -> tuple[Candidate, ...]:
    """More micro-batches for fewer stages: a smaller one, half of the stages, copies turned into cuts of a layer."""
    smaller = ({"micro_batch": layout.micro_batch // 2},) if layout.micro_batch > 1 else ()
    fewer = ({"pp": layout.pp // 2}, {"pp": layout.pp // 2, "tp": 2 * layout.tp}) if layout.pp % 2 == 0 else ()
    return changes(*smaller, *fewer, {"tp": 2 * layout.tp})


def _split_backwards(estimate: Estimate) -> tuple[Candidate, ...]:
    """The schedules that fill the bubble with weight gradients, of those that this software runs."""
    return changes(
        *(
            {"schedule": name, "vp": 1}
            for name, schedule in SCHEDULES.items()
            if schedule.splits_backward and runs_here(schedule, estimate.scenario)
        )
    )


def legal(estimate: Estimate, change: dict[str, Any]) -> Layout | None:
    """The layout with a change made, where it has a meaning on the same GPUs and with the same global batch."""
    scenario = estimate.scenario
    try:
        return completed(scenario.layout, change, scenario.model, scenario.gpus, scenario.sequence_tokens)
    except Refusal:
        return None


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
            _fuller_pipes(layout),
        )


@rule
def uneven_stages(estimate: Estimate) -> Iterator[Finding]:
    """Layers that do not divide into equal stages."""
    model, layout = estimate.scenario.model, estimate.scenario.layout
    chunks = layout.pp * layout.vp
    if layout.pp == 1 or not model.layers % chunks or not (model.layers + 2) % chunks:
        return
    near = [p for p in divisors(model.layers) if p > 1 and legal(estimate, {"pp": p})]
    near.sort(key=lambda p: abs(p - layout.pp))
    sizes = sorted(set(split_layers(model.layers, chunks)))

    def even(p: int) -> str:
        return f"{counted(p, 'stage')} would hold {counted(model.layers // p, 'layer')} each."

    yield Finding(
        "does-not-divide",
        "warning",
        "Stages of unequal size",
        f"{counted(model.layers, 'layer')} over {counted(layout.pp, 'stage')}, {sizes[0]} to {sizes[-1]} each: the larger make the others wait, and "
        "Megatron-LM takes them only where the layout is written out stage by stage.",
        even(near[0]) if near else f"No degree of pp divides the {model.layers} layers on these GPUs.",
        tuple(Candidate({"pp": p}, even(p)) for p in near),
    )
