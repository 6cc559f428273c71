"""The orders of all stages as arrays, and the rounds in their middle: a longer step runs more rounds, nothing else.

stage 1 of 3   F0 F1 | B0 F2 B1 F3 | B2 B3     a fill, rounds of one micro-batch, a drain
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.language.kept import kept
from engine.language.units import MB
from engine.pipeline.schedules import ChunkPlacement, Schedule

KINDS = "FBIW"
FILLS = 2  # so many micro-batches for each stage fill every pipe; orders repeat from there
FEW_ROUNDS = 6
ORDERS_BYTES = 16 * MB  # of kept orders: those of the longest short step are 4 MB
NO_OP = -1  # fills the row of a stage that runs fewer operations than another
Ints = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Rounds:
    """What of each stage's order repeats, of a step that is long enough. A round is `Schedule.round` micro-batches.

    first    place of the first operation that belongs to a round   [stage]
    length   operations of a round                                   [stage]
    end      place behind the last one                               [stage]
    """

    first: Ints
    length: Ints
    end: Ints


@dataclass(frozen=True, eq=False)
class Orders:
    """Operations by [stage, place in its order].

    code     chunk and kind: `len(KINDS) * chunk + KINDS.index(kind)`, or NO_OP
    micro_batch
    joined   runs beside the next
    """

    placement: ChunkPlacement
    micro_batches: int
    code: Ints
    micro_batch: Ints
    joined: Ints

    @property
    def held_bytes(self) -> int:
        """Memory of the arrays.   [bytes]"""
        return self.code.nbytes + self.micro_batch.nbytes + self.joined.nbytes

    @property
    def number(self) -> Ints:
        """Each operation's micro-batch, counted within its pipe."""
        return self.micro_batch % (self.micro_batches // self.placement.pipes)

    @property
    def kind(self) -> Ints:
        """Place of each operation's kind in KINDS; NO_OP where there is none."""
        return np.where(self.code < 0, NO_OP, self.code % len(KINDS))

    def most_held(self, freed_by: str) -> tuple[int, ...]:
        """Most chunks that each stage holds at once, from F to the end of what frees them, whatever operations take.

        freed_by   kinds that free: "BI" activations, "BW" all that a backward needs

        A stage frees what it has before its next operation begins; of two joined ones both begin before either ends.
        """
        taken = (self.kind == KINDS.index("F")).astype(np.int32)
        frees = np.isin(self.kind, [KINDS.index(kind) for kind in freed_by]).astype(np.int32)
        late = frees * self.joined
        freed = np.zeros((len(frees), frees.shape[1] + 2), np.int32)
        freed[:, 1:-1] += frees - late
        freed[:, 2:] += late
        held = np.cumsum(taken - freed[:, :-2], axis=1)
        return tuple(int(most) for most in held.max(axis=1))

    def rounds(self, round_length: int) -> Rounds | None:
        """The rounds of every stage, or None where some stage has fewer than two.

        round_length   micro-batches of a round in one pipe   [count]
        """
        rows = zip(self.code, self.number, self.joined, self.placement.places, strict=True)
        found = [_rounds_of(code, number, joined, len(places), round_length) for code, number, joined, places in rows]
        if any(row is None for row in found):
            return None
        first, length, end = np.array(found).T
        return Rounds(first, length, end)


def _rounds_of(code: Ints, number: Ints, joined: Ints, chunks: int, round_length: int) -> tuple[int, int, int] | None:
    """First place, length and end. The chunk whose forwards end first passes its last ones in the last rounds."""
    forwards = [np.flatnonzero(code == len(KINDS) * chunk) for chunk in range(chunks)]
    places = min(forwards, key=lambda row: row[-1])
    if len(places) <= round_length:
        return None
    last, length = int(places[-1]), int(places[-1] - places[-1 - round_length])
    alike = np.zeros(len(code), bool)
    alike[length:] = (
        (code[length:] == code[:-length])
        & (number[length:] == number[:-length] + round_length)
        & (joined[length:] == joined[:-length])
    )
    breaks = np.flatnonzero(~alike)
    before, after = breaks[breaks < last], breaks[breaks > last]
    first = int(before[-1]) + 1 - length
    return first, length, int(after[0]) if len(after) else len(code)


def short_of(schedule: Schedule, stages: int, micro_batches: int, chunks: int = 1) -> int:
    """Micro-batches of a shorter step that fills every pipe, runs a few rounds and ends as the whole step does.   [count]

    >>> from engine.pipeline.schedules import schedule_named
    >>> [short_of(schedule_named("interleaved"), 4, m, chunks=2) for m in (16, 400)]
    [16, 24]
    """
    each = schedule.round_length(stages, chunks)
    filled = FILLS * stages
    rounds = -(-FEW_ROUNDS // each) + 2
    return min(micro_batches, filled + rounds * each + (micro_batches - filled) % each)


def short_operations(schedule: Schedule, stages: int, micro_batches: int, chunks: int = 1) -> int:
    """Operations of that shorter step, at most: known before anything is simulated.   [count]

    >>> from engine.pipeline.schedules import schedule_named
    >>> short_operations(schedule_named("zb-v"), 128, 100_000)
    202752
    """
    each = (3 if schedule.splits_backward else 2) * stages * schedule.chunks_used(chunks)
    return each * short_of(schedule, stages, micro_batches, chunks)


@kept(ORDERS_BYTES, lambda orders: orders.held_bytes)
def orders_of(schedule: Schedule, stages: int, micro_batches: int, chunks: int = 1) -> Orders:
    """The orders of a step, kept for the next question about a step like it. Of a long one only its rounds are repeated.

    >>> from engine.pipeline.schedules import ONE_F_ONE_B
    >>> orders = orders_of(ONE_F_ONE_B, 3, 5)
    >>> orders.most_held("BI"), [int(end) for end in orders.rounds(1).end]
    ((3, 2, 1), [8, 9, 10])
    """
    each = schedule.round_length(stages, chunks)
    few = FILLS * stages // each * each + (-(-FEW_ROUNDS // each) + 2) * each
    if not schedule.phased and micro_batches > few and micro_batches % each == 0:
        return longer(orders_of(schedule, stages, few, chunks), micro_batches, each)
    return orders_in_full(schedule, stages, micro_batches, chunks)


def orders_in_full(schedule: Schedule, stages: int, micro_batches: int, chunks: int = 1) -> Orders:
    """The orders of a step, each operation asked of the schedule."""
    place = {kind: index for index, kind in enumerate(KINDS)}
    rows = []
    for order in schedule.one_by_one(stages, micro_batches, chunks):
        kinds, numbers, parts, beside = zip(*order, strict=True)
        code = len(KINDS) * np.array(parts, np.int16) + np.array([place[kind] for kind in kinds], np.int16)
        rows.append((code, np.array(numbers, np.int32), np.array(beside, bool)))
    return _aligned(schedule.placement(stages, chunks), micro_batches, rows)


def longer(orders: Orders, micro_batches: int, round_length: int) -> Orders:
    """The orders of a longer step: each stage's last round once more for every round that is missing.

    round_length   micro-batches of a round, of all pipes   [count]
    """
    placement, pipes = orders.placement, orders.placement.pipes
    local, more = round_length // pipes, (micro_batches - orders.micro_batches) // round_length
    rounds = orders.rounds(local)
    assert rounds is not None, "short_of leaves every stage some rounds"
    pipe, number = np.divmod(orders.micro_batch, orders.micro_batches // pipes)
    number = number + pipe * (micro_batches // pipes)
    rows = []
    for stage, (end, length) in enumerate(zip(rounds.end, rounds.length, strict=True)):
        last = int((orders.code[stage] != NO_OP).sum())
        places = np.concatenate([np.arange(end), np.tile(np.arange(end - length, end), more), np.arange(end, last)])
        later = np.concatenate([np.zeros(end), np.repeat(np.arange(1, more + 1), length), np.full(last - end, more)])
        shifted = number[stage, places] + (local * later).astype(np.int32)
        rows.append((orders.code[stage, places], shifted, orders.joined[stage, places]))
    return _aligned(placement, micro_batches, rows)


def _aligned(placement: ChunkPlacement, micro_batches: int, rows: list[tuple[Ints, Ints, Ints]]) -> Orders:
    """Rows of code, micro-batch and joined, filled up to one length."""
    width = max(len(code) for code, _, _ in rows)
    code, number, joined = (
        np.array([np.pad(row, (0, width - len(row)), constant_values=filler) for row in column])
        for column, filler in zip(zip(*rows, strict=True), (NO_OP, 0, False), strict=True)
    )
    return Orders(placement, micro_batches, code, number, joined)
