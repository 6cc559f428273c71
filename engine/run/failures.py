"""What one failure costs: the slow GPU, the hang, the way back, and a run of many days with failures drawn by lot."""

from dataclasses import dataclass
from math import log
from random import Random

from engine.language.formula import Number, formula
from engine.language.units import DAY_S

YOUNG = "Young 1974; Daly 2006"

WATCHDOG_S = 600.0  # PyTorch's default for NCCL since pytorch/pytorch pull request 110947


@dataclass(frozen=True)
class PublishedRun:
    """What was seen in a published run.

    stops    unexpected ones           [count]
    days     how long they were counted
    """

    gpus: int
    stops: int
    days: float
    source: str


LLAMA_3 = PublishedRun(16_384, 419, 54, "Llama 3 (2407.21783), section 3.3.4 and Table 5")


@formula(
    r"\frac{<x>}{1 + <x>}",
    unit="share of the speed",
    source="Every collective waits for the last rank: the step is 1 + x times as long",
)
def slow_gpu_loss(x: Number) -> Number:
    """Speed that a run loses to one slow GPU.   [share]

    x   how much longer that GPU takes   [share]

    >>> round(slow_gpu_loss(0.2), 3)
    0.167
    """
    return x / (1 + x)


@formula(r"\frac{<S>}{<B>}", unit="s", source="Bytes over bandwidth")
def read_back_s(S: Number, B: Number) -> Number:
    """Time to read a checkpoint from storage.   [s]

    S   size of the checkpoint          [bytes]
    B   bandwidth of all readers        [bytes/s]

    >>> round(read_back_s(988e9, 100e9), 1)
    9.9
    """
    return S / B


@formula(r"\frac{<C>}{<i>} + \frac{<i>}{2 \cdot <M>}", unit="share of the time", source=YOUNG, i=r"\tau")
def checkpoint_overhead(C: Number, i: Number, M: Number) -> Number:
    """Share of the time that saving and lost work cost.   [share]

    C   time the run stands still to save   [s]
    i   time between checkpoints            [s above 0]
    M   mean time between failures          [s above 0]

    >>> round(checkpoint_overhead(60, 76.5 * 60, 48.83 * 3600), 3)
    0.026

    Breaks down when the sum comes near one: then failures also hit what is being repeated.
    """
    return C / i + i / (2 * M)


@checkpoint_overhead.wrong("no lost work", "Counts the stalls only: seldom saving looks free.")
def stalls_only(C: Number, i: Number, M: Number) -> Number:
    return C / i


@formula(
    r"\frac{<i>}{2} + <w> + <R>",
    unit="s",
    source="A failure comes, on average, half way between two checkpoints",
    i=r"\tau",
)
def lost_per_failure_s(i: Number, w: Number, R: Number) -> Number:
    """Time that one failure costs on average.   [s]

    i   time between checkpoints                 [s]
    w   time until it is noticed                 [s]
    R   time to restart once it is noticed       [s]

    >>> round(lost_per_failure_s(76.5 * 60, 600, 600) / 60)
    58
    """
    return i / 2 + w + R


@formula(r"<n> \cdot <l>", unit="s", source="So many failures, each at the mean cost")
def lost_in_all_s(n: Number, l: Number) -> Number:  # noqa: E741
    """Time that the failures of a run cost together.   [s]

    n   failures             [failures]
    l   cost of each         [s]

    >>> round(lost_in_all_s(88.5, 3495) / 86400, 1)
    3.6
    """
    return n * l


@dataclass(frozen=True)
class Failure:
    """One failure of a drawn run.

    at_s     when it happens, from the start                     [s]
    lost_s   work since the last checkpoint, and the way back    [s]
    """

    at_s: float
    lost_s: float


@dataclass(frozen=True)
class DrawnRun:
    """A run with failures drawn by lot: always the same ones for the same numbers."""

    days: int
    failures: tuple[Failure, ...]
    useful_s: float

    @property
    def useful_share(self) -> float:
        """Share of the wall clock that was saved work.   [0 to 1]"""
        return self.useful_s / (self.days * DAY_S)


def drawn_run(days: int, mtbf_s: float, interval_s: float, stall_s: float, down_s: float, seed: int) -> DrawnRun:
    """A run that works, saves, fails and comes back.

    days         length on the wall clock                  [days]
    mtbf_s       mean time between failures                [s]
    interval_s   work between two checkpoints              [s]
    stall_s      time it stands still to save              [s]
    down_s       from a failure until work goes on         [s]
    seed         which run is drawn; the same seed and numbers give the same run

    >>> run = drawn_run(180, 48.83 * 3600, 4590, 60, 1200, seed=4)
    >>> len(run.failures), round(run.useful_share, 2)
    (87, 0.97)

    Leaves out failures during the way back: they would only make it longer.
    """
    chance, end, cycle = Random(seed), days * DAY_S, interval_s + stall_s
    failures: list[Failure] = []
    start = useful = 0.0
    while start < end:
        lived = -log(1 - chance.random()) * mtbf_s
        at = min(start + lived, end)
        saved, unsaved = divmod(at - start, cycle)
        useful += saved * interval_s
        if start + lived >= end:
            useful += min(unsaved, interval_s)
            break
        failures.append(Failure(at, unsaved + down_s))
        start = at + down_s
    return DrawnRun(days, tuple(failures), useful)
