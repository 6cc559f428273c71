"""Activations of a layer: Korthikanti's terms, the modern form, what recomputation leaves."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.catalog.model import Model, model_named
from engine.language.units import MIB
from engine.layout.layout import Layout
from engine.memory.activations import activation_layer_bytes, layer_input_bytes, layer_kept_term

LLAMA = model_named("llama-3-70b")
MEGABYTES_268 = 268


def kept(model: Model = LLAMA, moe: bool = False, fp8: bool = False, tokens: int = 8192, **layout: Any) -> float:
    given = Layout(**layout)
    return layer_kept_term(model, given, tokens, moe, fp8, given.recompute).value


def test_a_llama_70b_layer_keeps_268_mib_at_8k_and_tp_8() -> None:
    """SimuMax and zhebrak's estimator print the same 268 MiB."""
    assert activation_layer_bytes(8192, 1, 8192, 64, 8, 28672, 8, 1) / MIB == pytest.approx(MEGABYTES_268, abs=0.5)
    assert kept() / MIB == pytest.approx(MEGABYTES_268, abs=0.5)


def test_without_the_softmax_statistics_it_is_33_5_sbh() -> None:
    whole = activation_layer_bytes(8192, 1, 8192, 64, 8, 28672, 1, 1) - 4 * 64 * 8192
    assert whole == 33.5 * 8192 * 8192


@given(
    tokens=st.sampled_from([2048, 8192, 131072]),
    b=st.integers(1, 8),
    t=st.sampled_from([1, 2, 4, 8]),
    c=st.sampled_from([1, 2, 4]),
)
def test_the_parts_add_up_to_the_closed_form(tokens: int, b: int, t: int, c: int) -> None:
    closed = activation_layer_bytes(tokens, b, 8192, 64, 8, 28672, t, c)
    assert kept(tokens=tokens, micro_batch=b, tp=t, cp=c) == pytest.approx(closed, rel=1e-12)


def test_an_ungated_layer_with_as_many_kv_heads_is_korthikanti_without_dropout() -> None:
    """34sbh less the two dropout masks of sbh bytes each; f = 4h, flash attention."""
    model = Model(layers=1, hidden=1024, heads=8, vocab=100)
    sbh = 512 * 1024
    assert kept(model, tokens=512, tp=1) == (34 - 2) * sbh + 4 * 8 * 512


def test_full_recomputation_keeps_the_layers_input() -> None:
    assert kept(recompute="full") == layer_input_bytes(8192, 1, 8192, 8) == 16 * MIB


def test_selective_recomputation_drops_only_the_statistics_of_a_dense_layer() -> None:
    assert kept() - kept(recompute="selective") == 4 * 64 * 8192 / 8


def test_selective_recomputation_drops_the_up_projections_of_latent_attention() -> None:
    deepseek = model_named("deepseek-v3")
    full, selective = kept(deepseek, tp=1), kept(deepseek, tp=1, recompute="selective")
    assert selective < 0.7 * full


def test_without_sequence_parallelism_norms_are_kept_whole_on_every_rank() -> None:
    without, with_it = kept(sequence_parallel=False), kept()
    assert without - with_it == pytest.approx(8 * 8192 * 8192 * (1 - 1 / 8))


def test_fp8_inputs_take_less_than_bf16_and_more_than_half() -> None:
    assert 0.5 < kept(fp8=True) / kept() < 1


@given(
    name=st.sampled_from(["llama-3-8b", "llama-3-70b", "mixtral-8x7b", "deepseek-v3"]),
    recompute=st.sampled_from(["none", "selective", "full"]),
    moe=st.booleans(),
    sequence_parallel=st.booleans(),
)
def test_more_sharding_never_keeps_more(name: str, recompute: str, moe: bool, sequence_parallel: bool) -> None:
    model = model_named(name)
    moe = moe and model.experts > 0
    given: dict[str, Any] = {"recompute": recompute, "sequence_parallel": sequence_parallel}
    for axis in ("tp", "cp"):
        sizes = [kept(model, moe, **{"tp": 1, **given, axis: degree}) for degree in (1, 2, 4, 8)]
        assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("name", ["llama-3-70b", "mixtral-8x7b", "deepseek-v3"])
def test_recomputing_more_never_keeps_more(name: str) -> None:
    model = model_named(name)
    for moe in {False, model.experts > 0}:
        sizes = [kept(model, moe, tp=1, recompute=level) for level in ("none", "selective", "full")]
        assert sizes == sorted(sizes, reverse=True)


def test_routed_experts_keep_top_k_copies_of_a_token() -> None:
    mixtral = model_named("mixtral-8x7b")
    twice = mixtral.model_copy(update={"top_k": 2 * mixtral.top_k})
    assert 1.3 < kept(twice, True, tp=1) / kept(mixtral, True, tp=1) < 2
