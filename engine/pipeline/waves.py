"""The start of every operation of a long pipeline, all stages at once.

Wave by wave, every stage runs its next operation if what that needs is there. Which wave an operation falls into says
nothing of its time, only that its inputs are known by then; so the times are those of simulator.simulate, to the bit,
at a cost that grows with the length of a step and hardly with the number of its stages.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.pipeline.orders import KINDS, NO_OP, Orders
from engine.pipeline.simulator import Durations, Wiring
from engine.pipeline.timeline import Interval, Timeline

Numbers = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Links:
    """What each operation waits for and gives, by its place in all rows laid end to end.

    needs, beside   slots that must be filled: its own, and for a joined operation that of its partner
    travel          from the moment each was filled to the moment it has arrived   [own, partner's]
    gives           slot that it fills
    late            from its own end to the moment that slot is filled: a partner's duration
    receive, send   for which a send occupies its stage before and after it
    slots           all of them, with the moment at which those are filled that nothing fills; inf for the others
    """

    needs: Numbers
    beside: Numbers | None
    travel: tuple[Numbers, Numbers]
    gives: Numbers
    duration: Numbers
    late: Numbers
    receive: Numbers
    send: Numbers
    slots: Numbers


def links_of(orders: Orders, durations: Durations, send_s: float, overlapped: bool) -> Links:
    """The wiring of the simulator, looked up for all operations at once."""
    wiring = Wiring(orders.placement, durations, orders.micro_batches // orders.placement.pipes, send_s, overlapped)
    table = np.array(
        [[row[kind, chunk] for chunk in range(len(row) // len(KINDS)) for kind in KINDS] for row in wiring.rows], float
    )
    code, number = orders.code, orders.number
    rows = table[np.arange(len(code))[:, None], np.maximum(code, 0)]
    rows[code == NO_OP] = 0
    needs, gives, _, duration, travel, receive, send = np.moveaxis(rows, 2, 0)
    slots = np.array([np.inf if moment is None else moment for moment in wiring.slots] + [0.0, np.inf])
    there, never = len(slots) - 2, len(slots) - 1
    needs = np.where(code == NO_OP, never, needs + number).astype(np.int64)
    first = orders.joined & overlapped
    beside = late = other = None
    if first.any():
        after = lambda row, rest: np.where(first, np.roll(row, -1, axis=1), rest)  # noqa: E731
        beside, late, other = after(needs, there), after(duration, 0.0), after(travel, 0.0)
    nothing = np.zeros(code.size)
    return Links(
        needs=needs.ravel(),
        beside=None if beside is None else beside.ravel(),
        travel=(travel.ravel(), nothing if other is None else other.ravel()),
        gives=(gives + number).astype(np.int64).ravel(),
        duration=duration.ravel(),
        late=nothing if late is None else late.ravel(),
        receive=receive.ravel(),
        send=send.ravel(),
        slots=slots,
    )


@dataclass(frozen=True, eq=False)
class Waves:
    """A simulated step: `start` of each operation, by its place in all rows laid end to end.   [time]"""

    orders: Orders
    links: Links
    start: Numbers
    complete: bool

    @cached_property
    def width(self) -> int:
        return self.orders.code.shape[1]

    @cached_property
    def last(self) -> int:
        """The operation that ends last."""
        return int(np.argmax(np.where(self.orders.code.ravel() == NO_OP, 0.0, self.start + self.links.duration)))

    @property
    def makespan(self) -> float:
        return float(self.start[self.last] + self.links.duration[self.last])

    @cached_property
    def givers(self) -> Numbers:
        """The operation that fills each slot; NO_OP where none does."""
        found = np.full(len(self.links.slots), NO_OP)
        ran = np.flatnonzero(self.orders.code.ravel() != NO_OP)
        found[self.links.gives[ran]] = ran
        return found

    @property
    def timeline(self) -> Timeline:
        """All operations one by one."""
        rows, starts = self.orders, self.start.reshape(self.orders.code.shape)
        intervals: list[Interval] = []
        for stage, end in enumerate((rows.code != NO_OP).sum(axis=1)):
            chunks, kinds = np.divmod(rows.code[stage, :end], len(KINDS))
            begun = starts[stage, :end]
            ended = begun + self.links.duration[stage * self.width :][:end]
            numbers = rows.micro_batch[stage, :end].tolist()
            letters = [KINDS[kind] for kind in kinds.tolist()]
            columns = repeat(stage), letters, numbers, chunks.tolist(), begun.tolist(), ended.tolist()
            intervals += map(Interval._make, zip(*columns, strict=False))
        return Timeline(len(rows.code), tuple(intervals), self.makespan, rows.placement.chunk_share)

    def critical_path(self) -> list[int]:
        """Operations from the end of the step back to its start, each of which began the moment the next one let it."""
        links, start, path, at = self.links, self.start, [], self.last
        while at >= 0:
            path.append(at)
            before = at - 1 if at % self.width else NO_OP
            free = NO_OP
            if before >= 0:
                free = start[before] + links.duration[before] + links.send[before] + links.receive[at]
            at = before if before >= 0 and free >= start[at] else self._last_to_arrive(at)
        return path

    def _last_to_arrive(self, at: int) -> int:
        """Who gave what an operation waited for."""
        links, giver = self.links, int(self.givers[self.links.needs[at]])
        if links.beside is None or (other := int(self.givers[links.beside[at]])) < 0:
            return giver
        if giver < 0:
            return other
        arrives = [self.filled(g) + links.travel[n][at] for n, g in enumerate((giver, other))]
        return giver if arrives[0] >= arrives[1] else other

    def filled(self, giver: int) -> float:
        """When an operation fills its slot."""
        return float(self.start[giver] + self.links.duration[giver] + self.links.late[giver])


def simulate_waves(orders: Orders, durations: Durations, send_s: float = 0.0, overlapped: bool = True) -> Waves:
    """The starts of all operations.

    durations, send_s, overlapped   as in simulator.simulate

    >>> from engine.pipeline.orders import orders_of
    >>> from engine.pipeline.schedules import ONE_F_ONE_B
    >>> from engine.pipeline.simulator import even_durations
    >>> simulate_waves(orders_of(ONE_F_ONE_B, 2, 2), even_durations(ONE_F_ONE_B.placement(2), 1, 1, 1)).makespan
    9.0
    """
    links = links_of(orders, durations, send_s, overlapped)
    stages, width = orders.code.shape
    lengths = (orders.code != NO_OP).sum(axis=1)
    ends = np.arange(stages) * width + lengths
    arrived, start = links.slots.copy(), np.zeros(stages * width)
    at, clock, left = np.arange(stages) * width, np.zeros(stages), int(lengths.sum())
    while True:
        ready = arrived[links.needs[at]] + links.travel[0][at]
        if links.beside is not None:
            ready = np.maximum(ready, arrived[links.beside[at]] + links.travel[1][at])
        able = ready < np.inf
        go, moment, free = at[able], ready[able], clock[able]
        if not len(go):
            return Waves(orders, links, start, left == 0)
        began = np.maximum(free + links.receive[go], moment)
        start[go] = began
        done = began + links.duration[go]
        arrived[links.gives[go]] = done + links.late[go]
        clock[able] = done + links.send[go]
        left -= len(go)
        at = at + able
        if (over := at == ends).any():
            keep = ~over
            at, clock, ends = at[keep], clock[keep], ends[keep]
            if not len(at):
                return Waves(orders, links, start, left == 0)
