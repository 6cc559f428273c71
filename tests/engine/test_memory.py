"""Bytes of training state: worked numbers of the ZeRO paper and what sharding may never do."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.language.units import GB, GIB
from engine.memory.held import stage_expert_parameters, stage_parameters
from engine.memory.state import (
    activation_bytes,
    held_bytes,
    held_with_experts_bytes,
    needed_bytes,
    stage_total_bytes,
    state_bytes,
)

WIDTHS = st.integers(1, 100_000)
AMOUNTS = st.floats(1, 1e13)


@pytest.mark.parametrize(("zero", "gigabytes"), [(0, 120), (1, 31.4), (2, 16.6), (3, 1.9)])
def test_figure_1_of_the_zero_paper(zero: int, gigabytes: float) -> None:
    """7.5 B parameters on 64 GPUs: Rajbhandari et al. 2020, figure 1."""
    assert state_bytes(7.5e9, zero, 64) / GB == pytest.approx(gigabytes, abs=0.05)


@given(parameters=AMOUNTS, width=WIDTHS)
def test_a_higher_zero_stage_never_needs_more(parameters: float, width: int) -> None:
    sizes = [state_bytes(parameters, zero, width) for zero in (0, 1, 2, 3)]
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in pairwise(sizes))


@given(parameters=AMOUNTS, zero=st.integers(0, 3), width=WIDTHS, more=WIDTHS)
def test_more_ranks_never_need_more_each(parameters: float, zero: int, width: int, more: int) -> None:
    assert state_bytes(parameters, zero, width + more) <= state_bytes(parameters, zero, width)


@given(parameters=AMOUNTS, zero=st.integers(0, 3))
def test_over_one_rank_every_stage_is_ddp(parameters: float, zero: int) -> None:
    assert state_bytes(parameters, zero, 1) == pytest.approx(16 * parameters)


@given(parameters=AMOUNTS, width=WIDTHS)
def test_shards_times_ranks_are_the_whole(parameters: float, width: int) -> None:
    assert state_bytes(parameters, 3, width) * width == pytest.approx(16 * parameters)
    assert held_bytes(12, parameters, width) * width == pytest.approx(12 * parameters)


def test_the_cards_first_stage_holds_2_27_b_parameters() -> None:
    held = stage_parameters(20, 855.654e6, 0, 0, 128256 * 8192, 8)
    assert held / 1e9 == pytest.approx(2.27, rel=2e-3)
    assert held_bytes(2, held, 1) / GIB == pytest.approx(4.23, rel=1e-2)
    assert held_bytes(4, held, 1) / GIB == pytest.approx(8.46, rel=1e-2)
    assert held_bytes(12, held, 32) / GIB == pytest.approx(0.79, rel=1e-2)


def test_experts_are_dealt_over_expert_parallel_ranks() -> None:
    """58 layers of 256 experts of 44 M parameters on 64 ranks: four experts each."""
    assert stage_expert_parameters(58, 256, 44e6, 64, 1) == 58 * 4 * 44e6


def test_experts_shard_over_fewer_copies_than_the_rest() -> None:
    assert held_with_experts_bytes(12, 1e9, 32, 8e9, 4) == 12 * (1e9 / 32 + 8e9 / 4)


def test_full_recomputation_keeps_inputs_and_one_working_layer() -> None:
    assert activation_bytes(4, 20, 16, 0, 0, 252) == 4 * 20 * 16 + 252


def test_the_total_is_the_sum_and_the_gpu_needs_a_little_more() -> None:
    assert stage_total_bytes(1, 2, 3, 4, 5) == 15
    assert needed_bytes(100, 0.06, 2) == 108
