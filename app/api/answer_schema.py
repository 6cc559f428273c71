"""The documents that the API gives, as schemas: each field with its meaning and unit. Base units throughout."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from engine.findings import Severity


class Part(BaseModel):
    """A part of an answer."""

    model_config = ConfigDict(extra="forbid")


def says(meaning: str, unit: str = "") -> Any:
    """A field with its meaning and, where it is a quantity, its unit."""
    return Field(description=meaning, json_schema_extra={"unit": unit} if unit else None)


class ParametersPart(Part):
    total: float = says("parameters of the model", "parameters")
    active: float = says("those one token passes: its top-k experts instead of all", "parameters")
    per_gpu: float = says("on one GPU of the fullest stage, before ZeRO shards them", "parameters")


class StagePart(Part):
    stage: int = says("place in the pipeline, from 0")
    weights_bytes: float = says("weights", "bytes")
    gradients_bytes: float = says("gradients", "bytes")
    optimizer_bytes: float = says("master weights and Adam's two moments", "bytes")
    activations_bytes: float = says("kept for backward passes, all micro-batches in flight", "bytes")
    buffers_bytes: float = says("working buffers at the peak", "bytes")
    total_bytes: float = says("the five together", "bytes")


class MemoryPart(Part):
    stages: list[StagePart] = says("what one GPU of each stage allocates at its peak")
    peak_bytes: float = says("allocated on the fullest stage", "bytes")
    capacity_bytes: float = says("memory of one GPU, as its driver reports it", "bytes")
    fits: bool = says("whether the peak fits together with the allocator's reserve, CUDA's context and NCCL")


class CollectivePart(Part):
    axis: Literal["tp", "cp", "ep", "pp", "dp"] = says("the parallel dimension it belongs to")
    op: Literal["all_gather", "reduce_scatter", "all_reduce", "all_to_all", "send"] = says("what is done")
    payload_bytes: float = says("the whole buffer of ONE collective: gathered, before scattering, or sent", "bytes")
    sent_bytes_per_gpu: float = says("what one GPU sends in ONE collective", "bytes")
    count: float = says("how often one step issues it on the busiest stage", "times a step")
    link: Literal["nvlink", "leaf", "spine", "none"] = says(
        "the farthest wire it crosses: leaf is one switch between nodes"
    )
    seconds: float = says("ALL of them in one step", "s")
    exposed_seconds: float = says("the part of that which no computation hides", "s")


class PipelinePart(Part):
    bubble_of_total: float = says("idle time over the step, stages equal and sends free", "share")
    bubble_of_ideal: float = says("idle time over the time that work alone takes", "share")
    in_flight: list[float] = says(
        "for each stage: most micro-batches held, in activations of a full stage", "micro-batches"
    )
    may_exceed: float | None = says(
        "by how much the timeline, sends included, may be longer than was computed: 0 where that is proven, null where nobody "
        "can say",
        "share",
    )


class StepPart(Part):
    seconds: float = says("one step: the five parts add up to it", "s")
    low_seconds: float = says("lower end of the range, from the errors of similar measured runs", "s")
    high_seconds: float = says("upper end of that range", "s")
    compute_seconds: float = says("computation of the slowest stage", "s")
    recompute_seconds: float = says("activations computed again", "s")
    exposed_communication_seconds: float = says("communication that nothing hides", "s")
    bubble_seconds: float = says("waiting for other stages, with this model's uneven stages", "s")
    optimizer_seconds: float = says("the optimizer's update", "s")
    tokens_per_second: float = says("of the whole run", "tokens/s")
    tokens_per_second_per_gpu: float = says("of one GPU", "tokens/s")


class MfuPart(Part):
    six_n: float = says("6N FLOP per token, attention left out", "share of peak")
    causal: float = says("the causal half of attention counted (Megatron-LM today)", "share of peak")
    full_attention: float = says("attention counted in full, its masked half included (PaLM)", "share of peak")
    hfu: float = says("recomputed work counted as well", "share of peak")


class TrainingPart(Part):
    flop: float = says("work of the whole run, 6ND", "FLOP")
    gpu_hours: float = says("GPU time at the speed above, or at training.mfu where that is given", "GPU-hours")
    days: float = says("wall clock without failures", "days")
    usd: float = says("price of the GPU-hours", "USD")
    goodput_share: float = says("share of the wall clock left after saving, lost work and restarts", "share")


class GainPart(Part):
    step_seconds: float = says("before minus after", "s")
    peak_bytes: float = says("before minus after", "bytes")
    mfu: float = says("after minus before, causal attention", "share of peak")


class FindingPart(Part):
    code: str = says("stable name of the rule")
    severity: Severity = says("how grave it is")
    title: str = says("about five words")
    why: str = says("the reason, with this case's numbers")
    try_this: str = says("what to change; or what was tried and found no better")
    change: dict[str, int | str | bool | None] | None = says(
        "a change that was tried and helps: fields of layout, besides them stack and precision. Put into the scenario it "
        "gives exactly the plan that was tried, on the same GPUs and with the same global batch; null where nothing is offered"
    )
    gain: GainPart | None = says("what that change brings")


class TermPart(Part):
    label: str = says("what the number is")
    formula: str | None = says("the formula in symbols, LaTeX; null where the number is given, not computed")
    substituted: str | None = says("the same with this case's numbers; null as well")
    unit: str = says("base unit of the value")
    source: str = says("where the formula or number comes from")
    value: float | bool = says("the number, the same as at its path")


class EstimateDocument(Part):
    """Everything about a scenario."""

    parameters: ParametersPart
    memory: MemoryPart
    communication: list[CollectivePart] = says("kinds of collectives of one step, on the busiest stage")
    pipeline: PipelinePart
    step: StepPart
    mfu: MfuPart
    training: TrainingPart
    findings: list[FindingPart] = says("what is unwise about the layout, or well done; the gravest first")
    terms: dict[str, TermPart] = says(
        "the working or the source of every number, under its dotted path: memory.stages.0.weights_bytes"
    )


class IntervalPart(Part):
    stage: int = says("which stage, from 0")
    kind: Literal["F", "B", "I", "W"] = says(
        "forward, full backward, its input-gradient part, its weight-gradient part"
    )
    micro_batch: int = says("which micro-batch, from 0")
    chunk: int = says("which of the stage's chunks, from 0")
    start: float = says("when it begins", "time unit given")
    end: float = says("when it ends", "time unit given")


class ScheduleDocument(Part):
    """What every stage does during one step."""

    stages: int = says("pipeline stages", "count")
    micro_batches: int = says("micro-batches of the step", "count")
    makespan: float = says("from the first start to the last end", "time unit given")
    bubble_of_total: float = says("idle time over the step", "share")
    bubble_of_ideal: float = says("idle time over working time", "share")
    in_flight: list[float] = says(
        "for each stage: most micro-batches held, in activations of a full stage", "micro-batches"
    )
    intervals: list[IntervalPart] = says("the operations, stage by stage in order of time")


class FormulaDocument(Part):
    """One case of a formula with its working."""

    name: str = says("as it is asked for")
    value: float = says("the result", "the unit below")
    unit: str = says("base unit of the value")
    symbolic: str = says("the formula in symbols, LaTeX")
    substituted: str = says("the same with the numbers given")
    source: str = says("where the formula comes from")
    remark: str | None = Field(None, description="what is wrong with a result that no machine reaches; else left out")


class ParameterPart(Part):
    name: str = says("as it is given")
    meaning: str = says("what it is")
    unit: str = says("base unit")
    rule: str = says("which values have a meaning")
    default: float | None = says("taken when it is left out; null: it must be given")


class FormulaEntry(Part):
    """A formula without a case."""

    name: str = says("as it is asked for")
    title: str = says("what it gives")
    unit: str = says("base unit of the result")
    source: str = says("where it comes from")
    symbolic: str | dict[str, str] = says("LaTeX; one text for each case where there are several")
    parameters: list[ParameterPart] = says("what it takes")


class RefusalPart(Part):
    field: str = says("dotted path of the field")
    value: Any = says("what was given")
    rule: str = says("why it has no meaning")
    nearest: str | None = says("what would work")
    code: str = says("stable name of the rule")


class ErrorDocument(Part):
    """Why there is no answer."""

    error: str = says("one sentence: the field, the value given, the rule, the nearest that works")
    refusals: list[RefusalPart] = says("every field that is wrong; empty where it is not about fields")
