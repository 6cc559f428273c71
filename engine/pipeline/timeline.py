"""A step of a pipeline: who computed what, from when to when. Simulated and measured runs both give this."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from engine.language.formula import Number, formula

TIMELINE = "Exact timeline of the schedule, every stage like the mean one, sends without time"
INTERVAL_BYTES = 200  # of memory: a tuple of six, two of them numbers of its own, and its place in two tuples
HAIR = 1e-12  # gaps below this share of the step are rounding, not idling


class Interval(NamedTuple):
    """One operation on one stage.

    kind    F forward, B full backward, I its input-gradient part, W its weight-gradient part
    chunk   which of the stage's model parts, from 0
    start   and end, in the time unit of the run
    """

    stage: int
    kind: str
    micro_batch: int
    chunk: int
    start: float
    end: float


@formula(r"1 - \frac{<b>}{<p> \cdot <e>}", unit="share of the step", source=TIMELINE)
def simulated_bubble_of_total(b: Number, p: Number, e: Number) -> Number:
    """Share of a simulated step in which a stage idles.   [0 to 1]

    b   time in which stages are busy, all together     [s]
    p   pipeline stages                                 [count]
    e   from the first forward to the last backward     [s above 0]

    >>> simulated_bubble_of_total(12, 4, 4)
    0.25
    """
    return 1 - b / (p * e)


@formula(r"\frac{<p> \cdot <e>}{<b>} - 1", unit="share of the ideal step", source=TIMELINE)
def simulated_bubble_of_ideal(b: Number, p: Number, e: Number) -> Number:
    """Idle time of a simulated step over the time without a bubble.   [0 and above]

    b   time in which stages are busy, all together     [s above 0]
    p   pipeline stages                                 [count]
    e   from the first forward to the last backward     [s]

    >>> simulated_bubble_of_ideal(12, 4, 3.75)
    0.25
    """
    return p * e / b - 1


@formula(r"<n> \cdot <w>", unit="micro-batches", source=TIMELINE)
def simulated_in_flight(n: Number, w: Number) -> Number:
    """Micro-batches that a stage holds at its peak, in activations of a full stage.   [micro-batches]

    n   chunks whose activations it holds at once   [count]
    w   share of a full stage in one chunk          [share above 0]

    >>> simulated_in_flight(11, 0.5)
    5.5
    """
    return n * w


def idle_of_total(busy: Sequence[float], makespan: float) -> float:
    """Share of the step in which a stage idles, averaged over stages.   [0 to 1]

    >>> idle_of_total([3.0, 3.0], makespan=4.0)
    0.25
    """
    return simulated_bubble_of_total(b=sum(busy), p=len(busy), e=makespan) if makespan else 0.0


def idle_of_ideal(busy: Sequence[float], makespan: float) -> float:
    """Idle time over the time that the work alone would take, averaged over stages.   [0 and above]

    >>> idle_of_ideal([3.0, 3.0], makespan=4.5)
    0.5
    """
    return simulated_bubble_of_ideal(b=sum(busy), p=len(busy), e=makespan) if sum(busy) else 0.0


@dataclass(frozen=True)
class Timeline:
    """What every stage did during one step.

    stages        [count]
    intervals     grouped by stage, in order of time within a stage
    makespan      from the first start to the last end, in the time unit of the intervals, which start at 0
    chunk_share   how much of a full stage (layers / stages) one chunk holds; 1/v with v chunks in a loop

    >>> timeline = Timeline(1, (Interval(0, "F", 0, 0, 0.0, 1.0), Interval(0, "B", 0, 0, 1.0, 3.0)), 3.0)
    >>> timeline.bubble_of_total, timeline.in_flight
    (0.0, (1.0,))
    """

    stages: int
    intervals: tuple[Interval, ...]
    makespan: float
    chunk_share: float = 1.0

    @property
    def held_bytes(self) -> int:
        """Memory that it takes, about.   [bytes]"""
        return INTERVAL_BYTES * len(self.intervals)

    @cached_property
    def by_stage(self) -> tuple[tuple[Interval, ...], ...]:
        """The intervals of each stage, in order of time."""
        rows: list[list[Interval]] = [[] for _ in range(self.stages)]
        for interval in self.intervals:
            rows[interval.stage].append(interval)
        return tuple(tuple(sorted(row, key=lambda interval: interval.start)) for row in rows)

    @cached_property
    def busy(self) -> tuple[float, ...]:
        """Time that each stage computes."""
        return tuple(sum(interval.end - interval.start for interval in row) for row in self.by_stage)

    @property
    def bubble_of_total(self) -> float:
        """Share of the step in which a stage idles, averaged over stages.   [0 to 1]"""
        return idle_of_total(self.busy, self.makespan)

    @property
    def bubble_of_ideal(self) -> float:
        """Idle time over working time, averaged over stages.   [0 and above]"""
        return idle_of_ideal(self.busy, self.makespan)

    def idle_gaps(self, stage: int) -> tuple[tuple[float, float], ...]:
        """From when to when the stage idles, the wait before its first and after its last operation included."""
        row = self.by_stage[stage]
        starts = [interval.start for interval in row] + [self.makespan]
        ends = [0.0] + [interval.end for interval in row]
        hair = HAIR * self.makespan
        return tuple((end, start) for end, start in zip(ends, starts, strict=True) if start - end > hair)

    def memory_over_time(self, stage: int) -> list[tuple[float, int]]:
        """Chunks whose activations the stage holds, as steps (from this time on, so many).

        A chunk is held from the start of its F to the end of its B, or of its I: what W needs after I, the layer
        inputs and output gradients, is counted by `held_weights`.
        """
        row = self.by_stage[stage]
        taken = ((interval.start, 1) for interval in row if interval.kind == "F")
        freed = ((interval.end, -1) for interval in row if interval.kind in "BI")
        return _steps((*taken, *freed))

    @cached_property
    def held(self) -> tuple[int, ...]:
        """Most chunks whose activations each stage holds at once."""
        return tuple(_peak(self.memory_over_time(stage)) for stage in range(self.stages))

    @property
    def in_flight(self) -> tuple[float, ...]:
        """Most micro-batches held by each stage at once, in activations of a full stage: a chunk counts its share."""
        return tuple(simulated_in_flight(n=held, w=self.chunk_share) for held in self.held)

    @cached_property
    def held_weights(self) -> tuple[float, ...]:
        """Most micro-batches of each stage that wait between I and the end of W, in units of a full stage."""
        peaks = []
        for row in self.by_stage:
            taken = ((interval.end, 1) for interval in row if interval.kind == "I")
            freed = ((interval.end, -1) for interval in row if interval.kind == "W")
            peaks.append(self.chunk_share * _peak(_steps((*taken, *freed))))
        return tuple(peaks)

    @cached_property
    def held_until_weights(self) -> tuple[float, ...]:
        """Most micro-batches of each stage between F and the end of B or W: an upper bound of what memory must hold."""
        peaks = []
        for row in self.by_stage:
            taken = ((interval.start, 1) for interval in row if interval.kind == "F")
            freed = ((interval.end, -1) for interval in row if interval.kind in "BW")
            peaks.append(self.chunk_share * _peak(_steps((*taken, *freed))))
        return tuple(peaks)


def _steps(changes: Iterable[tuple[float, int]]) -> list[tuple[float, int]]:
    """Running count after each change. At one instant what is freed leaves before what is taken comes."""
    ordered = sorted(changes)
    return list(zip((time for time, _ in ordered), accumulate(change for _, change in ordered), strict=True))


def _peak(steps: Sequence[tuple[float, int]]) -> int:
    return max((held for _, held in steps), default=0)
