"""The time of a step: what makes it longer, and that its parts are the whole."""

import pytest

from engine.estimate import Estimate
from engine.pipeline.schedules import SCHEDULES
from engine.step.step import band_s, idle_s, optimizer_s, step_s
from tests.engine.conftest import Ask


def test_a_step_is_the_sum_of_its_parts(card: Estimate) -> None:
    step = card.step
    parts = [step.compute.value, step.recompute.value, step.exposed.value, step.bubble.value, step.optimizer.value]
    assert sum(parts) == pytest.approx(step.seconds.value)
    assert min(parts) >= 0


def test_the_bubble_of_the_step_is_what_the_timeline_shows(card: Estimate) -> None:
    step = card.step
    assert step.timeline.makespan == pytest.approx(step.outline.makespan)
    assert step.bubble.value == pytest.approx(card.alone.bubble_of_ideal * step.outline.busy[step.stage], rel=0.15)


def test_full_recomputation_costs_about_a_third_of_the_computation(ask: Ask, card: Estimate) -> None:
    again = ask(recompute="full").step
    assert again.compute.value == pytest.approx(card.step.compute.value)
    assert again.recompute.value / again.compute.value == pytest.approx(1 / 3, abs=0.04)


def test_selective_recomputation_costs_a_few_percent(ask: Ask) -> None:
    again = ask(recompute="selective").step
    assert 0.005 < again.recompute.value / again.compute.value < 0.06


def test_twice_the_micro_batches_are_twice_the_work_and_the_same_bubble(ask: Ask, card: Estimate) -> None:
    longer = ask(micro_batches=32).step
    assert longer.compute.value == pytest.approx(2 * card.step.compute.value)
    assert longer.bubble.value == pytest.approx(card.step.bubble.value)


def test_a_faster_nic_shortens_what_crosses_it_and_nothing_else(ask: Ask, card: Estimate) -> None:
    faster = ask(cluster={"base": "hgx-h100", "nic_gbit_per_s": 800}).step
    assert faster.compute.value == card.step.compute.value
    assert faster.exposed.value < card.step.exposed.value
    by_axis = [sum(c.seconds.value for c in step.communication if c.axis == "tp") for step in (faster, card.step)]
    assert by_axis[0] == by_axis[1]


def test_tensor_parallel_across_nodes_is_several_times_slower(ask: Ask, card: Estimate) -> None:
    torn = ask(cluster={"base": "hgx-h100", "gpus_per_node": 1})
    assert torn.tokens_per_second.value < 0.5 * card.tokens_per_second.value


def test_fp8_is_faster_but_not_twice(ask: Ask, card: Estimate) -> None:
    assert 1 < ask(precision="fp8").tokens_per_second.value / card.tokens_per_second.value < 2


@pytest.mark.parametrize("stack", ["megatron-2021", "megatron-deepspeed", "fsdp2", "fsdp2-compiled"])
def test_other_software_runs_the_same_layout_slower(ask: Ask, card: Estimate, stack: str) -> None:
    assert ask(stack=stack).step.seconds.value > card.step.seconds.value


def test_a_newer_gpu_is_faster(ask: Ask) -> None:
    speeds = [
        ask(cluster=name, micro_batches=16).tokens_per_second.value
        for name in ("hgx-a100-80gb", "hgx-h100", "hgx-b200")
    ]
    assert speeds == sorted(speeds)


@pytest.mark.parametrize("stack", ["megatron", "megatron-2021"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_sends_never_shorten_a_step(ask: Ask, schedule: str, stack: str) -> None:
    result = ask(schedule=schedule, stack=stack)
    sends = next(c for c in result.step.communication if c.axis == "pp")
    assert sends.exposed.value >= 0
    assert result.step.outline.makespan == pytest.approx(
        result.step.bubble.value + result.step.outline.busy[result.step.stage] + sends.exposed.value
    )


def test_less_bubble_makes_a_shorter_step(ask: Ask, card: Estimate) -> None:
    for layout in ({"schedule": "interleaved", "vp": 4}, {"schedule": "zb-h1"}, {"schedule": "zb-v"}):
        assert ask(**layout).step.bubble.value < card.step.bubble.value


def test_the_optimizer_is_sharded_with_its_state(ask: Ask, card: Estimate) -> None:
    assert ask(zero=0).step.optimizer.value > 3 * card.step.optimizer.value


def test_worked_numbers() -> None:
    assert step_s(3, 1, 0.5, 0.25, 0.25) == 5
    assert idle_s(4, 3) == 1
    assert band_s(2, -0.5) == 1
    assert optimizer_s(34, 100, 4, 200, 1e3) == 4.2
