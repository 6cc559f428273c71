"""Scenarios as people write them: what is accepted, what is left out, and what is refused in which words."""

from typing import Any

import pytest

from engine.language.refusal import Refusal
from engine.layout.layout import Layout
from engine.layout.stages import stages_of
from engine.memory.parameters import count
from engine.scenario import model_from, scenario_from
from tests.engine.conftest import Document

NAN, INF = float("nan"), float("inf")


def refused(whole: object) -> Refusal:
    with pytest.raises(Refusal) as found:
        scenario_from(whole)
    assert "\n" not in found.value.sentence
    return found.value


def test_only_model_cluster_and_gpus_are_needed(document: Document) -> None:
    card = scenario_from(document())
    layout = card.layout
    assert (layout.tp, layout.cp, layout.ep, layout.pp, layout.dp, layout.vp) == (8, 1, 1, 4, 32, 1)
    assert (layout.schedule, layout.micro_batch, layout.micro_batches, layout.zero) == ("1f1b", 1, 16, 1)
    assert (card.sequence_tokens, card.precision, card.stack_name) == (8192, "bf16", "megatron")
    assert (card.training.tokens, card.training.usd_per_gpu_hour, card.training.mfu) == (15e12, 2.5, None)


@pytest.mark.parametrize("key", ["model", "cluster", "gpus"])
def test_what_is_needed_and_missing_is_named(document: Document, key: str) -> None:
    whole = document()
    del whole[key]
    assert refused(whole).sentence == f"{key}: is needed"


def test_the_full_document_of_the_contract_is_accepted(document: Document) -> None:
    layout = {"tp": 8, "cp": 1, "ep": 1, "pp": 4, "dp": 32, "vp": 1, "schedule": "1f1b", "micro_batch": 1, "micro_batches": 16, "zero": 1,
              "hsdp_shard": None, "sequence_parallel": True, "recompute": "none", "gradient_bytes": 4, "rank_order": "tp-cp-ep-dp-pp"}  # fmt: skip
    whole = {
        "model": "llama-3-70b",
        "cluster": "hgx-h100",
        "gpus": 1024,
        "sequence_tokens": 8192,
        "precision": "bf16",
        "stack": None,
        "layout": layout,
        "training": {"tokens": 15e12, "usd_per_gpu_hour": 2.5, "mfu": None},
    }
    assert scenario_from(whole) == scenario_from(document())


def test_a_whole_number_written_as_a_float_is_a_whole_number(document: Document) -> None:
    assert scenario_from(document(gpus=1024.0, tp=8.0)) == scenario_from(document())


def test_fsdp_picks_its_own_software(document: Document) -> None:
    assert scenario_from(document(zero=3, pp=1)).stack_name == "fsdp2"
    assert scenario_from(document(zero=3, pp=1, stack="fsdp2-compiled")).stack_name == "fsdp2-compiled"


def test_only_layers_hidden_heads_and_vocab_of_a_shape_are_needed() -> None:
    model = model_from({"layers": 4, "hidden": 512, "heads": 8, "vocab": 1000})
    assert (model.kv_heads, model.head_dim, model.ffn, model.gated, model.experts) == (8, 64, 2048, False, 0)


