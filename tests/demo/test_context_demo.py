"""Context-parallel demos: a cut sequence trains as a whole one, in three forms, and each sends what it should."""

import pytest

from app.runner.catalog import checked, demo_named
from app.runner.context_strips import causal_pairs, heaviest_over_mean, strip_places
from engine.language.refusal import Refusal
from engine.lens.ring_attention import dealt_loads, dealt_strips
from tests.demo.conftest import Stage, of, wrong

CASES: list[dict[str, object]] = [
    {"form": "gather", "ranks": 4, "dealing": "zig-zag"},
    {"form": "gather", "ranks": 2, "dealing": "in-order"},
    {"form": "ring", "ranks": 4, "dealing": "zig-zag"},
    {"form": "ring", "ranks": 3, "dealing": "in-order", "sequence": 33},
    {"form": "ulysses", "ranks": 4, "dealing": "zig-zag"},
]


@pytest.mark.parametrize("knobs", CASES, ids=["-".join(map(str, case.values())) for case in CASES])
def test_a_form_shows_what_was_predicted(stage: Stage, knobs: dict[str, object]) -> None:
    events = stage.run("cp", **{"batch": 4, **knobs})
    assert wrong(events) == []
    assert events[-1].KIND == "run.done" and events[-1].ok
    checks = {check.name for check in of(events, "check")}
    op = {"gather": "reduce_scatter", "ring": "send", "ulysses": "all_to_all"}[str(knobs["form"])]
    assert {
        "loss",
        "state.parameters",
        f"calls.cp.{op}.every",
        f"bytes.cp.{op}.every",
        "calls.cp.all_reduce.every",
        "wire",
        "load",
    } <= checks


@pytest.mark.parametrize("dealing", ["in-order", "zig-zag"])
@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
def test_strips_cover_the_sequence_once(dealing: str, ranks: int) -> None:
    strips = strip_places(48, ranks, dealing)
    assert sorted(place for strip in strips for place in strip) == list(range(48))
    assert sum(map(causal_pairs, strips)) == 48 * 49 // 2


@pytest.mark.parametrize("dealing", ["in-order", "zig-zag"])
def test_long_strips_weigh_what_the_engine_says(dealing: str) -> None:
    assert heaviest_over_mean(48_000, 4, dealing) == pytest.approx(max(dealt_loads(dealt_strips(dealing, 4))), rel=1e-3)


BAD: list[tuple[dict[str, object], str, str]] = [
    ({"sequence": 100, "ranks": 4, "dealing": "in-order", "form": "gather"}, "", ""),
    ({"sequence": 101, "ranks": 4, "dealing": "in-order"}, "sequence", "torch accepts it in silence"),
    ({"sequence": 100, "ranks": 4, "dealing": "zig-zag"}, "sequence", "one from each end"),
    ({"form": "ulysses", "ranks": 3, "sequence": 96}, "heads", "whole heads"),
    ({"form": "ulysses", "ranks": 8, "heads": 4}, "heads", "whole heads"),
    ({"dealing": "in-order", "sequence": 127}, "sequence", "the training is wrong"),
]


@pytest.mark.parametrize(("given", "field", "words"), BAD)
def test_what_would_train_wrongly_is_refused(given: dict[str, object], field: str, words: str) -> None:
    if not field:
        assert checked(demo_named("cp"), given)["sequence"] == given["sequence"]
        return
    with pytest.raises(Refusal) as refusal:
        checked(demo_named("cp"), given)
    assert refusal.value.field == field and words in refusal.value.sentence and len(refusal.value.sentence) < 400
