"""Which collectives a layout issues in a step, how large and how often."""

from typing import Any

import pytest

from engine.estimate import Estimate
from engine.network.issued import Collective
from tests.engine.conftest import Ask

MIXTRAL = {"model": "mixtral-8x7b", "gpus": 64, "pp": 1, "micro_batches": 2}
SMALL = {"model": "llama-3-8b", "gpus": 64, "tp": 1, "pp": 1, "micro_batches": 4}


def by_what(result: Estimate) -> dict[str, Collective]:
    return {c.what: c for c in result.step.communication}


def sent(result: Estimate, axis: str) -> float:
    """Bytes that a GPU sends in a step on one axis."""
    return sum(c.sent.value * c.count for c in result.step.communication if c.axis == axis)


def test_tensor_parallelism_sums_twice_a_pass_in_every_layer(card: Estimate) -> None:
    found = by_what(card)
    assert found["TP all-gather"].count == found["TP reduce-scatter"].count == 4 * 20 * 16
    assert found["TP gather again"].count == 2 * 20 * 16
    assert found["TP all-gather"].payload_bytes == 2 * 8192 * 8192


def test_without_sequence_parallelism_there_are_four_all_reduces_and_the_same_bytes(ask: Ask, card: Estimate) -> None:
    plain = by_what(ask(sequence_parallel=False))
    assert plain["TP all-reduce"].count == 4 * 20 * 16
    cut = by_what(card)
    halves = sum(cut[what].sent.value * cut[what].count for what in ("TP all-gather", "TP reduce-scatter"))
    assert plain["TP all-reduce"].sent.value * plain["TP all-reduce"].count == pytest.approx(halves)


def test_full_recomputation_repeats_the_forward_sums(ask: Ask, card: Estimate) -> None:
    assert by_what(ask(recompute="full"))["TP reduce-scatter"].count == 1.5 * by_what(card)["TP reduce-scatter"].count


def test_a_hand_over_goes_once_each_way_and_v_times_as_often_when_interleaved(ask: Ask, card: Estimate) -> None:
    assert by_what(card)["PP sends"].count == 2 * 16
    assert by_what(card)["PP sends"].payload_bytes == 2 * 8192 * 8192 / 8
    assert by_what(ask(schedule="interleaved", vp=4))["PP sends"].count == 4 * 2 * 16


def test_zero_1_scatters_fp32_gradients_and_gathers_bf16_weights(ask: Ask, card: Estimate) -> None:
    held = card.stages[card.step.stage].parameters
    found = by_what(card)
    assert found["DP reduce-scatter"].payload_bytes == 4 * held
    assert found["DP all-gather"].payload_bytes == 2 * held
    assert sent(ask(gradient_bytes=2), "dp") == pytest.approx(sent(card, "dp") * 4 / 6)


def test_ddp_and_zero_1_send_the_same_with_bf16_gradients(ask: Ask) -> None:
    assert sent(ask(**SMALL, zero=0, gradient_bytes=2), "dp") == pytest.approx(
        sent(ask(**SMALL, zero=1, gradient_bytes=2), "dp")
    )


def test_zero_3_sends_half_as_much_again_as_ddp(ask: Ask) -> None:
    """With one micro-batch; embedding and head are counted apart."""
    one = {**SMALL, "micro_batches": 1, "gradient_bytes": 2}
    layers = [c for c in ask(**one, zero=3).step.communication if c.what in ("FSDP all-gather", "FSDP reduce-scatter")]
    ends = 2 * 128256 * 4096 + 4096
    body = 1 - ends / 8_030_261_248
    ddp = sent(ask(**one, zero=0), "dp") * body
    assert sum(c.sent.value * c.count for c in layers) / ddp == pytest.approx(1.5, rel=1e-3)


