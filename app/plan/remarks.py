"""The handwritten remarks under the planner's controls: what a value means in this plan."""

from math import isfinite

from engine.catalog.calibration import software
from engine.estimate import Estimate
from engine.language.units import count_text, counted, share_text
from engine.layout.stages import stages_of
from engine.pipeline.bubble import bubble_of_total
from engine.pipeline.schedules import schedule_named
from engine.pipeline.steady import Outline
from engine.scenario import Scenario, usual_stack


def remarks(estimate: Estimate, *, stack_chosen: bool) -> dict[str, str]:
    """A short remark for some of the fields, by their names.

    stack_chosen   whether the plan names its software; if not, it follows from ZeRO
    """
    scenario, layout, model = estimate.scenario, estimate.scenario.layout, estimate.scenario.model
    tokens = layout.global_batch * scenario.sequence_tokens
    said = {
        "gpus": f"{nodes_words(scenario)}; DP {layout.data_width:,}",
        "batch": f"{counted(tokens, 'token')} per step, {counted(layout.micro_batches, 'micro-batch')} per pipeline",
        "units": "what a GPU holds; what travels is in GB, powers of ten",
        "tp": _tensor(estimate),
        "pp": _stages(estimate),
        "model": f"{estimate.parameters.text}, {counted(model.layers, 'layer')}"
        + (f"; {count_text(estimate.active_parameters)} active" if model.experts else ""),
    }
    said |= {} if stack_chosen else _software(estimate)
    if layout.tp == 1:
        said["sequence_parallel"] = "with TP 1 there is nothing to cut"
    if (
        layout.pp > 1
        and layout.runs.simple
        and model.layers % (2 * layout.pp) == 0
        and layout.micro_batches % layout.pp == 0
    ):
        better = float(bubble_of_total(layout.pp, layout.micro_batches, 2))
        said["vp"] = f"interleaved with 2: bubble {share_text(estimate.alone.bubble_of_total)} → {share_text(better)}"
    elif layout.pp > 1:
        said["vp"] = f"bubble {share_text(estimate.alone.bubble_of_total)} of the step"
    return said


def nodes_words(scenario: Scenario) -> str:
    """The nodes of a run, and what the last one holds where the GPUs do not fill it."""
    size, fabric = scenario.cluster.gpus_per_node, scenario.cluster.gpu.fabric
    whole, over = divmod(scenario.gpus, size)
    words = f"{counted(whole + bool(over), f'{fabric} domain')} of {size}"
    return f"{words}, the last holds {over}" if over else words


def _software(estimate: Estimate) -> dict[str, str]:
    """Which software runs a plan that names none, said beside both controls: ZeRO 3 brings another than 0 to 2 do."""
    here, zero = estimate.scenario.stack_name, estimate.scenario.layout.zero
    title = software()[here].title
    if (usual := usual_stack(0)) == here:
        return {"stack": f"with ZeRO {zero}: {title}"}
    instead = f"{title}, not {software()[usual].title}"
    return {"zero": f"changes the software: {instead}", "stack": f"with ZeRO {zero}: {instead}"}


def _tensor(estimate: Estimate) -> str:
    reach, cluster = estimate.step.placement.reach("tp"), estimate.scenario.cluster
    if reach.size == 1:
        return "every matrix whole"
    if reach.leaves_node:
        return f"over {counted(reach.nodes, 'node')}"
    where = f"one {cluster.gpu.fabric} domain"
    return f"fills {where}" if reach.size == cluster.gpus_per_node else f"inside {where}"


def _stages(estimate: Estimate) -> str:
    scenario = estimate.scenario
    sizes = sorted({stage.whole.layers for stage in stages_of(scenario.model, scenario.layout)})
    if scenario.layout.pp == 1:
        return "no pipeline"
    return (
        f"{counted(sizes[0], 'layer')} per stage" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} layers per stage"
    )


def pipeline_remark(estimate: Estimate) -> str:
    """What the timeline shows, in a line."""
    layout = estimate.scenario.layout
    if layout.pp == 1:
        return "one stage: nothing to wait for"
    chunks = f", {layout.vp} chunks each" if layout.vp > 1 else ""
    title = schedule_named(layout.schedule).title
    said = f"{title} · {counted(layout.pp, 'stage')}{chunks} · {counted(layout.micro_batches, 'micro-batch')}"
    return f"{said}{_unproven(estimate.step.outline)}"


def _unproven(outline: Outline) -> str:
    """What is said of a step whose pace was seen and not proven."""
    if outline.exact:
        return ""
    seen = f" · pace of {outline.simulated:,} of them"
    return f"{seen}: up to {share_text(outline.may_exceed)} longer" if isfinite(outline.may_exceed) else seen
