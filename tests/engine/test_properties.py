"""What must hold for every scenario, not only for those that anyone thought of."""

import math
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from engine.catalog.calibration import software
from engine.catalog.hardware import cluster_names
from engine.catalog.model import catalogue
from engine.catalog.precision import PRECISIONS
from engine.estimate import Estimate, estimate
from engine.findings import RANK, findings_of
from engine.language.formula import Term
from engine.language.refusal import Refusal
from engine.pipeline.schedules import SCHEDULES
from engine.scenario import Scenario, scenario_from

POWERS = st.sampled_from([1, 2, 4, 8])

LAYOUTS = st.fixed_dictionaries(
    {"tp": POWERS, "pp": POWERS, "dp": st.sampled_from([1, 2, 3, 8, 32])},
    optional={
        "cp": st.sampled_from([1, 2, 4]),
        "ep": POWERS,
        "vp": st.sampled_from([1, 2, 4]),
        "schedule": st.sampled_from(list(SCHEDULES)),
        "micro_batch": st.integers(1, 3),
        "micro_batches": st.sampled_from([1, 4, 8, 16, 24]),
        "zero": st.integers(0, 3),
        "hsdp_shard": st.sampled_from([None, 1, 2, 4]),
        "sequence_parallel": st.booleans(),
        "recompute": st.sampled_from(["none", "selective", "full"]),
        "gradient_bytes": st.sampled_from([2, 4]),
        "rank_order": st.permutations(["tp", "cp", "ep", "dp", "pp"]).map("-".join),
    },
)

SMALL = {"layers": 6, "hidden": 512, "heads": 8, "vocab": 1000}
MODELS = st.one_of(
    st.sampled_from(list(catalogue())),
    st.fixed_dictionaries(
        {"layers": st.integers(1, 40), "hidden": st.sampled_from([64, 512, 4096]), "heads": st.sampled_from([1, 8, 16]), "vocab": st.integers(1, 200_000)},
        optional={"kv_heads": st.sampled_from([1, 4, 8]), "ffn": st.integers(1, 20_000), "gated": st.booleans(), "tied": st.booleans(),
                  "experts": st.sampled_from([0, 1, 8, 64]), "top_k": st.sampled_from([0, 1, 2]), "moe_ffn": st.sampled_from([0, 64, 1024]),
                  "shared_experts": st.sampled_from([0, 1]), "dense_layers": st.sampled_from([0, 1, 3])},
    ),
)  # fmt: skip
DOCUMENTS = st.builds(
    lambda model, cluster, layout, rest: {
        "model": model, "cluster": cluster, "layout": layout,
        "gpus": layout["tp"] * layout["pp"] * layout["dp"] * layout.get("cp", 1), **rest,
    },
    MODELS, st.sampled_from(cluster_names()), LAYOUTS,
    st.fixed_dictionaries({}, optional={
        "sequence_tokens": st.sampled_from([64, 2048, 8192, 131_072]), "precision": st.sampled_from(list(PRECISIONS)),
        "stack": st.sampled_from([None, *software()]),
        "training": st.fixed_dictionaries({}, optional={"tokens": st.sampled_from([1, 1e12, 1e18]), "mfu": st.sampled_from([None, 0.01, 1]),
                                                        "usd_per_gpu_hour": st.sampled_from([0, 2.5, 1e6])}),
    }),
)  # fmt: skip


def scenario_or_none(document: object) -> Scenario | None:
    try:
        return scenario_from(document)
    except Refusal as refusal:
        assert "\n" not in refusal.sentence
        return None


def numbers_of(result: Any) -> list[float]:
    """Every number in a result, all the way down."""
    if isinstance(result, Term):
        return [result.value]
    if isinstance(result, bool | str | None):
        return []
    if isinstance(result, int | float):
        return [result]
    if isinstance(result, tuple | list):
        return [number for item in result for number in numbers_of(item)]
    if is_dataclass(result):
        return [number for field in fields(result) for number in numbers_of(getattr(result, field.name))]
    return []


def answers_of(result: Estimate) -> list[float]:
    step, training = result.step, result.training
    return numbers_of([
        result.parameters, result.active_parameters, result.capacity_bytes, result.tokens_per_second, result.mfu, training,
        [(stage.parts, stage.total, stage.needed) for stage in result.stages], result.alone,
        [(c.payload_bytes, c.count, c.each_s, c.sent, c.seconds, c.exposed) for c in step.communication],
        step.seconds, step.low, step.high, step.compute, step.recompute, step.bubble, step.optimizer, step.exposed,
    ])  # fmt: skip


