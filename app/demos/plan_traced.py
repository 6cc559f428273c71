"""A plan on its way to a trace on fake ranks: what of it is traced, what is not, and where it cannot be traced at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from urllib.parse import parse_qsl

from app.demos.traces import MOST_ROLE_S
from app.plan.form import FIELDS, document_of, query_of, state_of
from app.runner.fake.request import LAYERS, MODEL, fake_request, llamas
from engine.catalog.model import Model, model_named
from engine.language.inputs import Choice
from engine.language.refusal import Refusal
from engine.language.units import counted
from engine.memory.parameters import count
from engine.scenario import Scenario, scenario_from

TAKEN = ("model", "config", "gpus", "sequence", "batch", "tp", "pp")  # the trace has them, or refuses them
NO_EFFECT = (
    "cluster",
    "nic",
    "spine",
    "stack",
    "rank_order",
    "tokens",
    "price",
    "units",
)  # on calls and bytes of a rank
# the plan's other fields: their text in every trace, and what the trace does
AS_TRACED: Mapping[str, tuple[str, str]] = {
    "cp": ("1", "has whole sequences; the ranks of a context group are copies there"),
    "ep": ("1", "has no experts"),
    "micro_batch": ("1", "has one sequence in a micro-batch"),
    "schedule": ("1f1b", "runs 1F1B"),
    "vp": ("1", "has one chunk a stage"),
    "zero": ("1", "has FSDP2 that keeps its weights gathered between the passes, which is ZeRO 1"),
    "hsdp_shard": ("", "shards over all copies"),
    "recompute": ("none", "computes nothing again"),
    "gradient_bytes": ("4", "sums gradients in FP32"),
    "sequence_parallel": ("true", "cuts the norms by TP"),
    "precision": ("bf16", "multiplies in BF16"),
}


@dataclass(frozen=True)
class PlanTraced:
    """What a trace takes of a plan.

    query     of the plan, to lead back to it
    values    of the trace's inputs
    unsaid    a sentence for each thing that the trace does otherwise
    refusal   why there is nothing to trace, with the nearest that there is
    """

    query: str
    values: Mapping[str, str]
    unsaid: tuple[str, ...] = ()
    refusal: Refusal | None = None


def plan_traced(query: str) -> PlanTraced:
    """A planner's query as a trace.

    >>> plan_traced("pp=2&zero=0").unsaid[0]
    'ZeRO = 0: a trace has FSDP2 that keeps its weights gathered between the passes, which is ZeRO 1.'
    """
    state = state_of(dict(parse_qsl(query, keep_blank_values=True)))
    plan = query_of(state)
    try:
        scenario = scenario_from(document_of(state))
    except Refusal as refusal:
        return PlanTraced(plan, {}, refusal=Refusal("plan", None, f"has no meaning yet: {refusal.sentence}"))
    layout = scenario.layout
    values = {
        "model": state["model"],
        "tp": f"{layout.tp}",
        "pp": f"{layout.pp}",
        "dp": f"{scenario.gpus // (layout.tp * layout.pp)}",
        "sequence_tokens": f"{scenario.sequence_tokens}",
    }
    depth, said = _depth(scenario, values)
    unsaid = (*(_otherwise(name, state[name]) for name, (same, _) in AS_TRACED.items() if state[name] != same), *said)
    return PlanTraced(plan, values | depth, unsaid, _no_llama(state["model"], scenario.model))


def _otherwise(name: str, text: str) -> str:
    field = FIELDS[name]
    titles = dict(field.input.choices) if isinstance(field.input, Choice) else {}
    return f"{field.label} = {titles.get(text, text)}: a trace {AS_TRACED[name][1]}."


def _depth(scenario: Scenario, values: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Micro-batches that a page can wait for, and what is said where they are fewer than the plan's. Layers are always fewer."""
    layers, own = -(-scenario.model.layers // scenario.layout.pp), scenario.layout.micro_batches
    few = min(int(LAYERS.default or 1), layers)
    said = [f"{counted(few, 'layer')} a stage, of {layers}."] if few < layers else []
    try:
        if fake_request({**values, "layers_per_stage": few, "micro_batches": own}).role_s <= MOST_ROLE_S:
            return {"layers_per_stage": f"{few}", "micro_batches": f"{own}"}, said
    except Refusal:
        pass  # told with the rest, beside its field
    fewer = f"As many micro-batches as stages, of {own:,}: each further one does the same again."
    return {"layers_per_stage": f"{few}"}, [*said, fewer]


def _no_llama(name: str, model: Model) -> Refusal | None:
    """Why this model cannot be traced, with the one that can and is nearest in size."""
    known = llamas()
    if name in known:
        return None
    near = min(known, key=lambda each: abs(log(count(model_named(each)).total / count(model).total)))
    return Refusal("model", name, str(MODEL.said).replace("{names}", ", ".join(known)), near)
