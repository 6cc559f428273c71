"""Every figure of the interview card, from the formulas that the pages use. The card rounds; one percent covers that."""

import importlib
import pkgutil

import pytest

import engine
from engine.catalog.hardware import cluster_named
from engine.catalog.model import model_named
from engine.language.formula import FORMULAS
from engine.language.units import GB, TB
from engine.memory.parameters import count

for module in pkgutil.walk_packages(engine.__path__, "engine."):
    importlib.import_module(module.name)

CARD = 0.01
PEAK = 989e12


def answer(name: str, **given: object) -> float:
    return FORMULAS[name].answer(given).value


def card(value: float) -> object:
    return pytest.approx(value, rel=CARD)


def test_one_copy_of_the_70b_training_state_is_1_12_tb() -> None:
    assert answer("state_bytes", N=70e9, zero=0, D=1) == card(1.12 * TB)


@pytest.mark.parametrize(("zero", "gigabytes"), [(0, 1120), (1, 293.1), (2, 155.3), (3, 17.5)])
def test_state_per_gpu_over_64_ranks(zero: int, gigabytes: float) -> None:
    assert answer("state_bytes", N=70e9, zero=zero, D=64) == pytest.approx(gigabytes * GB, rel=5e-4)


def test_zero3_leaves_about_60_gb_for_activations() -> None:
    left = 80 * GB - answer("state_bytes", N=70e9, zero=3, D=64)
    assert left == pytest.approx(60 * GB, rel=0.05)


def test_the_bubble_of_4_stages_and_16_micro_batches_is_3_in_19() -> None:
    assert answer("bubble_of_total", p=4, m=16) == pytest.approx(3 / 19)


def test_interleaving_brings_the_bubble_to_between_4_and_9_percent() -> None:
    assert answer("bubble_of_total", p=4, m=16, v=2) == card(0.0857)
    assert answer("bubble_of_total", p=4, m=16, v=4) == card(0.0448)


def test_a_global_batch_of_512_sequences_is_about_4_m_tokens() -> None:
    assert pytest.approx(4e6, rel=0.05) == 32 * 16 * 8192


def test_15t_tokens_of_70b_are_6_3e24_flop() -> None:
    assert answer("training_flop", N=70e9, T=15e12) == card(6.3e24)


def test_the_run_takes_16_g_gpu_seconds() -> None:
    assert answer("gpu_seconds", flop=6.3e24, peak_flop_per_s=PEAK, mfu=0.4) == card(1.6e10)


def test_the_run_takes_4_4_m_gpu_hours() -> None:
    assert answer("gpu_hours", flop=6.3e24, peak_flop_per_s=PEAK, mfu=0.4) == card(4.4e6)


@pytest.mark.parametrize(("gpus", "days"), [(1024, 180), (8192, 22.4)])
def test_wall_clock(gpus: int, days: float) -> None:
    assert answer("wall_days", gpu_hours=4.42e6, gpus=gpus) == card(days)


def test_the_run_costs_11_m_dollars() -> None:
    assert answer("run_usd", gpu_hours=4.42e6, usd_per_gpu_hour=2.5) == card(11e6)


def test_405b_needs_about_6_5_tb_of_state() -> None:
    assert answer("state_bytes", N=405e9, zero=0, D=1) == card(6.48 * TB)


def test_the_frozen_base_of_lora_is_140_gb_and_17_5_gb_on_each_of_8_gpus() -> None:
    assert answer("frozen_base_bytes", N=70e9, D=1) == card(140 * GB)
    assert answer("frozen_base_bytes", N=70e9, D=8) == card(17.5 * GB)


def test_lora_optimizer_state_is_tiny() -> None:
    adapters = 80 * 7 * answer("lora_parameters", r=16, d_in=8192, d_out=8192)  # more than Llama's seven matrices have
    assert 16 * adapters < 0.02 * answer("frozen_base_bytes", N=70e9, D=1) * 2


def test_zero3_moves_1_5_times_what_ddp_moves() -> None:
    assert answer("zero3_over_ddp_volume") == 1.5


def test_nvlink_is_18_times_the_nic_in_the_headline_and_9_times_each_way() -> None:
    cluster = cluster_named("hgx-h100")
    assert cluster.gpu.nvlink_bytes_per_s * 2 == card(900 * GB)
    assert cluster.nic_bytes_per_s == card(50 * GB)
    assert 2 * cluster.gpu.nvlink_bytes_per_s / cluster.nic_bytes_per_s == card(18)
    assert cluster.gpu.nvlink_bytes_per_s / cluster.nic_bytes_per_s == card(9)


def test_nvlink_joins_8_gpus_on_hgx_and_72_on_nvl72() -> None:
    assert cluster_named("hgx-h100").gpus_per_node == 8
    assert cluster_named("gb200-nvl72").gpus_per_node == 72


def test_the_h100_peaks_at_989_tflop_per_s() -> None:
    assert cluster_named("hgx-h100").gpu.peak("bf16") == card(PEAK)
    assert 0.4 * cluster_named("hgx-h100").gpu.peak("bf16") == card(396e12)


def test_the_whiteboard_model_is_round_and_the_real_one_is_not() -> None:
    assert count(model_named("whiteboard-70b")).total == pytest.approx(70e9)
    assert count(model_named("llama-3-70b")).total == pytest.approx(70.554e9, rel=1e-4)
    assert (
        answer("dense_parameters", L=80, h=8192, a=64, k=8, f=28672, V=128256)
        == count(model_named("llama-3-70b")).total
    )


def test_20_layers_stand_on_each_of_4_stages_of_128_nodes() -> None:
    assert model_named("llama-3-70b").layers / 4 == 20
    assert 8 * 4 * 32 == 1024 == 128 * cluster_named("hgx-h100").gpus_per_node
