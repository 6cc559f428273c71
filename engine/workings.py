"""Every number of an answer as a Term, in the shape of the document: the one list of what can be asked for its working."""

from dataclasses import replace
from math import isfinite
from typing import Any

from engine.estimate import Estimate
from engine.language.formula import Formula, Given, Term, Value
from engine.layout.stages import stages_of
from engine.memory.held import gpu_parameters, stage_parameter_terms
from engine.memory.parameters import active_parameters, count
from engine.memory.stage import StageMemory
from engine.memory.state import fits
from engine.network.issued import Collective
from engine.pipeline.schedules.base import put_in
from engine.pipeline.timeline import simulated_bubble_of_ideal, simulated_bubble_of_total, simulated_in_flight
from engine.run.speed import tokens_per_second_per_gpu
from engine.step.step import mean_times

PACE = "this board's simulation: the first micro-batches, and the most that a further round of them can add"
SAME = 1e-9  # relative difference below which a closed form and the simulation say the same


def terms_of(estimate: Estimate) -> dict[str, Value]:
    """Every term by its dotted path in the document: "step.seconds", "memory.stages.0.weights_bytes".

    >>> from engine.estimate import estimate
    >>> from engine.scenario import scenario_from
    >>> card = estimate(scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024}))
    >>> terms_of(card)["pipeline.bubble_of_total"].text
    '15.8 % of the step'
    """
    found: dict[str, Value] = {}
    _gather(parts_of(estimate), "", found)
    return found


def _gather(part: Any, path: str, found: dict[str, Value]) -> None:
    if isinstance(part, Value):
        found[path] = part
    elif isinstance(part, dict | list):
        for name, inner in part.items() if isinstance(part, dict) else enumerate(part):
            _gather(inner, f"{path}.{name}" if path else str(name), found)


def parts_of(estimate: Estimate) -> dict[str, Any]:
    """The document with Terms for numbers."""
    mfu, training = estimate.mfu, estimate.training
    return {
        "parameters": _parameters(estimate),
        "memory": _memory(estimate),
        "communication": [_collective(collective) for collective in estimate.step.communication],
        "pipeline": _pipeline(estimate),
        "step": _step(estimate),
        "mfu": {"six_n": mfu.six_n, "causal": mfu.causal, "full_attention": mfu.full_attention, "hfu": mfu.hfu},
        "training": {
            "flop": training.flop,
            "gpu_hours": training.gpu_hours,
            "days": training.days,
            "usd": training.usd,
            "goodput_share": training.goodput_share,
        },
    }


def _parameters(estimate: Estimate) -> dict[str, Term]:
    model, layout = estimate.scenario.model, estimate.scenario.layout
    parts = count(model)
    stage = stages_of(model, layout)[estimate.fullest.stage].whole
    own, experts = stage_parameter_terms(model, layout, stage)
    return {
        "total": estimate.parameters,
        "active": active_parameters.explain(
            "active parameters",
            N=estimate.parameters,
            m=parts.moe_layers,
            E=parts.experts,
            k=parts.top_k,
            x=parts.expert,
        ),
        "per_gpu": gpu_parameters.explain(f"parameters per GPU of stage {estimate.fullest.stage}", o=own, x=experts),
    }


def _memory(estimate: Estimate) -> dict[str, Any]:
    gpu, needed = estimate.scenario.cluster.gpu, estimate.fullest.needed
    fact = gpu.fact("memory_bytes")
    capacity = Given(f"memory of {gpu.title}", estimate.capacity_bytes, "bytes", fact.source)
    return {
        "stages": [_stage(stage) for stage in estimate.stages],
        "peak_bytes": estimate.fullest.total,
        "capacity_bytes": capacity,
        "fits": fits.explain("fits", **needed.arguments, M=capacity),
    }


def _stage(stage: StageMemory) -> dict[str, Any]:
    return {
        "stage": stage.stage,
        "weights_bytes": stage.weights,
        "gradients_bytes": stage.gradients,
        "optimizer_bytes": stage.optimizer,
        "activations_bytes": stage.activations,
        "buffers_bytes": stage.buffers,
        "total_bytes": stage.total,
    }


def _collective(collective: Collective) -> dict[str, Any]:
    what = collective.what
    return {
        "axis": collective.axis,
        "op": collective.op,
        "payload_bytes": replace(collective.payload, label=f"{what}: buffer"),
        "sent_bytes_per_gpu": replace(collective.sent, label=f"{what}: sent per GPU"),
        "count": replace(collective.counted, label=f"{what}: times a step"),
        "link": collective.reach.wire,
        "seconds": collective.seconds,
        "exposed_seconds": collective.exposed,
    }


def _pipeline(estimate: Estimate) -> dict[str, Any]:
    """Bubble and micro-batches in flight: the closed form where it says the same as the timeline, else the timeline."""
    layout, alone, closed = estimate.scenario.layout, estimate.alone, estimate.scenario.layout.runs.closed
    measured = {"b": sum(alone.busy), "p": layout.pp, "e": alone.makespan}
    return {
        "bubble_of_total": _closed(estimate, closed.bubble_of_total, "bubble, share of the step", alone.bubble_of_total)
        or simulated_bubble_of_total.explain("bubble, share of the step", **measured),
        "bubble_of_ideal": _closed(estimate, closed.bubble_of_ideal, "bubble over ideal time", alone.bubble_of_ideal)
        or simulated_bubble_of_ideal.explain("bubble over ideal time", **measured),
        "in_flight": [_in_flight(estimate, stage) for stage in range(layout.pp)],
        "may_exceed": _may_exceed(estimate),
    }


def _may_exceed(estimate: Estimate) -> Given | None:
    """By how much the pipeline's timeline may be longer than the one that was computed; None where nobody can say."""
    most = estimate.step.outline.may_exceed
    return Given("what the timeline may be longer by", most, "share", PACE) if isfinite(most) else None


def _in_flight(estimate: Estimate, stage: int) -> Term:
    layout, alone = estimate.scenario.layout, estimate.alone
    label = f"micro-batches in flight on stage {stage}"
    if term := _closed(estimate, layout.runs.closed.in_flight, label, alone.in_flight[stage], stage):
        return term
    return simulated_in_flight.explain(label, n=alone.held[stage], w=alone.chunk_share)


def _closed(estimate: Estimate, formula: Formula | None, label: str, simulated: float, stage: int = 0) -> Term | None:
    """What a closed form says, where there is one and it says what the timeline shows."""
    if formula is None:
        return None
    layout, (F, B, W) = estimate.scenario.layout, mean_times(estimate.step)
    given = put_in(formula, p=layout.pp, m=layout.micro_batches, v=layout.vp, i=stage, F=F, B=B, W=W)
    term = formula.explain(label, **given)
    return term if abs(term.value - simulated) <= SAME * max(1.0, abs(simulated)) else None


def _step(estimate: Estimate) -> dict[str, Term]:
    step, speed = estimate.step, estimate.tokens_per_second
    return {
        "seconds": step.seconds,
        "low_seconds": step.low,
        "high_seconds": step.high,
        "compute_seconds": step.compute,
        "recompute_seconds": step.recompute,
        "exposed_communication_seconds": step.exposed,
        "bubble_seconds": step.bubble,
        "optimizer_seconds": step.optimizer,
        "tokens_per_second": speed,
        "tokens_per_second_per_gpu": tokens_per_second_per_gpu.explain(
            "tokens per second and GPU", r=speed, g=estimate.scenario.gpus
        ),
    }
