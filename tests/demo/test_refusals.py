"""What has no meaning is refused before anything starts, in a sentence; what torch would compute wrongly is called so."""

import doctest
import importlib

import pytest

from app.runner import rules
from app.runner.catalog import DEMOS, checked, demo_named
from engine.language.inputs import Amount, Choice
from engine.language.refusal import Refusal

BAD: list[tuple[str, dict[str, object], str, str]] = [
    ("tp", {"heads": 8, "ranks": 3}, "heads", "cryptic shape error"),
    ("tp-sp", {"sequence": 30, "ranks": 4}, "sequence", "one rank fails otherwise"),
    ("ddp", {"batch": 8, "ranks": 3}, "batch", "in silence"),
    ("zero1", {"batch": 7}, "batch", "in silence"),
    ("fsdp2", {"batch": 6, "ranks": 4}, "batch", "in silence"),
    ("hsdp", {"dp_replicate": 4, "dp_shard": 4}, "dp_replicate", "needs 16 ranks"),
    ("hsdp", {"dp_replicate": 3, "dp_shard": 2}, "batch", "in silence"),
    ("ddp", {"ranks": 1}, "ranks", "from 2 to 16"),
    ("ddp", {"ranks": "4; rm -rf"}, "ranks", "a whole number"),
    ("ddp", {"ranks": True}, "ranks", "a whole number"),
    ("ddp", {"ranks": 2.5}, "ranks", "a whole number"),
    ("ddp", {"ranks": "٤"}, "ranks", "a whole number"),
    ("ddp", {"hidden": 60000}, "hidden", "one of 64, 128, 256"),
    ("ddp", {"module": "os"}, "module", "no such knob"),
    ("ddp", {"steps": [5]}, "steps", "a whole number"),
    ("ddp", {"steps": "9" * 5000}, "steps", "a whole number"),
    ("kill-rank", {"victim": 4, "ranks": 4}, "victim", "0 to 3"),
    ("kill-rank", {"at": 9, "steps": 4}, "at", "0 to 3"),
    ("mismatch", {"ranks": 2, "victim": 1}, "ranks", "from 3 to 8"),
]


@pytest.mark.parametrize(
    ("name", "given", "field", "words"), BAD, ids=[f"{case[0]}-{case[2]}-{number}" for number, case in enumerate(BAD)]
)
def test_a_bad_knob_is_refused_in_a_sentence(name: str, given: dict[str, object], field: str, words: str) -> None:
    with pytest.raises(Refusal) as refusal:
        checked(demo_named(name), given)
    assert refusal.value.field == field and words in refusal.value.sentence
    assert len(refusal.value.sentence) < 400


def test_everything_wrong_is_said_at_once() -> None:
    with pytest.raises(Refusal) as refusal:
        checked(demo_named("ddp"), {"steps": 0, "layers": 99, "who": 1})
    assert {wrong.field for wrong in refusal.value.all} == {"steps", "layers", "who"}


RULES: list[tuple[rules.Rule, dict[str, int | str], str]] = [
    (rules.sequence_divides_for_context("cp"), {"sequence": 64, "cp": 3}, "in silence"),
    (rules.micro_batches_divide_batch(), {"batch": 8, "micro_batches": 3}, "only the last stage fails"),
    (rules.at_least("batch", "micro_batches", "no empty slices"), {"batch": 2, "micro_batches": 4}, "needs at least 4"),
    (
        rules.at_least("micro_batches", "pp", "a full pipeline", times=2),
        {"micro_batches": 6, "pp": 4},
        "needs at least 8",
    ),
    (rules.at_least("layers", "pp", "a stage needs a layer"), {"layers": 2, "pp": 4}, "needs at least 4"),
    (rules.experts_divide("ep"), {"experts": 8, "ep": 3}, "whole experts"),
    (rules.heads_divide("cp"), {"heads": 4, "cp": 8}, "whole heads"),
    (rules.product_at_most(("pp", "dp", "tp"), 8), {"pp": 2, "dp": 4, "tp": 2}, "needs 16 ranks"),
]


@pytest.mark.parametrize(("rule", "params", "words"), RULES)
def test_a_rule_refuses_what_it_is_for(rule: rules.Rule, params: dict[str, int | str], words: str) -> None:
    refusal = rule(params)
    assert refusal is not None and words in refusal.sentence


def test_an_unknown_demo_is_refused_with_the_nearest() -> None:
    for name in ("fsdp", None, ["ddp"], "../ddp"):
        with pytest.raises(Refusal):
            demo_named(name)
    with pytest.raises(Refusal, match="fsdp2"):
        demo_named("fsdp")


def test_knobs_are_bounded_numbers_and_few_choices() -> None:
    for demo in DEMOS.values():
        assert len({knob.name for knob in demo.knobs}) == len(demo.knobs)
        for knob in demo.knobs:
            assert isinstance(knob, Amount | Choice) and knob.read(knob.default) == knob.default
            assert not isinstance(knob, Amount) or knob.high <= 1000
        params = checked(demo, {})
        assert 2 <= demo.ranks(params) <= 8


@pytest.mark.parametrize("name", ["catalog", "rules", "predict", "plain_words", "root_cause"])
def test_the_examples_in_the_docstrings_hold(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"app.runner.{name}"))
    assert result.attempted and not result.failed