# what is changed, then the field, the words and the nearest value that works
BAD: list[tuple[dict[str, Any], str, str, str | None]] = [
    ({"gpus": 0}, "gpus", "must be at least 1", "1"),
    ({"gpus": -8}, "gpus", "must be at least 1", "1"),
    ({"gpus": 1e30}, "gpus", "must be at most 1,048,576", "1048576"),
    ({"gpus": 10**400}, "gpus", "must be at most 1,048,576", "1048576"),
    ({"gpus": 1e308}, "gpus", "must be at most 1,048,576", "1048576"),
    ({"gpus": 12.5}, "gpus", "needs a whole number", "12"),
    ({"gpus": "1024"}, "gpus", "needs a whole number", None),
    ({"gpus": True}, "gpus", "needs a whole number", None),
    ({"gpus": None}, "gpus", "needs a whole number", None),
    ({"gpus": [1024]}, "gpus", "needs a whole number", None),
    ({"gpus": {}}, "gpus", "needs a whole number", None),
    ({"gpus": NAN}, "gpus", "needs a number", None),
    ({"gpus": INF}, "gpus", "needs a number", None),
    ({"sequence_tokens": 0}, "sequence_tokens", "must be at least 1", "1"),
    ({"precision": "fp7"}, "precision", "must be one of bf16, fp16, fp8, mxfp8", "fp"),
    ({"precision": 16}, "precision", "must be one of", None),
    ({"precision": "fp8", "cluster": "hgx-a100-80gb"}, "precision", "no such tensor cores", "bf16 or fp16"),
    ({"stack": "megatrom"}, "stack", "must be one of megatron, megatron-2021", "megatron"),
    ({"cluster": "hgx-h10"}, "cluster", "the catalogue has", "hgx-h100"),
    ({"cluster": {"base": "hgx-h100", "nic": 400}}, "cluster.nic", "a cluster takes", None),
    ({"cluster": {"base": "hgx-h100", "nic_gbit_per_s": -1}}, "cluster.nic_gbit_per_s", "a number from 1 to 10000", "1"),
    ({"cluster": {"nic_gbit_per_s": 400}}, "cluster.base", "it must name the cluster", None),
    ({"cluster": 7}, "cluster", "needs a name or an object", None),
    ({"cluster": None}, "cluster", "needs a name or an object", None),
    ({"model": "llama-3-70"}, "model", "not in the catalogue", "llama-3-70b"),
    ({"model": {"layers": 80}}, "model.hidden", "is needed", None),
    ({"model": {"layers": 80, "hidden": 8192, "heads": 64, "vocab": 1000, "kv_head": 8}}, "model.kv_head", "unknown key", "kv_heads"),
    ({"model": {"layers": 80, "hidden": 8192, "heads": 64, "vocab": 1000, "kv_heads": 7}}, "model.kv_heads", "must divide the 64 heads", "4 or 8"),
    ({"model": {"layers": 80, "hidden": 8192, "heads": 60, "vocab": 1000}}, "model.heads", "heads must divide hidden", "32 or 64"),
    ({"model": {"hf_config": {}, "layers": 8}}, "model", "hf_config stands alone", None),
    ({"model": []}, "model", "needs a name or an object", None),
    ({"layout": []}, "layout", "needs an object with tp, cp, ep, pp, dp", None),
    ({"layout": "tp8"}, "layout", "needs an object with tp, cp", None),
    ({"layout": None}, "layout", "needs an object with tp", None),
    ({"tq": 8}, "layout.tq", "unknown key", "tp"),
    ({"micro_batchs": 8}, "layout.micro_batchs", "unknown key", "micro_batch"),
    ({"zero": 4}, "layout.zero", "must be at most 3", "3"),
    ({"zero": "1"}, "layout.zero", "needs a whole number", None),
    ({"tp": "eight"}, "layout.tp", "needs a whole number", None),
    ({"tp": False}, "layout.tp", "needs a whole number", None),
    ({"schedule": "1f1"}, "layout.schedule", "must be one of gpipe, 1f1b", "1f1b"),
    ({"recompute": "some"}, "layout.recompute", "must be one of none, selective, full", None),
    ({"gradient_bytes": 3}, "layout.gradient_bytes", "must be one of 2, 4", None),
    ({"sequence_parallel": "perhaps"}, "layout.sequence_parallel", "needs true or false", None),
    ({"rank_order": "tp-dp-pp"}, "layout.rank_order", "must name each of tp, cp, ep, dp, pp once", "tp-cp-ep-dp-pp"),
    ({"rank_order": 5}, "layout.rank_order", "needs text", None),
    ({"training": {"tokens": 0}}, "training.tokens", "must be above 0", None),
    ({"training": {"tokens": "15e12"}}, "training.tokens", "needs a number", None),
    ({"training": {"mfu": 40}}, "training.mfu", "must be at most 1", "1"),
    ({"training": {"mfu": NAN}}, "training.mfu", "needs a number", None),
    ({"training": {"usd_per_gpu_hour": -1}}, "training.usd_per_gpu_hour", "must be at least 0", "0"),
    ({"training": {"price": 1}}, "training.price", "unknown key", None),
    ({"training": 5}, "training", "needs an object with tokens", None),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "field", "words", "near"), BAD, ids=[str(row[0])[:50] for row in BAD])
