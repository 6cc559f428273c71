"""Failures on the wall clock: how often a GPU stops the run, how often to save, what share of time is useful."""

import numpy as np

from engine.formula import Number, formula
from engine.units import HOUR_S

YOUNG = "Young 1974; Daly 2006"


@formula(r"\sqrt{2 \cdot <checkpoint_s> \cdot <mtbf_s>}", unit="s", source=YOUNG, checkpoint_s="C", mtbf_s="M")
def young_interval_s(checkpoint_s: Number, mtbf_s: Number) -> Number:
    """Best time between checkpoints.   [s]

    checkpoint_s   time the run stands still to save   [s]
    mtbf_s         mean time between failures          [s]

    Saving often costs stalls, seldom costs lost work; the two are equal at the optimum.

    >>> round(young_interval_s(60, 48.8 * 3600) / 60, 1)
    76.5

    Breaks down when saving takes nearly as long as the time between failures (Daly adds higher orders).
    """
    return (2 * checkpoint_s * mtbf_s) ** 0.5


@formula(r"\frac{<gpu_hours_between_failures> \cdot 3600}{<gpus>}", unit="s", source="Failures of GPUs are independent",
         gpus=r"\text{GPUs}", gpu_hours_between_failures=r"\text{GPU-hours between failures}")  # fmt: skip
def gpu_mtbf_s(gpus: Number, gpu_hours_between_failures: Number) -> Number:
    """Mean time between failures of a run: any of its GPUs stops it.   [s]

    gpus                         GPUs in the run                              [count]
    gpu_hours_between_failures   hours one GPU runs between two failures      [GPU-hours above 0]

    >>> round(gpu_mtbf_s(1024, 50_000) / 3600, 1)
    48.8
    """
    return gpu_hours_between_failures * HOUR_S / gpus


@formula(r"\max\left(0, 1 - \frac{<C>}{<i>} - \frac{<i>}{2 \cdot <M>} - \frac{<R>}{<M>}\right)", unit="share of the time",
         source=YOUNG, i=r"\tau")  # fmt: skip
def goodput_share(C: Number, i: Number, M: Number, R: Number) -> Number:
    """Useful share of the wall clock: without saving, lost work and restarts.   [share]

    C   time the run stands still to save    [s]
    i   time between checkpoints             [s above 0]
    M   mean time between failures           [s above 0]
    R   time to notice, restart and reload   [s]

    >>> f"{goodput_share(60, 76.5 * 60, 48.8 * 3600, 0):.3f}"
    '0.974'

    Breaks down below one half: then failures interrupt restarts, and the sum of small shares no longer holds.
    """
    return np.maximum(0, 1 - C / i - i / (2 * M) - R / M)
