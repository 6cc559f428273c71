"""A long step without simulating all of it: its middle repeats, exactly, so some of it is enough.

Starts of operations obey x(k+1) = max over inputs of (x(k) + time). Adding a constant to all x(k) adds it to x(k+1). So
once as many rounds in a row as an operation can look back have all moved on by the same time, every later round does
so too, until the pipe drains; and the drain is the same, only later. That is checked, not assumed: a step in which it
does not happen is simulated in full, or, where that would take seconds, further on at its mean pace (`exact` says so).
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from engine.pipeline.schedules import ChunkPlacement, Schedule
from engine.pipeline.simulator import Durations, simulate
from engine.pipeline.timeline import Timeline, idle_of_ideal, idle_of_total, simulated_in_flight

LONG_OPS = 40_000  # a simulation of so many operations takes about 50 ms
MOST_OPS = 120_000  # and of so many 0.15 s: a step that has not settled by then goes on at its mean pace
SAME = 1e-9  # relative difference below which two times are one


@dataclass(frozen=True)
class Outline:
    """What a step comes to, without its intervals. Times in the unit of the durations.

    makespan     [time]
    busy         of each stage   [time]
    held         of each stage, as in Timeline    [chunks]
    chunk_share  how much of a full stage one chunk holds
    held_until_weights   of each stage, as in Timeline
    simulated    micro-batches that were simulated; the rest repeats them   [count]
    exact        whether the rest was seen to repeat them
    """

    makespan: float
    busy: tuple[float, ...]
    held: tuple[int, ...]
    chunk_share: float
    held_until_weights: tuple[float, ...]
    simulated: int
    exact: bool = True

    @property
    def in_flight(self) -> tuple[float, ...]:
        """Micro-batches in flight on each stage, as in Timeline."""
        return tuple(simulated_in_flight(n=held, w=self.chunk_share) for held in self.held)

    @property
    def bubble_of_total(self) -> float:
        """Share of the step in which a stage idles, averaged over stages.   [0 to 1]"""
        return idle_of_total(self.busy, self.makespan)

    @property
    def bubble_of_ideal(self) -> float:
        """Idle time over working time, averaged over stages.   [0 and above]"""
        return idle_of_ideal(self.busy, self.makespan)


def simulate_long(
    schedule: Schedule,
    stages: int,
    micro_batches: int,
    chunks: int,
    durations: Durations,
    send_s: float = 0.0,
    overlapped: bool = True,
    long_ops: int = LONG_OPS,
) -> Outline:
    """The outline of a step of any length.

    durations   [stage][chunk]
    long_ops    operations up to which the step is simulated in full   [count]

    >>> from engine.pipeline.schedules import ONE_F_ONE_B
    >>> from engine.pipeline.simulator import even_durations
    >>> even = even_durations(ONE_F_ONE_B.placement(4), 1, 1, 1)
    >>> outline = simulate_long(ONE_F_ONE_B, 4, 1_000_000, 1, even)
    >>> outline.makespan, outline.simulated < 100
    (3000009.0, True)

    Breaks down as simulator.simulate does.
    """
    schedule.check(stages, micro_batches, chunks)
    placement = schedule.placement(stages, chunks)

    def simulated(m: int) -> Timeline:
        return simulate(schedule.ops(stages, m, chunks), placement, durations, send_s, overlapped)

    ops_each = (3 if schedule.splits_backward else 2) * stages * len(placement.places[0])
    if ops_each * micro_batches > long_ops:
        outline = _extended(simulated, schedule, placement, micro_batches, ops_each)
        if outline is not None:
            return outline
    full = simulated(micro_batches)
    return Outline(full.makespan, full.busy, full.held, full.chunk_share, full.held_until_weights, micro_batches)


def _extended(
    simulated: Callable[[int], Timeline],
    schedule: Schedule,
    placement: ChunkPlacement,
    micro_batches: int,
    ops_each: int,
) -> Outline | None:
    """The outline of the step from that of a shorter one, if a shorter one repeats."""
    stages = len(placement.places)
    if schedule.phased:
        one, two = simulated(1), simulated(2)
        later = (two.makespan - one.makespan) * (micro_batches - 2)
        full = (float(micro_batches),) * stages
        return _longer(two, 2, micro_batches, later, (micro_batches * len(placement.places[0]),) * stages, full)
    period = placement.pipes * stages
    few = 10 * period + micro_batches % period
    while few < micro_batches:
        part = simulated(few)
        times = _period_times(part, few // placement.pipes)
        settled = max(times) - min(times) <= SAME * max(times)
        more = few + few // period * period  # about twice as many, and still short of the end by whole periods
        if settled or ops_each * min(more, micro_batches) > MOST_OPS:
            later = sum(times) / len(times) * ((micro_batches - few) // period)
            return _longer(part, few, micro_batches, later, part.held, part.held_until_weights, settled)
        few = more
    return None


def _longer(
    part: Timeline,
    m: int,
    micro_batches: int,
    later: float,
    held: tuple[int, ...],
    held_until_weights: tuple[float, ...],
    exact: bool = True,
) -> Outline:
    """The outline of a step that ends so much later than the `m` micro-batches that were simulated."""
    busy = tuple(time * micro_batches / m for time in part.busy)
    return Outline(part.makespan + later, busy, held, part.chunk_share, held_until_weights, m, exact)


def _period_times(timeline: Timeline, length: int) -> list[float]:
    """Times of a period seen in the middle of the step, for `length` micro-batches in each pipe: equal if it repeats.

    A period is as many micro-batches as there are stages: interleaved orders repeat no sooner, and where sends set the
    pace, times repeat only after a round trip. No schedule looks back, or begins to drain, further than 3 periods.
    """
    period = timeline.stages
    starts: dict[tuple[int, bool, int], list[float]] = defaultdict(list)
    for interval in timeline.intervals:
        if interval.kind != "W":
            starts[interval.stage, interval.kind == "F", interval.chunk].append(interval.start)
    last = length - 3 * period
    first = last - 4 * period
    return [row[n] - row[n - period] for row in starts.values() for n in range(first + period, last)]
