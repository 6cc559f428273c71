"""The front door: the card's layout with the real 70B, checked number by number against what was worked out by hand."""

from typing import Any

import pytest

from engine.catalog.model import model_named
from engine.compute.flops import causal_flop, flop_utilization, full_attention_flop, six_n_flop, work_per_token
from engine.estimate import Estimate, estimate
from engine.language.units import GB, GIB
from engine.memory.parameters import count
from engine.scenario import scenario_from
from tests.engine.conftest import Ask


def near(value: float, rel: float = 0.03) -> Any:
    return pytest.approx(value, rel=rel)


def test_the_real_70b_has_70_554_b_parameters(card: Estimate) -> None:
    assert card.parameters.value == near(70.554e9, 1e-3)
    assert card.active_parameters == card.parameters.value


def test_memory_of_the_first_stage(card: Estimate) -> None:
    first = card.stages[0]
    assert first.weights.value / GIB == near(4.23)
    assert first.gradients.value / GIB == near(8.46)
    assert first.optimizer.value / GIB == near(0.79)
    assert first.activations.value / GIB == near(20.94)
    assert card.fullest is first
    assert card.fits


def test_the_ends_of_the_pipe_hold_embedding_and_head(card: Estimate) -> None:
    first, second, third, last = (stage.parameters for stage in card.stages)
    assert second == third < first
    assert first == near(2.27e9, 0.01)
    assert last == near(first, 1e-5)


def test_the_stages_hold_the_whole_model(card: Estimate) -> None:
    assert 8 * sum(stage.parameters for stage in card.stages) == pytest.approx(card.parameters.value)


def test_a_tied_head_at_the_other_end_of_the_pipe_is_a_second_copy(ask: Ask) -> None:
    tied = {"layers": 8, "hidden": 1024, "heads": 8, "vocab": 50_000, "tied": True}
    held = sum(stage.parameters for stage in ask(model=tied, gpus=4, tp=1, pp=4).stages)
    assert held == pytest.approx(
        count(
            scenario_from({"model": tied, "cluster": "hgx-h100", "gpus": 1, "layout": {"tp": 1, "pp": 1}}).model
        ).total
        + 50_000 * 1024
    )


def test_the_bubble_both_ways_and_micro_batches_in_flight(card: Estimate) -> None:
    assert card.alone.bubble_of_total == near(0.1579, 1e-3)
    assert card.alone.bubble_of_ideal == near(0.1875, 1e-3)
    assert card.alone.in_flight == (4, 3, 2, 1)


def test_interleaving_brings_it_to_8_6_and_4_5_percent(ask: Ask) -> None:
    assert ask(schedule="interleaved", vp=2).alone.bubble_of_total == near(0.0857, 1e-3)
    assert ask(schedule="interleaved", vp=4).alone.bubble_of_total == near(0.0448, 1e-2)


def test_the_scene_of_the_3d_layout(card: Estimate) -> None:
    """Per GPU 2.20 B parameters: 4.4 weights, 8.8 FP32 gradients, 0.83 sharded optimizer: 14.1 GB; 22.8 GB of activations."""
    mean = {
        name: sum(getattr(stage, name).value for stage in card.stages) / 4 / GB
        for name in ("weights", "gradients", "optimizer")
    }
    assert mean == {"weights": near(4.4, 0.01), "gradients": near(8.8, 0.01), "optimizer": near(0.83, 0.01)}
    assert sum(mean.values()) == near(14.1, 0.01)
    assert card.stages[0].activations.value / GB == near(22.8)
    assert sum(stage.parameters for stage in card.stages) / 4 == near(2.20e9, 0.01)


def test_gradients_travel_once_and_hand_overs_are_16_8_mb(card: Estimate) -> None:
    sent = {c.what: c for c in card.step.communication}
    reduced = sum(c.sent.value for what, c in sent.items() if what.startswith("DP"))
    assert reduced / GB == near(12.8, 0.05)
    assert sum(c.seconds.value for what, c in sent.items() if what.startswith("DP")) == near(0.26, 0.25)
    assert sent["PP sends"].payload_bytes == 16_777_216
    assert sent["PP sends"].each_s == near(0.34e-3, 0.25)
    assert sent["TP all-gather"].payload_bytes == near(134e6, 0.01)


