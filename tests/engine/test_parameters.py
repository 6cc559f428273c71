"""Parameters counted from the shape, against what publishers print."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.catalog.model import Model, catalogue, model_named
from engine.language.formula import number_of
from engine.memory.parameters import count, dense_parameters, parameters_term

PUBLISHED = [(name, entry) for name, entry in catalogue().items() if "published_parameters" in entry]


@pytest.mark.parametrize(("name", "entry"), PUBLISHED, ids=[name for name, _ in PUBLISHED])
def test_the_count_is_what_the_publisher_prints(name: str, entry: dict[str, float]) -> None:
    parts = count(model_named(name))
    assert parts.total == pytest.approx(entry["published_parameters"], rel=0.01)
    if "published_active_parameters" in entry:
        assert parts.active == pytest.approx(entry["published_active_parameters"], rel=0.05)


@pytest.mark.parametrize("name", list(catalogue()))
def test_every_model_of_the_catalogue_has_a_title_and_a_source(name: str) -> None:
    entry = catalogue()[name]
    assert entry["title"]
    assert len(entry["source"]) > 10
    assert "published_parameters" not in entry or entry["published_source"]
    assert model_named(name).refusals() == []


def test_a_llama_70b_layer_has_855_65_m_parameters() -> None:
    assert count(model_named("llama-3-70b")).dense_layer == pytest.approx(855.65e6, rel=1e-4)


@given(
    layers=st.integers(1, 200),
    heads=st.sampled_from([1, 2, 8, 64]),
    size=st.sampled_from([32, 64, 128]),
    ffn=st.integers(1, 60_000),
    vocab=st.integers(1, 300_000),
    tied=st.booleans(),
)
def test_the_closed_form_is_the_count_of_the_parts(
    layers: int, heads: int, size: int, ffn: int, vocab: int, tied: bool
) -> None:
    model = Model(
        layers=layers, hidden=heads * size, heads=heads, kv_heads=1, ffn=ffn, gated=True, vocab=vocab, tied=tied
    )
    closed = dense_parameters(layers, heads * size, heads, 1, ffn, vocab, tied)
    assert count(model).total == pytest.approx(closed, rel=1e-12)


@pytest.mark.parametrize("name", list(catalogue()))
def test_the_parts_of_the_term_add_up(name: str) -> None:
    term = parameters_term(model_named(name))
    assert sum(number_of(part) for part in term.arguments.values()) == term.value == count(model_named(name)).total


@pytest.mark.parametrize("name", list(catalogue()))
def test_active_parameters_are_all_of_a_dense_model_and_fewer_of_one_with_experts(name: str) -> None:
    model, parts = model_named(name), count(model_named(name))
    assert (parts.active < parts.total) == (model.experts > model.top_k)


def test_a_round_model_keeps_its_proportions() -> None:
    exact, rounded = count(model_named("llama-3-70b")), count(model_named("whiteboard-70b"))
    assert rounded.embedding / rounded.total == pytest.approx(exact.embedding / exact.total)
