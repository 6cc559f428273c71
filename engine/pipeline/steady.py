"""A long step without simulating all of it: its middle repeats, so a short one and its pace are enough (pace.py).

A short step is long enough for all pipes to be full and for a few rounds. If its pace is not proven yet, a longer one is
tried, as far as 0.4 s goes; what is still unproven then goes on at the pace seen, and says by how much at most
the step may be longer.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf

from engine.pipeline.orders import FILLS, orders_of, short_of
from engine.pipeline.pace import Pace, pace_of
from engine.pipeline.schedules import ChunkPlacement, Schedule
from engine.pipeline.simulator import Durations, simulate
from engine.pipeline.timeline import Timeline, idle_of_ideal, idle_of_total, simulated_in_flight
from engine.pipeline.waves import simulate_waves

LONG_OPS = 4_000  # operations up to which a step is simulated one by one: about 6 ms
MANY_STAGES = 16  # from here on a wave is faster
WAVE_OPS = 100  # a wave takes as long as so many of its operations
MOST_WORK = 1_500_000  # operations, waves counted as such, that one outline may simulate: about 0.4 s


@dataclass(frozen=True)
class Outline:
    """What a step comes to, without its intervals. Times in the unit of the durations.

    makespan     [time]
    busy         of each stage   [time]
    held         of each stage, as in Timeline    [chunks]
    chunk_share  how much of a full stage one chunk holds
    simulated    micro-batches that were simulated; the rest repeats them   [count]
    operations   that were simulated for it, in all tries   [count]
    may_exceed   by how much of `makespan` the step may be longer; 0 where that is proven to be all of it   [share]
    """

    makespan: float
    busy: tuple[float, ...]
    held: tuple[int, ...]
    chunk_share: float
    simulated: int
    operations: int
    may_exceed: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether the makespan is that of the whole step simulated."""
        return self.may_exceed == 0

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


@dataclass(frozen=True)
class Case:
    """A step to be outlined, as simulate_long takes it."""

    schedule: Schedule
    stages: int
    micro_batches: int
    chunks: int
    durations: Durations
    send_s: float
    overlapped: bool

    @property
    def operations_each(self) -> int:
        """Operations of a micro-batch, at most.   [count]"""
        return (3 if self.schedule.splits_backward else 2) * self.placement.positions

    @cached_property
    def placement(self) -> ChunkPlacement:
        return self.schedule.placement(self.stages, self.chunks)

    def work(self, micro_batches: int) -> float:
        """What simulating so many micro-batches takes.   [operations]"""
        return self.operations_each * micro_batches * (1 + WAVE_OPS / self.stages)

    def lengths(self) -> Iterator[int]:
        """Micro-batches of the shorter steps to try, each short of the whole by full rounds.

        From the second on by as many as there are stages, too: where sends set the pace, a loop goes all the way round.
        """
        yield short_of(self.schedule, self.stages, self.micro_batches, self.chunks)
        period = self.placement.pipes * self.stages
        least = FILLS * (self.stages + period)
        while True:
            yield min(self.micro_batches, least + (self.micro_batches - least) % period)
            least *= 2


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
    long_ops    operations up to which the step is simulated one by one   [count]

    >>> from engine.pipeline.schedules import ONE_F_ONE_B
    >>> from engine.pipeline.simulator import even_durations
    >>> even = even_durations(ONE_F_ONE_B.placement(4), 1, 1, 1)
    >>> outline = simulate_long(ONE_F_ONE_B, 4, 1_000_000, 1, even)
    >>> outline.makespan, outline.simulated < 100
    (3000009.0, True)

    Breaks down as simulator.simulate does.
    """
    schedule.check(stages, micro_batches, chunks)
    case = Case(schedule, stages, micro_batches, chunks, durations, send_s, overlapped)
    if schedule.phased and micro_batches > 2:
        return _phased(case)
    operations = case.operations_each * micro_batches
    if operations > long_ops:
        return _extended(case)
    full = timeline_of(schedule, stages, micro_batches, chunks, durations, send_s, overlapped)
    return Outline(full.makespan, full.busy, full.held, full.chunk_share, micro_batches, operations)


def timeline_of(
    schedule: Schedule,
    stages: int,
    micro_batches: int,
    chunks: int,
    durations: Durations,
    send_s: float = 0.0,
    overlapped: bool = True,
) -> Timeline:
    """Every operation of a step: one by one where stages are few, wave by wave where they are many."""
    if stages >= MANY_STAGES:
        orders = orders_of(schedule, stages, micro_batches, chunks)
        return simulate_waves(orders, durations, send_s, overlapped).timeline
    placement = schedule.placement(stages, chunks)
    return simulate(schedule.ops(stages, micro_batches, chunks), placement, durations, send_s, overlapped)


def _phased(case: Case) -> Outline:
    """All forwards come first, so every micro-batch adds what the second one did."""
    placement = case.placement
    one, two = (
        simulate(
            case.schedule.ops(case.stages, m, case.chunks), placement, case.durations, case.send_s, case.overlapped
        ).makespan
        for m in (1, 2)
    )
    held = (case.micro_batches * len(placement.places[0]),) * case.stages
    makespan = two + (two - one) * (case.micro_batches - 2)
    return Outline(makespan, _busy(case), held, placement.chunk_share, 2, 3 * case.operations_each)


@dataclass(frozen=True)
class _Short:
    """A shorter step that was simulated, and the pace it shows; none where it is the whole step, or too short."""

    micro_batches: int
    makespan: float
    held: tuple[int, ...]
    pace: Pace | None


def _extended(case: Case) -> Outline:
    """The outline of the step from that of a shorter one and its pace, or of itself where it is hardly longer."""
    each = case.schedule.round_length(case.stages, case.chunks)
    lengths, operations, work = case.lengths(), 0, 0.0
    few, short = next(lengths), None
    while short is None or work + case.work(few) <= MOST_WORK:
        operations += case.operations_each * few
        work += case.work(few)
        short = _short(case, few)
        more = (case.micro_batches - few) // each
        if few == case.micro_batches:
            break
        if short.pace and short.pace.proven:
            if more % short.pace.rounds == 0:
                break
            few += more % short.pace.rounds * each  # the rest is then whole loops
        else:
            few = next(lengths)
    more = (case.micro_batches - short.micro_batches) // each
    pace = short.pace or Pace(1, 0.0, inf)
    makespan = short.makespan + more // pace.rounds * pace.time
    longest = short.makespan + -(-more // pace.rounds) * pace.most if more else makespan
    exceeds = 0.0 if pace.proven and more % pace.rounds == 0 else longest / makespan - 1
    return Outline(
        makespan, _busy(case), short.held, case.placement.chunk_share, short.micro_batches, operations, exceeds
    )


def _short(case: Case, micro_batches: int) -> _Short:
    orders = orders_of(case.schedule, case.stages, micro_batches, case.chunks)
    waves = simulate_waves(orders, case.durations, case.send_s, case.overlapped)
    pace = None
    if micro_batches < case.micro_batches:
        local = case.schedule.round_length(case.stages, case.chunks) // orders.placement.pipes
        rounds = orders.rounds(local)
        pace = pace_of(waves, rounds, local) if rounds else None
    return _Short(micro_batches, waves.makespan, orders.most_held("BI"), pace)


def _busy(case: Case) -> tuple[float, ...]:
    """Time that each stage computes: every chunk passes the micro-batches of its pipe."""
    d, passes = case.durations, case.micro_batches // case.placement.pipes
    rows = zip(d.forward, d.backward_input, d.backward_weight, strict=True)
    return tuple(passes * sum(map(sum, row)) for row in rows)