def test_zero_3_gathers_for_every_micro_batch(ask: Ask) -> None:
    few, many = (ask(**{**SMALL, "micro_batches": m}, zero=3) for m in (2, 8))
    assert sent(many, "dp") == pytest.approx(4 * sent(few, "dp"))


def test_context_parallelism_passes_keys_and_values_on(ask: Ask) -> None:
    found = by_what(ask(cp=4, pp=1, sequence_tokens=131_072))
    forward, backward = found["CP keys and values"], found["CP keys, values and gradients"]
    assert forward.payload_bytes == 2 * (131_072 / 4) * 2 * 128  # one KV head a rank at TP 8
    assert backward.count == 2 * forward.count == 2 * 3 * 80 * 16


def test_a_hop_of_8_kv_heads_at_128k_tokens_is_134_mb(ask: Ask) -> None:
    """The scene of context parallelism: 134 MB per hop at CP 4 without TP."""
    assert by_what(ask(tp=1, pp=1, cp=4, sequence_tokens=131_072))["CP keys and values"].payload_bytes == pytest.approx(
        134e6, rel=0.01
    )


def test_tokens_visit_their_experts_and_return_in_both_passes(ask: Ask) -> None:
    found = by_what(ask(**MIXTRAL, tp=1, ep=8))
    for exchange in (found["EP dispatch"], found["EP combine"]):
        assert exchange.count == 2 * 32 * 2
        assert exchange.payload_bytes == 2 * 8192 * 2 * 4096
        assert exchange.sent.value == exchange.payload_bytes * 7 / 8
        assert exchange.exposed_share == 1
    assert "EP dispatch" not in by_what(ask(**MIXTRAL, tp=1))


def test_eight_bit_products_send_tokens_out_in_one_byte_and_take_sums_back_in_two(ask: Ask) -> None:
    found = by_what(ask(**MIXTRAL, tp=1, ep=8, precision="fp8"))
    assert 2 * found["EP dispatch"].payload_bytes == found["EP combine"].payload_bytes == 2 * 8192 * 2 * 4096


def test_limited_routing_sends_one_copy_a_node_and_only_where_nodes_are_left(ask: Ask) -> None:
    """The scene of expert parallelism: 4,096 tokens x 8 experts x 7,168 x 2 bytes is 470 MB."""

    def dispatch(**changes: Any) -> float:
        return by_what(ask(model="deepseek-v3", gpus=256, tp=1, pp=1, sequence_tokens=4096, **changes))[
            "EP dispatch"
        ].payload_bytes

    assert dispatch(ep=64) == pytest.approx(470e6 / 2, rel=1e-3)
    assert dispatch(ep=8) == pytest.approx(470e6, rel=1e-3)


def test_two_directions_hide_the_exchange_behind_each_other(ask: Ask) -> None:
    shape = {"model": "deepseek-v3", "gpus": 2048, "tp": 1, "pp": 16, "ep": 64, "sequence_tokens": 4096}
    shape |= {"micro_batches": 120, "recompute": "full"}
    plain, paired = (by_what(ask(**shape, schedule=s))["EP combine"] for s in ("1f1b", "dualpipe"))
    assert plain.exposed_share == 1
    assert 0 <= paired.exposed_share < 1


def test_expert_gradients_travel_among_fewer_gpus(ask: Ask) -> None:
    found = by_what(ask(**MIXTRAL, tp=1, ep=8))
    assert found["DP reduce-scatter"].reach.size == 64
    assert found["DP expert reduce-scatter"].reach.size == 8


@pytest.mark.parametrize(
    "layout", [{}, {"sequence_parallel": False}, {"zero": 3, "pp": 1}, {"cp": 2}, {"recompute": "full"}]
)
def test_what_is_exposed_is_part_of_what_it_takes(ask: Ask, layout: dict[str, Any]) -> None:
    for c in ask(**layout).step.communication:
        assert 0 <= c.exposed.value <= c.seconds.value * (1 + 1e-9)
        assert c.seconds.value == c.count * c.each_s
