"""Layouts that mean nothing, and whether the nearest value that a refusal names works."""

import re
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.language.refusal import Refusal
from engine.pipeline.schedules import SCHEDULES
from engine.scenario import scenario_from
from tests.engine.conftest import Document, RefusalOf

CASES: list[tuple[dict[str, Any], str]] = [
    ({"tp": 6}, "layout.tp = 6: tp must divide the 64 attention heads; the nearest that works: 4 or 8"),
    (
        {"tp": 6, "gpus": 48, "pp": 1},
        "layout.tp = 6: tp must divide the 64 attention heads; the nearest that works: 4 or 8",
    ),
    ({"dp": 31}, "layout.dp = 31: tp 8 x cp 1 x pp 4 x dp 31 is 992, not the 1024 GPUs; the nearest that works: dp 32"),
    ({"gpus": 1000}, "gpus = 1000: must be a multiple of tp 8 x cp 1 x pp 4 = 32; the nearest that works: gpus 992"),
    (
        {"gpus": 1000, "dp": 32},
        "layout.dp = 32: tp 8 x cp 1 x pp 4 x dp 32 is 1024, not the 1000 GPUs; the nearest that works: gpus 1024",
    ),
    ({"cp": 3, "gpus": 96}, "layout.cp = 3: each rank takes an early and a late piece"),
    ({"sequence_tokens": 8190}, "sequence_tokens = 8190: cp 1 x tp 8 must divide the sequence"),
    ({"ep": 2}, "layout.ep = 2: the model has no experts to spread; the nearest that works: 1"),
    ({"model": "mixtral-8x7b", "ep": 16}, "layout.ep = 16: ep must divide the 8 experts"),
    ({"model": "mixtral-8x7b", "ep": 3}, "the nearest that works: 2 or 4"),
    (
        {"vp": 2},
        "layout.vp = 2: 1F1B takes one chunk per stage; more need the interleaved schedule; the nearest that works: 1",
    ),
    (
        {"schedule": "interleaved", "vp": 3},
        "layout.vp = 3: pp x vp = 12 must divide the 80 layers (or leave one short at each end); "
        "the nearest that works: 2 or 4",
    ),
    ({"schedule": "interleaved", "vp": 2, "micro_batches": 6}, "layout.micro_batches = 6"),
    ({"schedule": "interleaved", "pp": 8, "vp": 64}, "are not simulated; the nearest that works: 10"),
    ({"pp": 128}, "layout.pp = 128: 80 layers cannot fill 128 stages; the nearest that works: 64"),
    ({"pp": 2, "schedule": "dualpipe", "micro_batches": 3}, "layout.micro_batches = 3"),
    ({"hsdp_shard": 8}, "layout.hsdp_shard = 8: only FSDP (zero 3) shards inside groups"),
    ({"zero": 3, "hsdp_shard": 5}, "layout.hsdp_shard = 5: must divide dp x cp = 32; the nearest that works: 4 or 8"),
]


@pytest.mark.parametrize(("changes", "sentence"), CASES, ids=[str(row[0])[:50] for row in CASES])
def test_a_layout_without_a_meaning_is_refused_in_these_words(
    refusal_of: RefusalOf, changes: dict[str, Any], sentence: str
) -> None:
    found = [each.sentence for each in refusal_of(**changes).all]
    assert sentence in found[0]


def test_an_ungated_odd_shape_names_degrees_that_satisfy_every_rule(refusal_of: RefusalOf) -> None:
    """10 and 20 divide the 40 heads, but only 8 goes with 8 KV heads."""
    model = {"layers": 8, "hidden": 5120, "heads": 40, "kv_heads": 8, "vocab": 1000}
    assert refusal_of(model=model, gpus=64, tp=16).nearest == "8 or 40"


@pytest.mark.parametrize("cp", [2, 4])
@pytest.mark.parametrize("sequence_parallel", [True, False])
def test_the_sequence_named_divides_by_every_piece(
    refusal_of: RefusalOf, document: Document, cp: int, sequence_parallel: bool
) -> None:
    changes: dict[str, Any] = {
        "model": "gpt3-175b",
        "cp": cp,
        "tp": 3,
        "pp": 1,
        "gpus": 24,
        "sequence_tokens": 2048,
        "sequence_parallel": sequence_parallel,
    }
    if sequence_parallel:
        near = int((refusal_of(**changes).nearest or "").split()[-1])
        scenario_from(document(**{**changes, "sequence_tokens": near}))
    else:
        scenario_from(document(**changes))


def with_nearest(changes: dict[str, Any], refusal: Refusal, value: int) -> dict[str, Any]:
    """The document with the nearest value put in; dp is left to follow, and GPUs too where a degree changed."""
    words = (refusal.nearest or "").split()
    field = words[0] if words[0] in ("dp", "gpus", "sequence_tokens") else refusal.field.rpartition(".")[2]
    changed = {**changes, field: value}
    if field in ("tp", "pp", "cp"):
        changed["gpus"] = changed.get("tp", 8) * changed.get("pp", 4) * changed.get("cp", 1) * 32
        changed.pop("dp", None)
    return changed


@settings(max_examples=200)
@given(
    model=st.sampled_from(
        ["llama-3-70b", "llama-3-405b", "mixtral-8x7b", "qwen3-235b-a22b", "deepseek-v3", "gpt3-175b"]
    ),
    layout=st.fixed_dictionaries(
        {},
        optional={
            "tp": st.integers(1, 70),
            "pp": st.integers(1, 90),
            "cp": st.integers(1, 5),
            "ep": st.integers(1, 40),
            "vp": st.integers(1, 64),
            "schedule": st.sampled_from(list(SCHEDULES)),
            "micro_batches": st.integers(1, 70),
            "zero": st.sampled_from([1, 3]),
            "hsdp_shard": st.integers(1, 9),
            "gpus": st.sampled_from([64, 1000, 1024]),
            "sequence_tokens": st.sampled_from([1000, 8190, 8192]),
        },
    ),
)
def test_the_nearest_value_named_works(document: Document, model: str, layout: dict[str, Any]) -> None:
    changes = {"model": model, **layout}
    try:
        scenario_from(document(**changes))
        assume(False)
    except Refusal as refusal:
        for number in re.findall(r"\d+", (refusal.nearest or "").partition(", or")[0]):
            try:
                scenario_from(document(**with_nearest(changes, refusal, int(number))))
            except Refusal as again:
                assert refusal.field not in [other.field for other in again.all], (refusal.sentence, again.sentence)
