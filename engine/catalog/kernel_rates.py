"""What one GPU achieves: matmul, attention, pointwise and collectives inside its NVLink domain, from measured tables.

Every function takes a Gpu and numbers or arrays, and gives numbers or an array; those that no measured table answers
alone take the calibration as well. Rates are interpolated in logarithms
between measured points and held constant outside them: an efficiency is never extrapolated. The tables hold short runs;
in training the same kernels are slower, which the step model corrects, not this module. See catalog/kernels/README.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from engine.catalog.calibration import Calibration
from engine.catalog.hardware import Gpu
from engine.catalog.precision import PRECISIONS
from engine.language.choice import one_of
from engine.language.formula import Number

TABLES = Path(__file__).parent / "kernels"

OUTPUT_BYTES = 2  # a matmul writes 16-bit numbers, whatever it reads
ROUND_TRIPS = {"all_gather": 1, "reduce_scatter": 1, "all_to_all": 1, "all_reduce": 2}


def matmul_flop_per_s(gpu: Gpu, precision: str, m: Number, n: Number, k: Number) -> Number:
    """Rate of one matmul C[m,n] = A[m,k] B[k,n] once it runs.   [FLOP/s]

    precision   bf16, fp16, fp8 or mxfp8                    [name]
    m, n, k     rows, columns and inner size, on this GPU   [count]

    >>> from engine.catalog.hardware import gpu_named
    >>> round(matmul_flop_per_s(gpu_named("h100"), "bf16", 8192, 8192, 3584) / 1e12)
    727

    Breaks down for sizes that are odd or no multiple of 64 (16 in FP8). A precision the GPU lacks is refused.
    """
    peak = gpu.peak(precision)
    return np.minimum(_matmul_grid(gpu.kernels, PRECISIONS[precision].table)(m, n, k) * gpu.kernel_scale, peak)[()]


def matmul_s(gpu: Gpu, known: Calibration, precision: str, m: Number, n: Number, k: Number) -> Number:
    """Time of one matmul C[m,n] = A[m,k] B[k,n], its launch included.   [s]

    precision   bf16, fp16, fp8 or mxfp8                    [name]
    m, n, k     rows, columns and inner size, on this GPU   [count]

    Outside the measured grid a matmul cannot beat reading and writing its matrices at 0.8 of the memory bandwidth.

    >>> from engine.catalog.hardware import gpu_named
    >>> from engine.catalog.calibration import fitted_calibration
    >>> round(matmul_s(gpu_named("h100"), fitted_calibration(), "bf16", 8192, 8192, 3584) * 1e6)
    664
    """
    m, n, k = (np.asarray(size, dtype=float) for size in (m, n, k))
    compute_s = 2 * m * n * k / matmul_flop_per_s(gpu, precision, m, n, k)
    moved = PRECISIONS[precision].input_bytes * (m * k + k * n) + OUTPUT_BYTES * m * n
    small = _matmul_grid(gpu.kernels, PRECISIONS[precision].table).below(m, n, k)
    seconds = np.where(small, np.maximum(compute_s, pointwise_s(gpu, known, moved)), compute_s)
    return (known.factor("launch_gap_s") + seconds)[()]


def grouped_matmul_s(
    gpu: Gpu, known: Calibration, precision: str, experts: Number, rows: Number, n: Number, k: Number
) -> Number:
    """Time of the matmuls of all local experts, C[rows,n] = A[rows,k] B[k,n] each, in one grouped kernel.   [s]

    precision   bf16, fp16, fp8 or mxfp8                 [name]
    experts     experts on this GPU                      [count]
    rows        token rows that each expert receives     [count]
    n, k        columns and inner size of each expert    [count]

    A grouped kernel is faster than its experts one by one, and slower than one matmul over all rows. In 16 bits the
    geometric mean of the two rates is what fused kernels were measured at, in 8 bits the rate over all rows.
    The weights of every expert are read once.

    >>> from engine.catalog.hardware import gpu_named
    >>> from engine.catalog.calibration import fitted_calibration
    >>> round(grouped_matmul_s(gpu_named("h100"), fitted_calibration(), "bf16", 8, 2048, 14336, 4096) * 1e6)
    2523

    Two of these (gate with up, down) are 1 to 16 % faster than measured expert FFNs of 256 rows or more, which also
    activate and permute (medians per GPU; the middle half lies between -26 and +13 %: moe_*.csv). On A100 those
    kernels were untuned, 3 to 9 times slower, and are not followed. Breaks down for unbalanced routing.
    """
    experts, rows, n, k = (np.asarray(size, dtype=float) for size in (experts, rows, n, k))
    one = matmul_flop_per_s(gpu, precision, rows, n, k)
    together = matmul_flop_per_s(gpu, precision, experts * rows, n, k)
    share = PRECISIONS[precision].grouping
    compute_s = 2 * experts * rows * n * k / (together**share * one ** (1 - share))
    weights_s = pointwise_s(gpu, known, PRECISIONS[precision].input_bytes * experts * n * k)
    return (known.factor("launch_gap_s") + np.maximum(compute_s, weights_s))[()]


def attention_flop_per_s(gpu: Gpu, seq: Number, heads_per_rank: Number, head_dim: Number, batch: Number = 1) -> Number:
    """Rate of a causal flash attention forward; its work is 2 batch heads head_dim seq^2 FLOP.   [FLOP/s]

    seq              tokens of one sequence on this GPU               [count]
    heads_per_rank   query heads on this GPU                          [count]
    head_dim         size of one head: the nearest measured is used   [count]
    batch            sequences                                        [count]

    >>> from engine.catalog.hardware import gpu_named
    >>> [round(attention_flop_per_s(gpu_named("h100"), s, 8, 128) / 1e12) for s in (2048, 4096, 8192, 16384)]
    [204, 416, 533, 598]

    Averaged over KV heads, whose effect is at most 20 %. Above 16,384 tokens the rate stays. The backward is not here.
    """
    tables = _attention_grids(gpu.kernels)
    seq, heads, head_dim, batch = np.broadcast_arrays(seq, heads_per_rank, head_dim, batch)
    sizes = np.array(list(tables))
    chosen = sizes[np.argmin(np.abs(np.log(head_dim[..., None] / sizes)), axis=-1)]
    rate = np.empty(seq.shape)
    for size in np.unique(chosen):
        at = chosen == size
        rate[at] = tables[size](batch[at], seq[at], heads[at])
    return np.minimum(rate * gpu.kernel_scale, gpu.peak("bf16"))[()]


def pointwise_s(gpu: Gpu, known: Calibration, moved_bytes: Number) -> Number:
    """Time to stream so many bytes to or from memory, read plus written, launch not included.   [s]

    moved_bytes   bytes read and written   [bytes]

    >>> from engine.catalog.hardware import gpu_named
    >>> from engine.catalog.calibration import fitted_calibration
    >>> round(pointwise_s(gpu_named("h100"), fitted_calibration(), 2.68e9) * 1e6)
    1000
    """
    return moved_bytes / streamed_bytes_per_s(gpu, known)


def streamed_bytes_per_s(gpu: Gpu, known: Calibration) -> float:
    """Memory bandwidth that streaming reaches: a share of the datasheet's.   [bytes/s]

    The share is an assumption that measured steps support, not a measurement.

    >>> from engine.catalog.hardware import gpu_named
    >>> from engine.catalog.calibration import fitted_calibration
    >>> round(streamed_bytes_per_s(gpu_named("h100"), fitted_calibration()) / 1e12, 2)
    2.68
    """
    return known.factor("hbm_share") * gpu.hbm_bytes_per_s


def nvlink_collective_s(gpu: Gpu, op: str, ranks: Number, payload_bytes: Number) -> Number:
    """Time of one collective among GPUs of the same NVLink domain, alone on the links.   [s]

    op              all_gather, reduce_scatter, all_to_all or all_reduce                        [name]
    ranks           GPUs taking part                                                            [count]
    payload_bytes   whole buffer: gathered output, full input, or what one rank holds to send   [bytes]

    Measured for 2, 4 and 8 GPUs; another count takes the bus bandwidth of the nearest. Above the largest size the bus
    bandwidth stays, below the smallest the time stays. Over a GB200 NVL72, all-reduce was measured with all 72 GPUs
    (839 GB/s at 4 GiB) from 512 MiB up; below that, and for other operations, the curve of 4 GPUs is used.
    An MI300X reaches its peers over separate links: with fewer ranks, fewer links carry anything.

    >>> from engine.catalog.hardware import gpu_named
    >>> round(nvlink_collective_s(gpu_named("h100"), "all_gather", 8, 2**27) * 1e6)
    390
    """
    one_of("op", op, ROUND_TRIPS, "a collective is one of {names}")
    curves = _nvlink_curves(gpu.kernels)[op]
    ranks, payload = np.broadcast_arrays(np.asarray(ranks, dtype=float), np.asarray(payload_bytes, dtype=float))
    counts = np.array(list(curves))
    chosen = counts[np.argmin(np.abs(np.log(np.maximum(ranks, 1)[..., None] / counts)), axis=-1)]
    time_s = np.zeros(payload.shape)
    for count in np.unique(chosen):
        at = (chosen == count) & (ranks > 1) & (payload > 0)
        sent = ROUND_TRIPS[op] * (ranks[at] - 1) / ranks[at] * payload[at]
        time_s[at] = curves[count].seconds(payload[at], sent) + _mesh_s(gpu, curves[count], ranks[at], sent)
    return time_s[()]


@dataclass(frozen=True, eq=False)
class Grid:
    """A measured rate on a full grid, read by linear interpolation of logarithms, held constant outside.

    axes     logarithm of each axis' points, ascending
    values   logarithm of the rate, one dimension per axis
    """

    axes: tuple[np.ndarray, ...]
    values: np.ndarray

    def __call__(self, *points: Number) -> np.ndarray:
        """The rate at these points, one array (or number) per axis."""
        arrays = np.broadcast_arrays(*points)
        index, shares = np.zeros(arrays[0].size, dtype=np.intp), []
        for axis, point in zip(self.axes, arrays, strict=True):
            place = np.clip(np.log(point.ravel()), axis[0], axis[-1])
            cell = np.minimum(np.searchsorted(axis, place, side="right") - 1, len(axis) - 2)
            shares.append((place - axis[cell]) / (axis[cell + 1] - axis[cell]))
            # every axis puts a dimension of 2 (both ends of the cell) before the points
            index = index[..., None, :] * len(axis) + np.stack((cell, cell + 1))
        found = self.values.ravel()[index]
        for share in shares:
            found = found[0] + share * (found[1] - found[0])
        return np.exp(found).reshape(arrays[0].shape)

    def below(self, *points: Number) -> np.ndarray:
        """Where a point lies below the grid on any axis."""
        arrays = np.broadcast_arrays(*points)
        return np.any([np.log(point) < axis[0] for axis, point in zip(self.axes, arrays, strict=True)], axis=0)


@dataclass(frozen=True, eq=False)
class Curve:
    """Bus bandwidth of one collective among a fixed number of ranks, over the size of its buffer.

    sizes   logarithm of the buffer's bytes, ascending
    bus     logarithm of the bus bandwidth: bytes a rank sends, over time
    """

    sizes: np.ndarray
    bus: np.ndarray

    def seconds(self, payload: np.ndarray, sent: np.ndarray) -> np.ndarray:
        """Time of buffers of `payload` bytes of which each rank sends `sent` bytes."""
        smallest = np.exp(self.sizes[0])
        bus = np.exp(np.interp(np.log(payload), self.sizes, self.bus))
        return sent * np.maximum(1, smallest / payload) / bus

    def continued(self, other: "Curve") -> "Curve":
        """This curve, with the shape of another below its own smallest size."""
        below = other.sizes < self.sizes[0] - 1e-9
        lift = self.bus[0] - np.interp(self.sizes[0], other.sizes, other.bus)
        return Curve(np.append(other.sizes[below], self.sizes), np.append(other.bus[below] + lift, self.bus))


def _mesh_s(gpu: Gpu, curve: Curve, ranks: np.ndarray, sent: np.ndarray) -> np.ndarray | float:
    """What separate links to each peer cost more than the switch that the curve was measured on."""
    if gpu.mesh_links is None or gpu.mesh_bytes_per_s is None:
        return 0.0
    mesh = gpu.mesh_bytes_per_s * np.minimum(ranks - 1, gpu.mesh_links) / gpu.mesh_links
    return np.maximum(0, sent / mesh - sent / np.exp(curve.bus[-1]))


@cache
def _matmul_grid(table: str, dtype: str) -> Grid:
    columns = _columns("gemm", table)
    at = columns["dtype"] == dtype
    return _grid([columns[name][at] for name in "mnk"], columns["tflops"][at])


@cache
def _attention_grids(table: str) -> Mapping[int, Grid]:
    columns = _columns("attention", table)
    sizes = columns["head_dim"].astype(int)
    grids = {}
    for size in np.unique(sizes):
        at = sizes == size
        grids[int(size)] = _grid([columns[name][at] for name in ("batch", "seq", "heads")], columns["tflops"][at])
    return grids


@cache
def _nvlink_curves(table: str) -> Mapping[str, Mapping[float, Curve]]:
    columns = _columns("nccl", table)
    ranks, sizes, us = (columns[name].astype(float) for name in ("ranks", "bytes", "us"))
    curves: dict[str, dict[float, Curve]] = {op: {} for op in ROUND_TRIPS}
    for op, known in curves.items():
        for count in np.unique(ranks[columns["op"] == op]):
            at = (columns["op"] == op) & (ranks == count)
            sent = ROUND_TRIPS[op] * (count - 1) / count * sizes[at]
            curve = Curve(np.log(sizes[at]), np.log(sent / (us[at] * 1e-6)))
            known[count] = curve.continued(known[max(known)]) if known else curve
    return curves


def _columns(kind: str, table: str) -> dict[str, np.ndarray]:
    """The columns of one table as text; lines that start with # say where it comes from."""
    lines = (TABLES / f"{kind}_{table}.csv").read_text(encoding="utf-8").splitlines()
    header, *rows = [line.split(",") for line in lines if not line.startswith("#")]
    return dict(zip(header, np.array(rows).T, strict=True))


def _grid(columns: list[np.ndarray], tflops: np.ndarray) -> Grid:
    """A full grid of measured points; a point that was not measured takes its nearest neighbour's rate."""
    points = [np.log(column.astype(float)) for column in columns]
    axes = tuple(np.unique(point) for point in points)
    places = tuple(np.searchsorted(axis, point) for axis, point in zip(axes, points, strict=True))
    values = np.full([len(axis) for axis in axes], np.nan)
    values[places] = np.log(tflops.astype(float) * 1e12)
    for gap in np.argwhere(np.isnan(values)):
        away = sum((point - axis[i]) ** 2 for point, axis, i in zip(points, axes, gap, strict=True))
        near = np.argmin(away)
        values[tuple(gap)] = values[tuple(place[near] for place in places)]
    return Grid(axes, values)
