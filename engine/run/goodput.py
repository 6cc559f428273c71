"""Failures on the wall clock: how often a GPU stops the run, how often to save, what share of time is useful."""

import numpy as np

from engine.language.formula import Number, formula
from engine.language.units import HOUR_S

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


@formula(
    r"\frac{<gpu_hours_between_failures> \cdot 3600}{<gpus>}",
    unit="s",
    source="Failures of GPUs are independent",
    gpus=r"\text{GPUs}",
    gpu_hours_between_failures=r"\text{GPU-hours between failures}",
)
def gpu_mtbf_s(gpus: Number, gpu_hours_between_failures: Number) -> Number:
    """Mean time between failures of a run: any of its GPUs stops it.   [s]

    gpus                         GPUs in the run                              [count]
    gpu_hours_between_failures   hours one GPU runs between two failures      [GPU-hours above 0]

    >>> round(gpu_mtbf_s(1024, 50_000) / 3600, 1)
    48.8
    """
    return gpu_hours_between_failures * HOUR_S / gpus


@gpu_mtbf_s.wrong(
    "a rate a thousand times too low", "Reads failures per thousand node-days as if they were per million."
)
def thousand_times_rarer(gpus: Number, gpu_hours_between_failures: Number) -> Number:
    return 1000 * gpu_mtbf_s(gpus, gpu_hours_between_failures)


@gpu_mtbf_s.wrong(
    "one GPU instead of the run", "Any GPU that fails stops the run, so the run fails as often as all of them."
)
def one_gpu_alone(gpus: Number, gpu_hours_between_failures: Number) -> Number:
    return gpu_hours_between_failures * HOUR_S + 0 * gpus


@gpu_mtbf_s.wrong("nodes instead of GPUs", "Divides a rate per GPU by nodes of eight.")
def nodes_for_gpus(gpus: Number, gpu_hours_between_failures: Number) -> Number:
    return gpu_hours_between_failures * HOUR_S / (gpus / 8)


@formula(
    r"\max\left(0, 1 - \frac{<C>}{<i>} - \frac{<i>}{2 \cdot <M>} - \frac{<R>}{<M>}\right)",
    unit="share of the time",
    source=YOUNG,
    i=r"\tau",
)
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


@formula(
    r"\frac{<g> \cdot <d> \cdot 24}{<k>}", unit="GPU-hours", source="GPU-hours watched, over the failures seen in them"
)
def gpu_hours_per_failure(g: Number, d: Number, k: Number) -> Number:
    """GPU-hours between failures, from what somebody has counted.   [GPU-hours]

    g   GPUs watched      [count]
    d   days              [days]
    k   failures in them  [failures above 0]

    >>> round(gpu_hours_per_failure(16384, 54, 419)), round(gpu_hours_per_failure(8, 1000, 6.5))
    (50677, 29538)
    """
    return g * d * 24 / k


@gpu_hours_per_failure.wrong("a node taken for a GPU", "A rate per node-day speaks of all the GPUs of a node.")
def node_as_gpu(g: Number, d: Number, k: Number) -> Number:
    return d * 24 / k


@formula(r"\frac{<d>}{<G>}", unit="days", source="Useful days over the useful share of time")
def days_with_failures(d: Number, G: Number) -> Number:
    """Wall clock of a run that also saves, fails and starts again.   [days]

    d   days of the run without any of it   [days]
    G   useful share of the time            [share above 0]

    >>> round(days_with_failures(180, 0.97), 1)
    185.6
    """
    return d / G


@formula(r"\frac{<t>}{<M>}", unit="failures", source="Failures at a steady rate")
def expected_failures(t: Number, M: Number) -> Number:
    """Failures to expect in a stretch of time.   [failures]

    t   the stretch                  [s]
    M   mean time between failures   [s above 0]

    >>> round(expected_failures(180 * 86400, 48.83 * 3600))
    88
    """
    return t / M


@formula(
    r"1 - \exp\left(-\frac{<t>}{<M>}\right)",
    unit="share",
    source="Failures at a steady rate that know nothing of each other",
)
def failure_chance(t: Number, M: Number) -> Number:
    """Chance of at least one failure in a stretch of time.   [share]

    t   the stretch                  [s]
    M   mean time between failures   [s above 0]

    >>> round(float(failure_chance(86400, 48.8 * 3600)), 2)
    0.39

    Breaks down where failures come in bursts: one bad node stops a run again and again.
    """
    return 1 - np.exp(-np.divide(t, M))


@formula(
    r"<g> \cdot \frac{<x>}{1 + <x>}",
    unit="GPUs",
    source="A synchronous step lasts as long as its slowest rank",
)
def straggler_gpus(g: Number, x: Number) -> Number:
    """What one slow GPU costs a run, in GPUs that might as well be off.   [GPUs]

    g   GPUs that wait for it                     [count]
    x   how much longer it takes than the others  [share]

    >>> round(straggler_gpus(1024, 0.2))
    171
    """
    return g * x / (1 + x)


@straggler_gpus.wrong(
    "only the slow one", "All ranks wait for the slowest at each collective: everyone loses that time."
)
def slow_one_only(g: Number, x: Number) -> Number:
    return 0 * g + x / (1 + x)


@formula(r"\frac{<t> \cdot <g>}{3600}", unit="GPU-hours", source="All ranks stand still while one hangs")
def waiting_gpu_hours(t: Number, g: Number) -> Number:
    """GPU time lost while a run stands still.   [GPU-hours]

    t   how long it stands still, until somebody notices   [s]
    g   GPUs                                               [count]

    >>> round(waiting_gpu_hours(600, 1024))
    171
    """
    return t * g / HOUR_S


@formula(
    r"14 \cdot <N>",
    unit="bytes",
    source="Rajbhandari et al. 2020 (ZeRO), section 3.1: 2 bytes of weight and 12 of optimizer state; gradients are not saved",
)
def checkpoint_bytes(N: Number) -> Number:
    """Size of a checkpoint from which training goes on.   [bytes]

    N   parameters   [parameters]

    >>> round(checkpoint_bytes(70.554e9) / 1e9)
    988
    """
    return 14 * N


@checkpoint_bytes.wrong(
    "only the weights", "From weights alone Adam would start anew: its moments must be saved as well."
)
def weights_saved(N: Number) -> Number:
    return 2 * N
