"""What every export keeps to: each field of a scenario is in its files, or said to be left out.

Every field is changed by itself, or together with what it cannot do without. A target that is blind to the field must
then be caught: it is tried as well.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, get_args

import pytest

from engine.catalog.calibration import software
from engine.catalog.model import Model
from engine.catalog.precision import PRECISIONS
from engine.export import TARGETS, Export, Target, export
from engine.export.model_facts import FACTS
from engine.importing import read
from engine.language.refusal import Refusal
from engine.layout.layout import Layout, Recompute
from engine.pipeline.schedules import SCHEDULES
from engine.scenario import Scenario, ScenarioDocument, Training, scenario_from

DENSE = {"model": "llama-3-70b", "cluster": "hgx-b200", "gpus": 1024, "layout": {}}
EXPERTS = {"model": "mixtral-8x7b", "cluster": "hgx-b200", "gpus": 64, "layout": {"tp": 1, "pp": 1, "dp": 64}}
SHARDED = {"layout": {"pp": 1, "zero": 3, "dp": 128, "micro_batches": 4}}
CHUNKS = {"layout": {"schedule": "interleaved", "vp": 2}}
NOT_LAUNCHED = {  # nothing that is started would say these
    "training.usd_per_gpu_hour": "a price is paid, not launched",
    "training.mfu": "the speed of a run is measured, not set",
}


SAID_TWICE = ("gpus", "layout.dp")  # one is what the other and the degrees make: whoever misses one sees the other


class Change(NamedTuple):
    """A field with the value it is given, what it changes from, and what has to change beside it.

    number   whether the value itself must stand in what is written, since what changes beside it is written too
    """

    field: str
    value: Any
    base: dict[str, Any]
    beside: dict[str, Any]
    number: bool = False


def merged(base: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """A document with more of it, parts put together."""
    return base | {
        name: merged(base.get(name, {}), part) if isinstance(part, dict) and name in ("layout", "training") else part
        for name, part in more.items()
    }


def put(field: str, value: Any) -> dict[str, Any]:
    part, _, name = field.rpartition(".")
    return {part: {name: value}} if part else {name: value}


def layout_changes() -> Iterator[Change]:
    """The axes keep the GPUs and the global batch as they are; the rest changes alone."""
    yield Change("layout.tp", 2, DENSE, {"layout": {"dp": 128, "micro_batches": 4}}, number=True)
    yield Change("layout.pp", 2, DENSE, {"layout": {"dp": 64, "micro_batches": 8}}, number=True)
    yield Change("layout.cp", 2, DENSE, {"layout": {"dp": 16, "micro_batches": 32}}, number=True)
    yield Change("layout.ep", 8, EXPERTS, {})
    yield Change("layout.dp", 64, DENSE, {"gpus": 2048})
    yield Change("layout.vp", 5, merged(DENSE, CHUNKS), {})
    yield Change("layout.micro_batch", 2, DENSE, {"layout": {"micro_batches": 8}}, number=True)
    yield Change("layout.micro_batches", 48, DENSE, {})
    for stage in (0, 2, 3):
        yield Change("layout.zero", stage, DENSE, {})
    yield Change("layout.hsdp_shard", 32, merged(DENSE, SHARDED), {})
    yield Change("layout.sequence_parallel", False, DENSE, {})
    yield Change("layout.gradient_bytes", 2, DENSE, {})
    yield Change("layout.rank_order", "tp-cp-ep-pp-dp", DENSE, {})
    for much in get_args(Recompute):
        if much != "none":
            yield Change("layout.recompute", much, DENSE, {})
    for name, schedule in SCHEDULES.items():
        if name != Layout().schedule:
            chunks = CHUNKS if schedule.takes_chunks else {"layout": {}}
            yield Change("layout.schedule", name, DENSE, {"layout": {"vp": chunks["layout"].get("vp", 1)}})


def changes() -> Iterator[Change]:
    yield from layout_changes()
    yield Change("model", "llama-3-8b", merged(DENSE, {"layout": {"tp": 8, "pp": 4}}), {})
    yield Change("cluster", {"base": "hgx-b200", "gpus_per_node": 4}, DENSE, {})
    yield Change("gpus", 2048, DENSE, {})
    yield Change("sequence_tokens", 4096, DENSE, {})
    yield Change("training.tokens", 1e12, DENSE, {})
    for name in PRECISIONS:
        if name != ScenarioDocument.model_fields["precision"].default:
            yield Change("precision", name, DENSE, {})
    for name in software():
        if name != scenario_from(DENSE).stack_name:
            yield Change("stack", name, DENSE, {})


CHANGES = list(changes())
each_change = pytest.mark.parametrize("change", CHANGES, ids=[f"{c.field}={str(c.value)[:24]}" for c in CHANGES])
each_target = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)


def both(change: Change) -> tuple[Scenario, Scenario]:
    """The scenario before and after the change."""
    after = merged(merged(change.base, change.beside), put(change.field, change.value))
    return scenario_from(change.base), scenario_from(after)


def heads(field: str, made: Export) -> set[str]:
    """What is said about a field: how each sentence about it begins, "layout.pp = 2"."""
    found = (re.match(rf"{re.escape(field)}(\.\w+)? = [^:]*", sentence) for sentence in made.left_out)
    return {match[0] for match in found if match}


def seen(change: Change, before: Export, after: Export) -> bool:
    """Whether a change of a field shows: in what is said about it, or in what is written."""
    if heads(change.field, before) != heads(change.field, after):
        return True
    first, second = ({line for file in made.files for line in file.text.splitlines()} for made in (before, after))
    if change.number:
        return any(re.search(rf"(?<![\w.]){change.value}(?![\w.])", line) for line in second - first)
    return first != second


def test_every_field_of_a_scenario_is_changed() -> None:
    parts = {"layout": Layout, "training": Training}
    fields = {name for name in ScenarioDocument.model_fields if name not in parts}
    fields |= {f"{part}.{name}" for part, kind in parts.items() for name in kind.model_fields}
    assert {change.field for change in CHANGES} | set(NOT_LAUNCHED) == fields


@each_target
@each_change
def test_what_changes_is_written_or_said(change: Change, target: Target) -> None:
    before, after = both(change)
    assert seen(change, export(before, target.name), export(after, target.name))


@pytest.mark.parametrize("target", list(TARGETS.values()), ids=lambda target: target.name)
@each_change
def test_what_changes_comes_back_or_was_said(change: Change, target: Target) -> None:
    _, scenario = both(change)
    made = export(scenario, target.name)
    again = scenario_from(read(made.files[0].text).document)
    if change.field in ("cluster", "training.tokens"):
        return  # a text names no cluster, and counts whole steps
    found, meant = value_at(again, change.field), value_at(scenario, change.field)
    assert found == meant or heads(change.field, made)


def value_at(scenario: Scenario, field: str) -> Any:
    found: Any = scenario
    for part in field.split("."):
        found = getattr(found, "stack_name" if part == "stack" else part)
    return found


def blind(write: Callable[[Scenario], Export], change: Change) -> Callable[[Scenario], Export]:
    """An export that does not see a field: it takes what stood there before."""
    before, _ = both(change)
    part, _, name = change.field.rpartition(".")
    name = "stack_name" if name == "stack" else name

    def written(scenario: Scenario) -> Export:
        if part:
            old = getattr(getattr(before, part), name)
            inner = getattr(scenario, part).model_copy(update={name: old})
            return write(scenario.model_copy(update={part: inner}))
        return write(scenario.model_copy(update={name: getattr(before, name)}))

    return written


@each_target
@pytest.mark.parametrize(
    "change", [c for c in CHANGES if c.field not in SAID_TWICE], ids=lambda c: f"{c.field}={c.value}"[:40]
)
def test_an_export_that_does_not_see_a_field_is_caught(change: Change, target: Target) -> None:
    before, after = both(change)
    unseeing = replace(target, write=blind(target.write, change))
    try:
        made = unseeing.write(after)
    except (Refusal, AssertionError, ArithmeticError, ValueError):
        return  # it could not even be written
    assert not seen(change, target.write(before), made)


SHAPE = {"layers": 16, "hidden": 1024, "heads": 16, "vocab": 1000, "ffn": 2816, "gated": True}
EXPERT_SHAPE = {**SHAPE, "experts": 8, "top_k": 2, "moe_ffn": 512}
RANKS = {"q_lora_rank": 96, "kv_lora_rank": 64}
LATENT_SHAPE = {**SHAPE, **RANKS, "qk_nope_head_dim": 32, "qk_rope_head_dim": 16, "v_head_dim": 32}
# every field of a Model -> a shape to start from, and the value it is given
OF_A_MODEL: dict[str, tuple[dict[str, Any], Any]] = {
    "layers": (SHAPE, 24),
    "hidden": (SHAPE, 1536),
    "heads": (SHAPE, 8),
    "vocab": (SHAPE, 1234),
    "kv_heads": (SHAPE, 4),
    "head_dim": (SHAPE, 96),
    "ffn": (SHAPE, 3072),
    "gated": (SHAPE, False),
    "tied": (SHAPE, True),
    "positions": (SHAPE, 16384),
    "experts": (EXPERT_SHAPE, 16),
    "top_k": (EXPERT_SHAPE, 3),
    "moe_ffn": (EXPERT_SHAPE, 768),
    "shared_experts": (EXPERT_SHAPE, 2),
    "routed_nodes": (EXPERT_SHAPE, 4),
    "shared_ffn": ({**EXPERT_SHAPE, "shared_experts": 1}, 1500),
    "dense_layers": (EXPERT_SHAPE, 3),
    "moe_step": (EXPERT_SHAPE, 2),
    "q_lora_rank": (LATENT_SHAPE, 128),
    "kv_lora_rank": (LATENT_SHAPE, 80),
    "qk_nope_head_dim": (LATENT_SHAPE, 48),
    "qk_rope_head_dim": (LATENT_SHAPE, 24),
    "v_head_dim": (LATENT_SHAPE, 40),
    "layer_vectors": (SHAPE, 4096),
    "moe_vectors": (EXPERT_SHAPE, 1024),
    "expert_vectors": (EXPERT_SHAPE, 2048),
    "end_vectors": (SHAPE, 2047),
    "rope_theta": (SHAPE, 500000.0),
    "norm_eps": (SHAPE, 1e-6),
    "qk_norm": (SHAPE, True),
    "round_parameters": (SHAPE, 2e8),
}


def of_model(shape: dict[str, Any], target: Target) -> tuple[set[str], str]:
    """What is written and said of a model: its lines, and the sentences that begin with it."""
    document = {"model": shape, "cluster": "hgx-b200", "gpus": 8, "layout": {"tp": 1, "pp": 1, "dp": 8}}
    made = export(scenario_from(document), target.name)
    lines = {line for file in made.files for line in file.text.splitlines() if not line.startswith("#")}
    return lines, " ".join(sentence for sentence in made.left_out if sentence.startswith("model"))


def test_every_field_of_a_model_is_changed() -> None:
    assert set(OF_A_MODEL) == set(Model.model_fields)


@each_target
@pytest.mark.parametrize("name", OF_A_MODEL)
def test_each_field_of_a_model_is_written_or_said(name: str, target: Target) -> None:
    shape, value = OF_A_MODEL[name]
    (lines, said), (more_lines, more_said) = of_model(shape, target), of_model({**shape, name: value}, target)
    assert more_said != said or {line for line in more_lines ^ lines if "custom" not in line}


@each_target
def test_what_no_model_holds_is_said(target: Target) -> None:
    known = {**EXPERT_SHAPE, "rope_theta": 5e5, "norm_eps": 1e-5, "qk_norm": False}
    document = {"cluster": "hgx-b200", "gpus": 8, "layout": {"tp": 1, "pp": 1, "dp": 8}}
    bare, whole = (
        " ".join(export(scenario_from({**document, "model": shape}), target.name).left_out)
        for shape in (EXPERT_SHAPE, known)
    )
    for fact in FACTS.values():
        assert fact in bare and fact not in whole
    for words in ("rope scaling", "multi-token prediction", "The router"):
        assert words in bare and words in whole


def test_what_a_config_says_beyond_the_shape_is_written() -> None:
    known = {**SHAPE, "rope_theta": 5e5, "norm_eps": 1e-6, "qk_norm": True}
    lines, _ = of_model(known, TARGETS["megatron"])
    text = " ".join(lines)
    assert "--rotary-base 500000" in text and "--norm-epsilon 1e-06" in text and "--qk-layernorm" in text


def test_megatrons_own_software_fuses_the_loss_as_this_board_reckons() -> None:
    made = export(scenario_from({**DENSE, "stack": "megatron"}), "megatron")
    assert software()["megatron"].fused_loss and "--cross-entropy-loss-fusion" in made.files[0].text
