"""Micro-batches as marbles: a marble's place in its box is how far the stage has come with it."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from app.board.film.composition import Composition
from app.board.film.lens import plain
from app.board.film.track import Way
from app.board.scenes.pp.places import UNDER, places
from app.board.scenes.pp.story import Story, at_once
from engine.pipeline.timeline import Interval

MOST = 240  # operations whose marbles are drawn; of more, every second, third … micro-batch
SMALL, GROWS, LONG = 0.78, 0.12, 0.02  # of a marble that waits; s in which it grows again; s of a wait that is seen
DOOR = 1.5  # radii from the wall to where a marble waits, so that one that arrives does not cover it
NARROW, ASIDE = 10.0, 9.5  # radius, and distance from the lane's middle, where marbles pass each other in a lane
KINDS = (("F", "f", "forward"), ("BI", "b", "backward"))


@dataclass(frozen=True)
class Leg:
    """One operation as a marble's way through a box.

    x, to   from wall to wall; `door` is where it stands before, if it has to wait
    y       of its lane
    """

    op: Interval
    x: float
    door: float
    to: float
    y: float


class Marbles:
    """The marbles of the first act: forward in the upper lane, backward and weight gradients in the lower one."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.case, self.at = picture, story, story.case, places(picture)
        self.run, self.lens = story.run, story.lens
        self.ways = len({self.run.to_the_right(chunk) for chunk in range(self.run.chunks)})
        self.radius = self.at.marble if self.ways == 1 else min(self.at.marble, NARROW)

    @property
    def every(self) -> int:
        """Of how many micro-batches one has its marble drawn."""
        return -(-len(self.run.timeline.intervals) // MOST)

    def draw(self) -> None:
        for n in range(0, self.case.m, self.every):
            ops = sorted((op for op in self.run.timeline.intervals if op.micro_batch == n), key=lambda op: op.start)
            for kinds, fill, word in KINDS:
                legs = [self.leg(op) for op in ops if op.kind in kinds]
                since = legs[0].op.start if kinds == "F" else max(op.end for op in ops if op.kind == "F")
                self._marble(f"{kinds}{n}", n, fill, word, legs, since)
            for op in ops:
                if op.kind == "W":
                    key = f"W{n}.{op.chunk}@{op.stage}"
                    self._marble(key, n, "w", "weight gradient", [self.leg(op)], op.start)
        if self.every > 1:
            words, y = f"every {_ordinal(self.every)} marble is drawn", self.picture.height - 8
            with self.picture.actor("thinned", "words", Way(0, 0).hide(self.story.change[0][0], 0.3)):
                self.picture.text(
                    self.at.sides[1], y if self.picture.is_wide else y - UNDER, words, anchor="end", ink="soft"
                )

    def leg(self, op: Interval) -> Leg:
        """The way of a marble through a box while its stage runs an operation."""
        left, right = self.at.wall(op.stage, self.case.p), self.at.wall(op.stage + 1, self.case.p)
        rightwards = self.run.to_the_right(op.chunk) == (op.kind == "F")
        x, to, step = (left, right, DOOR * self.radius) if rightwards else (right, left, -DOOR * self.radius)
        y = self.at.forward if op.kind == "F" else self.at.backward
        if self.ways == 2:
            y += ASIDE if rightwards else -ASIDE
        if op.kind == "W":  # comes from no neighbour and goes to none
            inside = min(2 * abs(step), (right - left) / 3) * (1 if rightwards else -1)
            return Leg(op, x + inside, x + inside, to - inside, y)
        return Leg(op, x, x + step, to, y)

    @cached_property
    def turn(self) -> dict[Interval, float]:
        """From when on a marble is the next one at its door: once the one before it has gone half its way."""
        doors: dict[tuple[int, bool, bool], list[Interval]] = defaultdict(list)
        for op in self.run.timeline.intervals:
            if op.kind != "W":
                doors[op.stage, op.kind == "F", self.run.to_the_right(op.chunk)].append(op)
        found: dict[Interval, float] = {}
        for ops in doors.values():
            ops.sort(key=lambda op: op.start)
            found |= {after: (op.start + op.end) / 2 for op, after in pairwise(ops)}
        return found

    def _marble(self, key: str, n: int, fill: str, word: str, legs: list[Leg], since: float) -> None:
        why = f"{word} of micro-batch {n}: its place in the box is how far the stage has come with it"
        with self.picture.actor(key, "marble", self._way(legs, since), why=why):
            self.picture.circle(0, 0, self.radius, fill=fill, key=f"marble-{fill}")
        with self.picture.actor(f"{key}-number", "words", self._way(legs, since, shrinks=False)):
            self.picture.text(0, 5 if self.picture.is_wide else 4, str(n), self.at.number, anchor="middle")

    def _way(self, legs: list[Leg], since: float, shrinks: bool = True) -> Way:
        """Through all boxes; the number does not shrink with its marble, so that it can still be read."""
        arrived = self.lens.begins(since)
        way = Way(legs[0].x, legs[0].y, here=False)
        for leg in legs:
            span = self.lens.span(leg.op.start, leg.op.end)
            self._wait(way, leg, arrived, span[0][0], shrinks)
            way.go(span, leg.to, leg.y, eased=False)
            arrived = span[-1][0]
        return way.hide(arrived, 0.0)

    def _wait(self, way: Way, leg: Leg, since: float, until: float, shrinks: bool) -> None:
        """Small at the door of its next box, from when on it is the next one there; a queue shows no others."""
        seen = max(since, min(self.lens.begins(self.turn.get(leg.op, 0.0)), until))
        if seen > since:
            way.hide(since, 0.0)
        waits = until - since > LONG
        way.go(at_once(since), leg.door if waits else leg.x, leg.y, eased=False).show(seen, 0.0)
        if shrinks and waits and until - seen > 2 * GROWS:
            way.grow(at_once(seen), wide=SMALL, tall=SMALL)
            way.grow(plain(until - GROWS, until), wide=1, tall=1, eased=True)


def _ordinal(n: int) -> str:
    """Second, third, 4th.

    >>> [_ordinal(n) for n in (2, 3, 5)]
    ['second', 'third', '5th']
    """
    return {2: "second", 3: "third"}.get(n, f"{n}th")