def test_a_two_to_one_spine_doubles_what_crosses_it(ask: Ask) -> None:
    def gradients(**changes: Any) -> float:
        step = ask(rank_order="tp-cp-ep-pp-dp", **changes).step
        return sum(c.seconds.value for c in step.communication if c.axis == "dp")

    narrow = {"cluster": {"base": "hgx-h100", "oversubscription": 2}}
    assert gradients(**narrow) / gradients() == near(2, 0.02)


@pytest.mark.parametrize(
    ("flop", "share"),
    [
        (six_n_flop(N=count(model_named("llama-3-70b")).total), 0.479),
        (causal_flop(**work_per_token(model_named("llama-3-70b"), 8192)), 0.508),
        (full_attention_flop(**work_per_token(model_named("llama-3-70b"), 8192)), 0.544),
    ],
    ids=["6N", "causal", "full attention"],
)
def test_one_measured_run_has_three_mfus(flop: float, share: float) -> None:
    """NVIDIA's 1,145,202 tokens/s on 1,024 H100."""
    assert flop_utilization(flop, 1_145_202, 1024, 989e12) == pytest.approx(share, abs=5e-4)


def test_the_same_run_is_predicted_within_5_percent(ask: Ask) -> None:
    """NVIDIA dgxc-benchmarking, llama3.1, release 25.04.01: TP 4, PP 4, VP 5, CP 2, 2,048 sequences in 14.65 s."""
    run = ask(tp=4, pp=4, cp=2, vp=5, schedule="interleaved", micro_batches=64, gradient_bytes=2)
    assert run.step.seconds.value == near(14.65, 0.05)
    assert run.tokens_per_second.value == near(1_145_202, 0.05)


def test_the_conventions_are_in_order(card: Estimate) -> None:
    mfu = card.mfu
    assert mfu.six_n.value < mfu.causal.value < mfu.full_attention.value
    assert 0.3 < mfu.causal.value < 0.55


def test_the_run_at_a_given_mfu_is_the_cards_arithmetic(ask: Ask) -> None:
    run = ask(model="whiteboard-70b", training={"mfu": 0.4}).training
    assert run.flop.value == near(6.3e24, 1e-9)
    assert run.gpu_hours.value == near(4.4e6, 0.01)
    assert run.days.value == near(180, 0.01)
    assert run.usd.value == near(11e6, 0.01)


def test_the_run_at_the_computed_speed_agrees_with_its_own_mfu(card: Estimate) -> None:
    run = card.training
    by_mfu = run.flop.value / (989.4e12 * card.mfu.six_n.value) / 3600
    assert run.gpu_hours.value == pytest.approx(by_mfu)
    assert run.days.value == pytest.approx(run.gpu_hours.value / 1024 / 24)
    assert 0.9 < run.goodput_share.value < 1


def test_405b_at_128k_tokens_needs_context_parallelism_and_recomputation(ask: Ask) -> None:
    """The degrees of Meta's long-context stage: TP 8, CP 16, PP 16, DP 8."""
    meta = {
        "model": "llama-3-405b",
        "gpus": 16384,
        "tp": 8,
        "cp": 16,
        "pp": 16,
        "sequence_tokens": 131_072,
        "gradient_bytes": 2,
    }
    assert not ask(**meta).fits
    cut = ask(**meta, recompute="full")
    assert cut.fits
    assert cut.parameters.value == near(405.85e9, 1e-3)
    assert len(cut.stages) == 16
    assert cut.step.placement.reach("cp").leaves_node


def test_fsdp_alone_on_64_gpus_holds_the_cards_17_5_gb_of_state(ask: Ask) -> None:
    alone = ask(model="whiteboard-70b", gpus=64, tp=1, pp=1, zero=3, recompute="full", micro_batches=1).stages[0]
    assert (alone.weights.value + alone.gradients.value + alone.optimizer.value) / GB == near(17.5, 1e-3)


def test_zero_3_with_hsdp_sums_gradients_across_its_groups(ask: Ask) -> None:
    sharded = {c.what for c in ask(pp=1, zero=3).step.communication}
    grouped = {c.what for c in ask(pp=1, zero=3, hsdp_shard=16).step.communication}
    assert grouped - sharded == {"HSDP all-reduce"}


def test_the_same_question_is_answered_from_memory(card: Estimate) -> None:
    asked = estimate(card.scenario)
    assert estimate(scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024})) is asked