@settings(max_examples=150)
@given(document=DOCUMENTS)
def test_every_accepted_scenario_is_estimated_in_finite_numbers(document: dict[str, Any]) -> None:
    scenario = scenario_or_none(document)
    if scenario is None:
        reject()
    result = estimate(scenario)
    numbers = answers_of(result)
    assert all(math.isfinite(number) and number >= -1e-9 for number in numbers), numbers
    assert 0 <= result.alone.bubble_of_total <= 1
    assert 0 <= result.training.goodput_share.value <= 1
    assert result.step.bubble.value <= result.step.seconds.value
    ranks = [RANK[finding.severity] for finding in findings_of(result)]
    assert ranks == sorted(ranks)
    assert all(finding.title and finding.why and finding.try_this for finding in findings_of(result))
    parts = sum(
        part.value for part in (result.step.compute, result.step.recompute, result.step.bubble, result.step.optimizer)
    )
    assert parts + result.step.exposed.value == pytest.approx(result.step.seconds.value)
    for stage in result.stages:
        assert sum(part.value for part in stage.parts) == pytest.approx(stage.total.value)
        assert stage.total.value <= stage.needed.value
    assert result.step.low.value <= result.step.seconds.value <= result.step.high.value
    for c in result.step.communication:
        # a step may wait for more hand-overs than one stage issues, so sends alone may show more than they take
        assert 0 <= c.exposed_share <= 1 + 1e-9, c
        assert 0 <= c.exposed.value < math.inf, c


def asked(model: str, *, tokens: int = 8192, **layout: Any) -> Estimate:
    degrees = {"tp": 1, "pp": 1, "dp": 1, **layout}
    gpus = degrees["tp"] * degrees["pp"] * degrees["dp"] * degrees.get("cp", 1)
    return estimate(
        scenario_from(
            {"model": model, "cluster": "hgx-h100", "gpus": gpus, "sequence_tokens": tokens, "layout": degrees}
        )
    )


DENSE_AND_MOE = st.sampled_from(["llama-3-8b", "llama-3-70b", "mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v3"])
PARTS = ("weights", "gradients", "optimizer", "activations")


def part_sizes(result: Estimate) -> dict[str, float]:
    """Bytes of each part of each stage, and of the whole stage."""
    return {
        f"{name} of stage {stage.stage}": getattr(stage, name).value
        for stage in result.stages
        for name in (*PARTS, "total")
    }


@settings(max_examples=40)
@given(
    model=DENSE_AND_MOE,
    axis=st.sampled_from(["tp", "cp", "dp", "ep"]),
    zero=st.integers(1, 3),
    pp=st.sampled_from([1, 2, 4]),
    recompute=st.sampled_from(["none", "selective", "full"]),
    gradient_bytes=st.sampled_from([2, 4]),
)
def test_more_sharding_never_enlarges_memory(
    model: str, axis: str, zero: int, pp: int, recompute: str, gradient_bytes: int
) -> None:
    assume(axis != "ep" or model not in ("llama-3-8b", "llama-3-70b"))
    fixed = {
        "pp": pp,
        "zero": zero,
        "recompute": recompute,
        "gradient_bytes": gradient_bytes,
        **({"dp": 8} if axis == "ep" else {}),
    }
    sizes = [part_sizes(asked(model, **fixed, **{axis: degree})) for degree in (1, 2, 4, 8)]
    for name in sizes[0]:
        row = [size[name] for size in sizes]
        assert all(later <= earlier * (1 + 1e-12) for earlier, later in pairwise(row)), (name, row)


@settings(max_examples=25)
@given(
    model=DENSE_AND_MOE, dp=st.sampled_from([2, 8]), pp=st.sampled_from([1, 2]), gradient_bytes=st.sampled_from([2, 4])
)
def test_a_higher_zero_stage_never_enlarges_the_state(model: str, dp: int, pp: int, gradient_bytes: int) -> None:
    states = []
    for zero in (0, 1, 2, 3):
        sizes = part_sizes(asked(model, dp=dp, pp=pp, zero=zero, gradient_bytes=gradient_bytes))
        states.append(sum(size for name, size in sizes.items() if name.startswith(PARTS[:3])))
    assert states[:3] == sorted(states[:3], reverse=True)
    assert states[3] <= states[2] * (1 + 1e-12)


@settings(max_examples=25)
@given(model=DENSE_AND_MOE, micro_batches=st.integers(1, 9), zero=st.integers(0, 3))
def test_degree_one_everywhere_is_one_gpu_alone(model: str, micro_batches: int, zero: int) -> None:
    alone = asked(model, micro_batches=micro_batches, zero=zero)
    step = alone.step
    assert step.communication == ()
    assert step.exposed.value == 0
    assert step.bubble.value == pytest.approx(0, abs=1e-9)
    assert alone.alone.in_flight == (1,)
    assert step.seconds.value == pytest.approx(step.compute.value + step.optimizer.value)
    assert alone.stages[0].parameters == pytest.approx(alone.parameters.value)