def test_what_has_no_meaning_is_refused(
    document: Document, changes: dict[str, Any], field: str, words: str, near: str | None
) -> None:
    refusal = refused(document(**changes))
    assert refusal.field == field
    assert words in refusal.rule
    assert near is None or near in (refusal.nearest or "")


NUMERIC = [row for row in BAD if row[3] is not None and row[3].isdigit() and not isinstance(row[0].get("model"), dict)]


@pytest.mark.parametrize(("changes", "field", "words", "near"), NUMERIC, ids=[str(row[0])[:50] for row in NUMERIC])
def test_the_nearest_number_is_not_refused_for_the_same_reason(
    document: Document, changes: dict[str, Any], field: str, words: str, near: str
) -> None:
    whole = document(**changes)
    head, _, inner = field.partition(".")
    whole[head] = {**whole[head], inner: int(near)} if inner else int(near)
    try:
        scenario_from(whole)
    except Refusal as refusal:
        assert words not in refusal.sentence


@pytest.mark.parametrize("whole", [None, 7, "llama-3-70b", [], [{"model": "llama-3-70b"}], True, NAN])
def test_a_document_that_is_no_object_is_refused(whole: object) -> None:
    assert "needs an object with model, cluster, gpus" in refused(whole).sentence


def test_an_unknown_key_is_named_with_the_nearest_known_one(document: Document) -> None:
    refusal = refused({**document(), "gpu": 8})
    assert refusal.sentence.startswith("gpu = 8: unknown key; known are model, cluster, gpus")
    assert refusal.nearest == "gpus"


def test_everything_wrong_is_told_at_once(document: Document) -> None:
    refusal = refused(document(gpus=0, tp="x", training={"mfu": 2}))
    assert [each.field for each in refusal.all] == ["gpus", "layout.tp", "training.mfu"]
    names = [each.field for each in refused(document(model="lama", cluster="hgx")).all]
    assert names == ["model", "cluster"]


def test_a_long_value_is_cut(document: Document) -> None:
    assert len(refused(document(gpus="9" * 10_000)).sentence) < 200


@pytest.mark.parametrize("size", ["ffn", "moe_ffn"])
def test_a_shape_with_an_inner_size_of_its_own_is_asked_whether_it_has_a_gate(size: str) -> None:
    shape = {"layers": 2, "hidden": 512, "heads": 8, "vocab": 1000, "experts": 4, "top_k": 2, size: 1408}
    with pytest.raises(Refusal) as refused:
        model_from(shape)
    assert refused.value.sentence.startswith(f"model.gated: is needed beside {size} = 1408")
    assert count(model_from({**shape, "gated": True})).total > count(model_from({**shape, "gated": False})).total
    assert model_from({"layers": 2, "hidden": 512, "heads": 8, "vocab": 1000}).ffn == 2048


def test_experts_in_every_other_layer_fall_where_they_stand_in_each_stage() -> None:
    shape = {
        "layers": 12,
        "hidden": 512,
        "heads": 8,
        "vocab": 1000,
        "experts": 4,
        "top_k": 2,
        "dense_layers": 2,
        "moe_step": 2,
    }
    model = model_from(shape)
    stages = stages_of(model, Layout(tp=1, pp=4, dp=1))
    assert [(stage.whole.dense, stage.whole.moe) for stage in stages] == [(3, 0), (1, 2), (2, 1), (1, 2)]
    assert sum(stage.whole.moe for stage in stages) == model.moe_layers == 5
