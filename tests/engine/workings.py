"""What the workings of collectives are held against: scenarios of every kind, changes of their inputs, and what every
argument of a working is, written down from the scenario alone.

That the LaTeX of a working is its function is for test_formula.py; here the function is what the engine computed.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

from engine.catalog.model import Model, model_named
from engine.estimate import Estimate
from engine.language.formula import Term, Value, number_of
from engine.layout.stages import stages_of
from engine.memory.parameters import count
from engine.network.issued import Collective
from engine.pipeline.schedules import SCHEDULES, schedule_named

DEEPSEEK = {"model": "deepseek-v3", "gpus": 2048, "sequence_tokens": 4096, "tp": 1, "pp": 16, "micro_batches": 32}
MIXTRAL = {"model": "mixtral-8x7b", "gpus": 64, "pp": 1, "micro_batches": 2}
FSDP = {"tp": 1, "pp": 1, "zero": 3, "micro_batches": 2}
SCENARIOS: dict[str, dict[str, Any]] = {
    **{
        f"schedule {name}": {"schedule": name, **({"vp": 2} if schedule.own_chunks is None else {})}
        for name, schedule in SCHEDULES.items()
    },
    **{f"zero {stage}": {"zero": stage, "gradient_bytes": 2} for stage in range(4)},
    "no sequence parallelism": {"sequence_parallel": False},
    "recomputed": {"recompute": "full", "precision": "fp8"},
    "fsdp": FSDP,
    "hsdp": {**FSDP, "hsdp_shard": 64},
    "fsdp in a pipe": {"zero": 3, "micro_batches": 8},
    "context": {"sequence_tokens": 131_072, "cp": 8, "micro_batches": 4, "recompute": "full"},
    "more ranks than heads": {"sequence_tokens": 65_536, "tp": 16, "cp": 4, "pp": 2},
    "latent context": {**DEEPSEEK, "cp": 2, "ep": 8, "sequence_tokens": 16_384},
    "experts": {**MIXTRAL, "tp": 1, "ep": 8},
    "whole experts": {**MIXTRAL, "tp": 2, "zero": 3},
    "sharded experts": {**MIXTRAL, "tp": 2, "ep": 8, "zero": 3},
    "experts both ways": {**DEEPSEEK, "ep": 64, "precision": "fp8", "schedule": "dualpipe", "micro_batches": 120},
    "experts recomputed": {**DEEPSEEK, "ep": 64, "precision": "fp8", "recompute": "full"},
    "one domain": {**DEEPSEEK, "cluster": "gb200-nvl72", "gpus": 2304, "ep": 16},
}

Facts = Mapping[tuple[str, str], tuple[float, ...]]


def facts_of(found: Estimate, one: Collective) -> Facts:
    """What every argument of a collective's workings is, from the scenario: what it may be, where that depends."""
    scenario = found.scenario
    model, layout, tp, sp = scenario.model, scenario.layout, scenario.layout.tp, scenario.layout.sp
    held, parts = stages_of(model, layout)[found.step.stage].whole, count(model)
    layers, once = {"f": (held.dense, 1), "m": (held.moe, 1)}, (1, layout.micro_batches)
    placement = schedule_named(layout.schedule).placement(layout.pp, layout.vp)
    data, tail = layout.data_width * layout.cp, parts.head or parts.embedding
    a_pass = {"tp": 2, "ep": 1, "dp": 1}.get(one.axis, 0)
    repeated = float(layout.recompute == "full" and one.axis != "dp" and not one.what.endswith(("again", "gradients")))
    size = layout.gradient_bytes if one.axis == "dp" and one.op != "all_gather" else 2
    if one.what == "EP dispatch" and scenario.fp8:
        size = 1
    bytes_each = {(name, "b"): (size,) for name in PAYLOADS}
    ends = parts.embedding * held.embedding, (parts.head + parts.final_norm) * held.head
    tied = parts.embedding * (parts.head == 0 and held.head and not held.embedding)
    return bytes_each | {
        ("rank_tokens", "b"): (layout.micro_batch,),
        ("rank_tokens", "s"): (scenario.sequence_tokens,),
        ("rank_tokens", "c"): (layout.cp,),
        ("activation_payload_bytes", "w"): (model.hidden,),
        ("handover_bytes", "h"): (model.hidden,),
        ("handover_bytes", "t"): (sp,),
        ("keys_and_values_bytes", "k"): (model.kv_heads,),
        ("keys_and_values_bytes", "t"): (tp,),
        ("keys_and_values_bytes", "q"): (model.qk_dim,),
        ("keys_and_values_bytes", "v"): (model.v_dim,),
        ("latents_bytes", "r"): (model.kv_lora_rank,),
        ("latents_bytes", "p"): (model.qk_rope_head_dim,),
        ("copies_of_token", "k"): (model.top_k,),
        ("copies_of_token", "n"): (model.routed_nodes,),
        ("copies_of_token", "g"): (max(1, layout.ep * layout.cp // scenario.cluster.gpus_per_node), layout.ep / 8),
        ("exchange_bytes", "t"): (sp,),
        ("exchange_bytes", "k"): (model.top_k,),
        ("exchange_bytes", "h"): (model.hidden,),
        ("stage_parameters", "n"): (*layers["f"], 0),
        ("stage_parameters", "l"): (parts.dense_layer,),
        ("stage_parameters", "m"): (*layers["m"], 0),
        ("stage_parameters", "r"): (parts.moe_rest,),
        ("stage_parameters", "e"): (sum(ends) + tied, 0),
        ("stage_parameters", "t"): (tp,),
        ("stage_expert_parameters", "m"): layers["m"],
        ("stage_expert_parameters", "E"): (model.experts,),
        ("stage_expert_parameters", "x"): (parts.expert,),
        ("stage_expert_parameters", "e"): (layout.ep,),
        ("stage_expert_parameters", "t"): (layout.expert_tp,),
        ("end_parameters", "e"): (ends[0],),
        ("end_parameters", "h"): (tail * held.head,),
        ("end_parameters", "t"): (tp,),
        ("shard_payload_bytes", "D"): (layout.shard_width,),
        ("layer_times", "f"): (a_pass, 0),
        ("layer_times", "r"): (repeated, 0),
        ("layer_times", "b"): (a_pass, 0),
        ("ring_hops", "k"): (1, 2),
        ("ring_hops", "c"): (layout.cp,),
        ("issued_by_layers", "n"): (held.dense, held.moe),
        ("issued_by_layers", "m"): (layout.micro_batches,),
        ("issued_by_both_layers", "n"): (held.dense,),
        ("issued_by_both_layers", "x"): (held.moe,),
        ("issued_by_both_layers", "m"): (layout.micro_batches,),
        ("issued_count", "c"): (1,),
        ("issued_count", "m"): once,
        ("issued_sends", "v"): (len(placement.places[0]) // placement.pipes,),
        ("issued_sends", "m"): (layout.micro_batches,),
        ("pipe_micro_batches", "m"): (layout.micro_batches,),
        ("pipe_micro_batches", "p"): (placement.pipes,),
        **{(f"{name}_sent_bytes", "n"): _ranks(found, data) for name in ("ring_all_gather", "ring_all_reduce")},
        ("all_to_all_sent_bytes", "n"): (layout.ep,),
        ("times_s", "t"): (one.each_s,),
        ("exposed_s", "t"): (one.each_s,),
        ("exposed_s", "x"): (one.exposed_share,),
    }


PAYLOADS = (
    "activation_payload_bytes",
    "handover_bytes",
    "keys_and_values_bytes",
    "latents_bytes",
    "exchange_bytes",
    "parameter_payload_bytes",
    "shard_payload_bytes",
)


def _ranks(found: Estimate, data: int) -> tuple[float, ...]:
    layout = found.scenario.layout
    copies = data * layout.tp // (layout.ep * layout.expert_tp)
    return layout.tp, layout.shard_width, data, data // layout.shard_width, copies


def possible(term: "float | Value", facts: Facts, before: Facts, whose: tuple[str, str] = ("", "")) -> set[float]:
    """What a working gives where its inputs are those of other facts.

    An argument that may be one of several is taken to stay what it was: the number at the same place.
    """
    if not isinstance(term, Term):
        return {new for new, old in zip(facts[whose], before[whose], strict=True) if old == number_of(term)}
    name, arguments = term.formula.name, term.arguments
    choices = [possible(argument, facts, before, (name, key)) for key, argument in arguments.items()]
    return {float(term.formula(**dict(zip(arguments, chosen, strict=True)))) for chosen in product(*choices)}


def leaves(term: Term) -> Iterator[tuple[str, str, float]]:
    """Arguments that are not computed further: the formula, the name and the number of each."""
    for key, argument in term.arguments.items():
        if isinstance(argument, Term):
            yield from leaves(argument)
        else:
            yield term.formula.name, key, number_of(argument)


def terms_in(term: Term) -> Iterator[Term]:
    """A term and all that it opens into."""
    yield term
    for argument in term.arguments.values():
        if isinstance(argument, Term):
            yield from terms_in(argument)


def workings_of(one: Collective) -> dict[str, Term]:
    """The workings of a collective, but for the delay of sends, which two simulations give."""
    exposed = {} if one.delay else {"exposed": one.exposed}
    return {"payload": one.payload, "times": one.counted, "sent": one.sent, "seconds": one.seconds, **exposed}


def _model(**changes: Callable[[Model], int]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def change(asked: dict[str, Any]) -> dict[str, Any]:
        model = model_named(asked.get("model", "llama-3-70b"))
        return {**asked, "model": model.model_dump() | {name: new(model) for name, new in changes.items()}}

    return change


def _asked(name: str, new: Callable[[Any], Any], usual: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda asked: {**asked, name: new(asked.get(name, usual))}


# Inputs, changed by about 1 % where they can be. A change that has no meaning for a scenario is refused there.
CHANGES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "sequence_tokens": _asked("sequence_tokens", lambda s: s + 128, 8192),
    "micro_batch": _asked("micro_batch", lambda b: b + 1, 1),
    "micro_batches": _asked("micro_batches", lambda m: 2 * m, 16),
    "gradient_bytes": _asked("gradient_bytes", lambda b: 6 - b, 4),
    "precision": _asked("precision", lambda p: "bf16" if p == "fp8" else "fp8", "bf16"),
    "sequence_parallel": _asked("sequence_parallel", lambda cut: not cut, True),
    "recompute": _asked("recompute", lambda what: "none" if what == "full" else "full", "none"),
    "hidden": _model(hidden=lambda m: m.hidden + 80),
    "layers": _model(layers=lambda m: 2 * m.layers),
    "inner sizes": _model(ffn=lambda m: m.ffn + 256, moe_ffn=lambda m: m.moe_ffn and m.moe_ffn + 16),
    "vocab": _model(vocab=lambda m: m.vocab + 1280),
    "kv_heads": _model(kv_heads=lambda m: 2 * m.kv_heads),
    "kv_lora_rank": _model(kv_lora_rank=lambda m: m.kv_lora_rank and m.kv_lora_rank + 5),
    "top_k": _model(top_k=lambda m: m.top_k and m.top_k + 1),
    "routed_nodes": _model(routed_nodes=lambda m: m.routed_nodes and m.routed_nodes - 1),
    "experts": _model(experts=lambda m: 2 * m.experts),
}
