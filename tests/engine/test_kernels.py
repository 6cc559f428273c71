"""Kernel rates: measured points come back as measured, nothing is extrapolated, nothing beats the hardware."""

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.catalog.calibration import fitted_calibration
from engine.catalog.hardware import gpu_named, gpu_names
from engine.catalog.kernel_rates import (
    ROUND_TRIPS,
    TABLES,
    attention_flop_per_s,
    grouped_matmul_s,
    matmul_flop_per_s,
    matmul_s,
    nvlink_collective_s,
    pointwise_s,
)
from engine.language.refusal import Refusal
from engine.language.units import GB, MIB

KNOWN = fitted_calibration()
LAUNCH_S = KNOWN.factor("launch_gap_s")
MEASURED = ("h100", "a100-80gb", "h200", "b200", "gb200")  # GPUs that a table was measured on
OPS = tuple(ROUND_TRIPS)
SIZE = st.integers(1, 10**6)


def rows(kind: str, gpu: str) -> list[dict[str, str]]:
    with open(TABLES / f"{kind}_{gpu_named(gpu).kernels}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def column(table: list[dict[str, str]], name: str) -> np.ndarray:
    return np.array([float(row[name]) for row in table])


def bus_bytes_per_s(gpu: str, op: str, ranks: int, size: float) -> float:
    return ROUND_TRIPS[op] * (ranks - 1) / ranks * size / nvlink_collective_s(gpu_named(gpu), op, ranks, size)


@pytest.mark.parametrize("name", MEASURED)
def test_every_measured_matmul_returns_itself(name: str) -> None:
    gpu = gpu_named(name)
    for precision in {"bf16", "fp8"} & set(gpu.precisions):
        table = [row for row in rows("gemm", name) if row["dtype"] == precision]
        assert len(table) == 960
        rate = matmul_flop_per_s(gpu, precision, *(column(table, size) for size in "mnk"))
        np.testing.assert_allclose(rate, column(table, "tflops") * 1e12, rtol=1e-9)


@pytest.mark.parametrize("name", MEASURED)
def test_every_measured_attention_returns_itself(name: str) -> None:
    table = rows("attention", name)
    rate = attention_flop_per_s(
        gpu_named(name), *(column(table, size) for size in ("seq", "heads", "head_dim", "batch"))
    )
    np.testing.assert_allclose(rate, column(table, "tflops") * 1e12, rtol=1e-9)


@pytest.mark.parametrize("name", MEASURED)
@pytest.mark.parametrize("op", OPS)
def test_every_measured_collective_returns_itself(name: str, op: str) -> None:
    table = [row for row in rows("nccl", name) if row["op"] == op]
    time_s = nvlink_collective_s(gpu_named(name), op, column(table, "ranks"), column(table, "bytes"))
    np.testing.assert_allclose(time_s, column(table, "us") * 1e-6, rtol=1e-9)


@pytest.mark.parametrize("name", gpu_names())
def test_every_gpu_of_the_catalogue_answers_every_question(name: str) -> None:
    gpu = gpu_named(name)
    size = np.array([100.0, 3000.0, 70000.0])
    for precision in gpu.precisions:
        assert np.all(matmul_s(gpu, KNOWN, precision, size, size[::-1], 4096) > LAUNCH_S)
        assert np.all(grouped_matmul_s(gpu, KNOWN, precision, 8, size, 4096, 2048) > LAUNCH_S)
    assert np.all(attention_flop_per_s(gpu, size, 8, 128, 1) > 1e12)
    for op in OPS:
        assert np.all(np.diff(nvlink_collective_s(gpu, op, 8, size * 1e4)) > 0)


@pytest.mark.parametrize("name", gpu_names())
@given(m=SIZE, n=SIZE, k=SIZE)
def test_no_matmul_beats_the_peak(name: str, m: int, n: int, k: int) -> None:
    gpu = gpu_named(name)
    for precision in gpu.precisions:
        assert matmul_s(gpu, KNOWN, precision, m, n, k) > 2 * m * n * k / gpu.peak(precision)


def test_efficiency_is_clamped_outside_the_table_and_never_extrapolated() -> None:
    gpu = gpu_named("h100")
    corner = matmul_flop_per_s(gpu, "bf16", 32768, 65536, 16384)
    assert matmul_flop_per_s(gpu, "bf16", 10**7, 65536, 16384) == corner
    assert matmul_flop_per_s(gpu, "bf16", 1, 256, 256) == matmul_flop_per_s(gpu, "bf16", 128, 256, 256)
    assert attention_flop_per_s(gpu, 10**6, 8, 128) == attention_flop_per_s(gpu, 16384, 8, 128)
    assert attention_flop_per_s(gpu, 8192, 8, 160) == attention_flop_per_s(gpu, 8192, 8, 192)


def test_a_thin_matmul_takes_as_long_as_moving_its_matrices() -> None:
    gpu = gpu_named("h100")
    moved = 2 * (8192 * 16 + 16 * 8192 + 8192 * 8192)
    assert matmul_s(gpu, KNOWN, "bf16", 8192, 8192, 16) >= LAUNCH_S + pointwise_s(gpu, KNOWN, moved)


@given(m=st.integers(7, 15), n=st.integers(8, 14), k=st.integers(8, 14))
def test_doubling_the_rows_never_makes_a_matmul_faster(m: int, n: int, k: int) -> None:
    gpu = gpu_named("h100")
    one, two = (matmul_s(gpu, KNOWN, "bf16", 2.0**rows_log2, 2**n, 2**k) for rows_log2 in (m, m + 1))
    assert two > one


@pytest.mark.parametrize(
    ("layer", "shape", "tflops"),
    [
        # Llama 70B, 8,192 tokens, TP 8, read off the table: each lies on or between its points
        ("up and gate", (8192, 7168, 8192), 713),
        ("down", (8192, 8192, 3584), 727),
        ("attention out", (8192, 8192, 1024), 693),
        ("128 rows", (128, 8192, 8192), 338),
        ("512 rows", (512, 8192, 8192), 767),
    ],
)
def test_h100_matmuls_of_llama_70b(layer: str, shape: tuple[int, int, int], tflops: float) -> None:
    assert matmul_flop_per_s(gpu_named("h100"), "bf16", *shape) == pytest.approx(tflops * 1e12, rel=2e-3), layer


def test_h100_attention_gets_faster_with_longer_sequences() -> None:
    rate = attention_flop_per_s(gpu_named("h100"), np.array([2048, 4096, 8192, 16384]), 8, 128)
    assert rate == pytest.approx(np.array([204, 416, 533, 598]) * 1e12, rel=2e-3)


@pytest.mark.parametrize(
    ("op", "busbw"), [("all_gather", 301), ("reduce_scatter", 308), ("all_to_all", 291), ("all_reduce", 406)]
)
def test_h100_collectives_at_128_mib(op: str, busbw: float) -> None:
    assert bus_bytes_per_s("h100", op, 8, 128 * MIB) == pytest.approx(busbw * GB, rel=2e-3)


@pytest.mark.parametrize("op", OPS)
def test_bus_bandwidth_stays_above_the_largest_size_and_time_below_the_smallest(op: str) -> None:
    assert bus_bytes_per_s("h100", op, 8, 2**33) == pytest.approx(bus_bytes_per_s("h100", op, 8, 2**29))
    tiny, smallest = (nvlink_collective_s(gpu_named("h100"), op, 8, size) for size in (16, 512))
    assert tiny == pytest.approx(smallest)


@pytest.mark.parametrize("name", gpu_names())
@pytest.mark.parametrize("op", ["all_gather", "reduce_scatter", "all_to_all"])
def test_no_exchange_beats_the_link(name: str, op: str) -> None:
    size = 2.0 ** np.arange(9, 34)
    for ranks in (2, 3, 8, 72):
        sent = (ranks - 1) / ranks * size
        assert np.all(sent / nvlink_collective_s(gpu_named(name), op, ranks, size) < gpu_named(name).nvlink_bytes_per_s)


def test_a_group_of_one_and_an_empty_buffer_take_no_time() -> None:
    times = nvlink_collective_s(gpu_named("h100"), "all_reduce", np.array([1, 8]), np.array([1e9, 0.0]))
    assert list(times) == [0, 0]


def test_an_unknown_collective_is_refused() -> None:
    with pytest.raises(Refusal, match="all_gather"):
        nvlink_collective_s(gpu_named("h100"), "allgather", 8, 1e6)


def test_a_whole_nvl72_all_reduces_at_the_measured_839_gb_per_s() -> None:
    assert bus_bytes_per_s("gb200", "all_reduce", 72, 4 * 2**30) == pytest.approx(839.2 * GB, rel=2e-3)
    times = nvlink_collective_s(
        gpu_named("gb200"), "all_reduce", 72, 2.0 ** np.arange(18, 34)
    )  # smaller ones wobble by 0.1 %
    assert np.all(np.diff(times) > 0)


def test_two_mi300x_share_one_link_of_seven() -> None:
    # measured by all_reduce_bench.py at 4 GiB: 47.7 and 312.9 GB/s (stas00/ml-engineering network/README.md)
    assert bus_bytes_per_s("mi300x", "all_reduce", 8, 2**32) == pytest.approx(312.9 * GB, rel=1e-3)
    assert bus_bytes_per_s("mi300x", "all_reduce", 2, 2**32) == pytest.approx(47.7 * GB, rel=0.1)


def test_an_mi300x_multiplies_as_well_as_the_best_matmul_found_on_it() -> None:
    # 668.4 TFLOP/s at this shape: stas00/ml-engineering compute/accelerator/README.md
    assert matmul_flop_per_s(gpu_named("mi300x"), "bf16", 10240, 15360, 8192) < 668.4e12
    assert "H200" in gpu_named("mi300x").note


@pytest.mark.parametrize(("precision", "lowest"), [("bf16", 0.82), ("fp8", 0.80)])
@pytest.mark.parametrize("name", ["h100", "h200", "b200", "gb200"])
def test_grouped_matmuls_agree_with_measured_expert_layers(name: str, precision: str, lowest: float) -> None:
    """Gate with up, and down, over a measured layer that activates and permutes as well: a little below one."""
    table = [row for row in rows("moe", name) if row["dtype"] == precision and float(row["rows"]) >= 256]
    experts, tokens, hidden, ffn, us = (column(table, size) for size in ("experts", "rows", "hidden", "ffn", "us"))
    gpu = gpu_named(name)
    ours = grouped_matmul_s(gpu, KNOWN, precision, experts, tokens, 2 * ffn, hidden)
    ours += grouped_matmul_s(gpu, KNOWN, precision, experts, tokens, hidden, ffn)
    ratio = np.median(ours / (us * 1e-6))
    assert lowest < ratio < 1.02


@pytest.mark.parametrize("name", gpu_names())
def test_one_expert_is_one_matmul(name: str) -> None:
    gpu = gpu_named(name)
    for precision in gpu.precisions:
        alone = matmul_s(gpu, KNOWN, precision, 4096, 8192, 2048)
        assert grouped_matmul_s(gpu, KNOWN, precision, 1, 4096, 8192, 2048) == pytest.approx(alone)


def test_arrays_and_numbers_agree() -> None:
    gpu = gpu_named("b200")
    m, n, k = np.array([512, 9000]), np.array([4096, 100]), 8192
    both = matmul_s(gpu, KNOWN, "mxfp8", m, n, k)
    assert list(both) == pytest.approx(
        [matmul_s(gpu, KNOWN, "mxfp8", int(a), int(b), k) for a, b in zip(m, n, strict=True)]
    )
    assert matmul_s(gpu, KNOWN, "mxfp8", m[:, None], n, k).shape == (2, 2)


def test_a_precision_the_gpu_lacks_is_refused() -> None:
    with pytest.raises(Refusal, match="bf16 or fp16"):
        matmul_s(gpu_named("a100-80gb"), KNOWN, "fp8", 1024, 1024, 1024)


def test_the_tables_carry_their_attribution() -> None:
    assert "Apache License" in (TABLES / "LICENSE").read_text(encoding="utf-8")
    assert "NVIDIA CORPORATION" in (TABLES / "README.md").read_text(encoding="utf-8")
    tables = list(TABLES.glob("*.csv"))
    assert len(tables) == 4 * len(MEASURED)
    assert all("aiconfigurator-core" in table.read_text(encoding="utf-8").partition("\n")[0] for table in tables)
    assert sum(file.stat().st_size for file in TABLES.iterdir()) < 700e3