@settings(max_examples=25)
@given(
    model=DENSE_AND_MOE,
    tp=st.sampled_from([1, 2]),
    pp=st.sampled_from([1, 2, 4]),
    dp=st.sampled_from([1, 4]),
    zero=st.integers(0, 3),
)
def test_recomputing_more_costs_time_and_saves_memory(model: str, tp: int, pp: int, dp: int, zero: int) -> None:
    steps = [asked(model, tp=tp, pp=pp, dp=dp, zero=zero, recompute=level) for level in ("none", "selective", "full")]
    seconds = [result.step.seconds.value for result in steps]
    memory = [result.fullest.activations.value for result in steps]
    assert seconds == sorted(seconds)
    assert memory == sorted(memory, reverse=True)
    assert steps[0].step.recompute.value == 0 < steps[1].step.recompute.value < steps[2].step.recompute.value
    assert steps[0].mfu.hfu.value == pytest.approx(steps[0].mfu.causal.value)
    assert all(result.mfu.hfu.value > result.mfu.causal.value for result in steps[1:])


@settings(max_examples=30)
@given(p=st.sampled_from([2, 4]), m=st.sampled_from([8, 16, 32]), schedule=st.sampled_from(list(SCHEDULES)))
def test_more_micro_batches_never_raise_the_bubble_share(p: int, m: int, schedule: str) -> None:
    vp = 2 if SCHEDULES[schedule].takes_chunks else 1
    few, many = (asked("llama-3-70b", pp=p, schedule=schedule, vp=vp, micro_batches=n).alone for n in (m, 2 * m))
    assert many.bubble_of_total <= few.bubble_of_total + 1e-9
    assert 0 <= few.bubble_of_total <= few.bubble_of_ideal


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
WHOLE = {
    "model": {"layers": 8, "hidden": 512, "heads": 8, "kv_heads": 4, "head_dim": 64, "ffn": 2048, "gated": True, "vocab": 1000, "tied": False,
              "experts": 8, "top_k": 2, "moe_ffn": 256, "shared_experts": 1, "dense_layers": 1},
    "cluster": {"base": "hgx-h100", "gpus_per_node": 8, "nic_gbit_per_s": 400, "oversubscription": 1},
    "gpus": 64, "sequence_tokens": 2048, "precision": "bf16", "stack": None,
    "layout": {"tp": 2, "cp": 1, "ep": 2, "pp": 4, "dp": 8, "vp": 1, "schedule": "1f1b", "micro_batch": 1, "micro_batches": 8, "zero": 1,
               "hsdp_shard": None, "sequence_parallel": True, "recompute": "none", "gradient_bytes": 4, "rank_order": "tp-cp-ep-dp-pp"},
    "training": {"tokens": 15e12, "usd_per_gpu_hour": 2.5, "mfu": None},
}  # fmt: skip
PATHS = [(key,) for key in WHOLE] + [
    (key, inner) for key, value in WHOLE.items() if isinstance(value, dict) for inner in value
]
NEAR = st.sampled_from(
    [
        0,
        1,
        -1,
        2,
        3,
        5,
        7,
        64,
        1e3,
        2.5,
        1e30,
        1e308,
        float("nan"),
        float("inf"),
        True,
        None,
        "8",
        "",
        "mxfp8",
        [],
        {},
        [8],
    ]
)


def changed(document: dict[str, Any], path: tuple[str, ...], value: object) -> dict[str, Any]:
    head, *rest = path
    inner = document.get(head)
    return {**document, head: changed(inner, tuple(rest), value) if rest and isinstance(inner, dict) else value}


@settings(max_examples=200)
@given(document=JUNK)
def test_anything_that_is_no_scenario_is_refused_in_a_sentence(document: object) -> None:
    with pytest.raises(Refusal) as refused:
        scenario_from(document)
    assert "\n" not in refused.value.sentence


@settings(max_examples=300)
@given(changes=st.lists(st.tuples(st.sampled_from(PATHS), NEAR | JUNK), min_size=1, max_size=3))
def test_a_spoiled_scenario_is_refused_or_estimated(changes: list[tuple[tuple[str, ...], object]]) -> None:
    document: dict[str, Any] = WHOLE
    for path, value in changes:
        document = changed(document, path, value)
    scenario = scenario_or_none(document)
    if scenario is not None:
        assert all(math.isfinite(number) for number in answers_of(estimate(scenario)))


CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "vocab_size": 100,
    "intermediate_size": 256,
    "num_key_value_heads": 2,
    "text_config": None,
    "num_experts": None,
    "moe_layer_freq": 1,
    "tie_word_embeddings": False,
}


@settings(max_examples=150)
@given(key=st.sampled_from(list(CONFIG)), value=NEAR | JUNK)
def test_a_spoiled_config_is_refused_or_estimated(key: str, value: object) -> None:
    document = {**WHOLE, "model": {"hf_config": {**CONFIG, key: value}}, "layout": {"tp": 1, "pp": 1}}
    scenario = scenario_or_none(document)
    if scenario is not None:
        assert all(math.isfinite(number) for number in answers_of(estimate(scenario)))
