"""The square of queries by keys: what the mask leaves of it fills, pair by pair, in the hue of whose keys are asked."""

from collections.abc import Sequence
from math import sqrt

from app.board.film.composition import Composition
from app.board.film.lens import Span, plain
from app.board.film.pieces import LETTERS, faded, hue
from app.board.film.track import BLINK, Way
from app.board.pen import Point
from app.board.scenes.cp.places import LETTERED, places
from app.board.scenes.cp.story import Act, Story
from engine.lens.ring_steps import PairSpan

FINE = 8  # points of a track along a half square, whose area grows ever more slowly
FLIGHT = 0.8  # s of a strip on its way to its GPU


def strip_tile(picture: Composition, width: float, tall: float, rank: int, ranks: int, key: str, words: str) -> None:
    """A piece of the sequence in its owner's hue."""
    picture.rectangle(0, 0, width, tall, fill=hue(rank, ranks), stroke="thin", key=key)
    if words and tall >= LETTERED and width >= LETTERED - 4:
        ink = "ink" if hue(rank, ranks) == "plain" else "letter"
        picture.text(width / 2, tall / 2 + 6, words, "read", anchor="middle", ink=ink)


class Square:
    """One act's square: tiles beside it, its grid, and its pairs of strips."""

    def __init__(self, picture: Composition, story: Story, act: Act):
        self.picture, self.story, self.act = picture, story, act
        self.at, self.lens = places(picture), story.lens
        self.size = self.at.cell(act.count)

    def draw(self) -> None:
        self._grid()
        for pair in self.act.pairs:
            self._pair(pair)
        with self.picture.actor(
            f"cuts-{self.act.key}", "words", self._act(Way(*self.at.grid, here=self.act.since <= 0))
        ):
            self._cuts()

    def movers(self) -> None:
        """Strips on their way to their GPUs: first all queries, then all keys with their values. Drawn last of all."""
        for strip, rank in enumerate(self.act.owners):
            half = self.act.strips[rank].index(strip)
            self._mover("ask", strip, rank, self.at.row_tile(strip, self.act.count), self.seat(rank, half), 0.0)
            seat = self.at.buffer(rank, self.act.ranks, 0)
            self._mover("keys", strip, rank, self.at.column_tile(strip, self.act.count), seat, 0.5)

    def seat(self, rank: int, half: int) -> Point:
        return self.at.queries(rank, self.act.ranks, half)

    def arrives(self, rank: int, second: float) -> Span:
        """When a GPU's strips go: one GPU after the other, in the first or the second half of the passage."""
        (start, _), (end, _) = self.act.dealing
        half = (end - start) / 2
        start += half * 2 * second + (half - FLIGHT - BLINK) * rank / max(self.act.ranks - 1, 1)
        return plain(start, start + FLIGHT)

    def _act(self, way: Way) -> Way:
        return faded(way, self.lens, self.act.since, self.act.until)

    def _mover(self, key: str, strip: int, rank: int, start: Point, seat: Point, second: float) -> None:
        span = self.arrives(rank, second)
        wide, tall = (self.at.head, self.size - 2) if key == "ask" else (self.size - 2, self.at.head)
        x, y = start[0] + (wide - min(wide, 24)) / 2, start[1] + (tall - min(tall, 22)) / 2
        wide, tall = min(wide, 24), min(tall, 22)
        way = Way(x, y, here=False).show(span[0][0], 0.0).go(span, *seat).hide(span[-1][0], 0.0)
        with self.picture.actor(
            f"deal-{self.act.key}-{key}-{strip}",
            "strip",
            way,
            why="a strip of the sequence, on its way to the GPU that will own it",
        ):
            strip_tile(self.picture, wide, tall, rank, self.act.ranks, "deal", LETTERS[rank])

    def _grid(self) -> None:
        """What may be computed, still empty, and whose the strips are."""
        count, ranks = self.act.count, self.act.ranks
        with self.picture.actor(f"grid-{self.act.key}", "grid", self._act(Way(0, 0, here=self.act.since <= 0))):
            for strip, rank in enumerate(self.act.owners):
                for key, (x, y) in (
                    ("row", self.at.row_tile(strip, count)),
                    ("head", self.at.column_tile(strip, count)),
                ):
                    wide, tall = (self.at.head, self.size - 2) if key == "row" else (self.size - 2, self.at.head)
                    with self.picture.moved(x, y):
                        strip_tile(self.picture, wide, tall, rank, ranks, f"{key}-{strip}", LETTERS[rank])

    def _cuts(self) -> None:
        """Lines between strips, and the edge of what the mask leaves."""
        side, size = self.at.side, self.size
        for at in range(1, self.act.count):
            inner = "ink" if self.act.count <= 8 else "rule"
            self.picture.line(0, at * size, at * size, at * size, ink=inner, stroke="thin", key=f"row-cut-{at}")
            self.picture.line(at * size, at * size, at * size, side, ink=inner, stroke="thin", key=f"cut-{at}")
        self.picture.polyline(((0, 0), (side, side), (0, side), (0, 0)), key="triangle")

    def _pair(self, pair: PairSpan) -> None:
        """It is uncovered while it is computed; area is work."""
        size, (x, y) = self.size, self.at.grid
        half = pair.queries == pair.keys
        owner = self.act.owners[pair.keys]
        way = Way(x + pair.keys * size, y + pair.queries * size, here=False, shown=0)
        for start, end, share in self._uncovered(pair, half):
            span = self.lens.span(start, end)
            if share[0] <= 0:
                way.show(span[0][0], 0.0)
            way.uncover(span, share[1])
        if self.act.until < self.lens.length:
            way.hide(self.act.until, 3 * BLINK)
        asks, asked = LETTERS[self.act.owners[pair.queries]], LETTERS[owner]
        why = f"{asks} asks its own keys: half of them lie ahead" if half else f"queries of {asks} ask keys of {asked}"
        key = f"pair-{self.act.key}-{pair.queries}-{pair.keys}"
        with self.picture.actor(key, "pair", way, window=(size, size), why=why):
            top = f"L{size:.1f} {size:.1f}" if half else f"H{size:.1f}V{size:.1f}"
            corners = f"M{0} {0}{top}H{0}Z"
            self.picture.path(corners, fill=hue(owner, self.act.ranks), ink="")

    def _uncovered(self, pair: PairSpan, half: bool) -> Sequence[tuple[float, float, tuple[float, float]]]:
        """Stretches of engine time with the share of its width that is uncovered at both ends."""
        if not half:
            return [(pair.start, pair.end, (0.0, 1.0))]
        each = (pair.end - pair.start) / FINE
        edges = [1 - sqrt(1 - at / FINE) for at in range(FINE + 1)]
        return [
            (pair.start + at * each, pair.start + (at + 1) * each, (edges[at], edges[at + 1])) for at in range(FINE)
        ]
