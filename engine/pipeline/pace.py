"""The pace of a long step, read off a short one, and the proof that the long step keeps it.

Starts of operations obey x = max over inputs of (x(input) + time), and once the pipe is full a longer step only runs more
rounds. So two things seen in a short step say what every further round adds:

    not less   the path of operations that sets its length runs through a loop: an operation and the same one some
               rounds later. A longer step can run through it again, at the same price.
    not more   no operation that later ones look back on moves on by more than that price in as many rounds. Then none
               ever does: a maximum of things that move by no more than the price moves by no more than it.

That is checked, not assumed. Where paces of two loops are close the second may need a longer step to be seen.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import numpy as np

from engine.pipeline.orders import Ints, Rounds
from engine.pipeline.waves import Waves

SAME = 1e-9  # relative difference below which two times are one


@dataclass(frozen=True)
class Pace:
    """What a step grows by.

    rounds   so many together               [count]
    time     they add at least              [time unit of the durations]
    most     they add at most               [time unit of the durations]
    """

    rounds: int
    time: float
    most: float

    @property
    def proven(self) -> bool:
        """Whether they add just that."""
        return self.most <= self.time * (1 + SAME)


def pace_of(waves: Waves, rounds: Rounds, round_length: int) -> Pace | None:
    """The pace that a simulated step shows, or None where it is too short to show one.

    round_length   micro-batches of a round in one pipe   [count]
    """
    start = waves.start.reshape(waves.orders.code.shape)
    stages = np.arange(len(start))
    width = waves.width
    full = float(start[stages, rounds.first].max())
    ends = np.where(rounds.end < width, start[stages, np.minimum(rounds.end, width - 1)], np.inf)
    drains = float(np.where((rounds.end < width) & (ends > 0), ends, np.inf).min())
    loops = list(_loops(waves, full, drains, round_length))
    if not loops:
        return None
    count, time = max(loops, key=lambda loop: (round(loop[1] / loop[0] / (1 + SAME), 15), -loop[0]))
    cut = _cut(start, rounds, drains)
    seen = _looked_back(waves, rounds, cut)
    if (cut - (seen + count) * rounds.length < rounds.first).any():
        return Pace(count, time, inf)
    return Pace(count, time, max(time, _most_moved(start, rounds, cut, seen, count)))


def _loops(waves: Waves, full: float, drains: float, round_length: int) -> Iterator[tuple[int, float]]:
    """Rounds and time of each loop on the path that sets the step's length, while all stages run rounds."""
    code, number = waves.orders.code.ravel(), waves.orders.number.ravel()
    passed: dict[tuple[int, int, int], tuple[int, float]] = {}
    for at in waves.critical_path():
        moment = float(waves.start[at])
        if not full <= moment < drains:
            continue
        n = int(number[at])
        key = at // waves.width, int(code[at]), n % round_length
        if key in passed and passed[key][0] > n:
            later, then = passed[key]
            yield (later - n) // round_length, then - moment
        passed[key] = n, moment


def _cut(start: Ints, rounds: Rounds, moment: float) -> Ints:
    """How many operations each stage has begun before a moment, up to the end of its rounds."""
    begun = [np.searchsorted(row[:end], moment) for row, end in zip(start, rounds.end, strict=True)]
    return np.array(begun)


def _looked_back(waves: Waves, rounds: Rounds, cut: Ints) -> int:
    """Rounds before the cut whose results are used after it."""
    width, givers, most = waves.width, waves.givers, 1
    for needs in (waves.links.needs, waves.links.beside):
        if needs is None:
            continue
        for stage, (end, length) in enumerate(zip(cut, rounds.length, strict=True)):
            row = stage * width
            given = givers[needs[row + max(0, end - length) : row + end]]
            owner, place = np.divmod(given[given >= 0], width)
            owner, place = owner[owner != stage], place[owner != stage]  # its own are behind it in any case
            if len(owner):
                back = -((place - cut[owner]) // rounds.length[owner])
                most = max(most, int(back.max()))
    return most


def _most_moved(start: Ints, rounds: Rounds, cut: Ints, seen: int, count: int) -> float:
    """Most that an operation of the last `seen` rounds before the cut began after the same one `count` rounds before."""
    moved = 0.0
    for row, end, length in zip(start, cut, rounds.length, strict=True):
        window, before = slice(end - seen * length, end), slice(end - (seen + count) * length, end - count * length)
        moved = max(moved, float((row[window] - row[before]).max()))
    return moved
