"""Where things are in the tensor parallel film: GPUs in a row on a wide picture, two by two on a tall one.

In a GPU a product stands as on paper: the left factor left of the result, the right factor above it.
"""

from dataclasses import dataclass
from typing import NamedTuple

from app.board.film.composition import Composition
from app.board.pen import Point

MOST = 4  # GPUs in the picture, however many count


class Box(NamedTuple):
    """A place for a matrix."""

    x: float
    y: float
    wide: float
    tall: float

    def part(self, at: int, n: int, along: str) -> "Box":
        """The piece of one owner, cut along columns or rows."""
        if along == "columns":
            return Box(self.x + at * self.wide / n, self.y, self.wide / n, self.tall)
        return Box(self.x, self.y + at * self.tall / n, self.wide, self.tall / n)

    @property
    def middle(self) -> float:
        return self.x + self.wide / 2


@dataclass(frozen=True)
class Places:
    """Geometry of one composition.

    boxes       upper left corner of each GPU
    width       of a GPU, `tall` its height
    pad         between its edge and what lies in it
    field       width of X and of Z, `inner` of Y; `depth` their height
    over        height of B; `low` of A
    rails       y of the ring's wire under a row of GPUs, and of its way back or of the next row's wire
    margins     x of the ring's way between rows; none: all GPUs are in one row
    decks       where A and B lie whole
    names       where the names of these begin
    note        upper left corner of the room for words, `free` where nothing is dealt
    speed       where the wires are named, `sent` where what went over them is counted
    size        of the group in the picture, where that is said
    lanes       left and right end of the axis of time, `under` the y of the first lane
    """

    boxes: tuple[Point, ...]
    width: float
    tall: float
    pad: float
    field: float
    inner: float
    depth: float
    over: float
    low: float
    rails: tuple[float, float]
    margins: tuple[float, float] | None
    decks: tuple[Point, Point]
    names: tuple[Point, Point]
    note: Point
    free: Point
    speed: Point
    sent: Point
    size: Point
    lanes: tuple[float, float]
    under: float

    @property
    def n(self) -> int:
        return len(self.boxes)

    @property
    def drawn(self) -> range:
        return range(self.n)

    def matrix(self, gpu: int, name: str) -> Box:
        """A matrix in a GPU: X, A, Y, B or Z."""
        x, y = self.boxes[gpu]
        lefts = {"X": 1, "Y": 2, "A": 2, "Z": 3, "B": 3}
        at = lefts[name]
        left = x + at * self.pad + (at > 1) * self.field + (at > 2) * self.inner
        wide = self.inner if name in "AY" else self.field
        base = y + self.pad + self.over
        if name == "A":
            return Box(left, base - self.low, wide, self.low)
        if name == "B":
            return Box(left, base - self.over, wide, self.over)
        return Box(left, base + 4, wide, self.depth)

    def deck(self, name: str) -> Box:
        """Where A or B lies before it is dealt."""
        x, y = self.decks["AB".index(name)]
        return Box(x, y, self.inner if name == "A" else self.field, self.low if name == "A" else self.over)

    def hop(self, gpu: int, name: str) -> tuple[Point, ...]:
        """The way from a GPU's matrix to the next GPU's on the ring: down, along the wires, and up."""
        there = (gpu + 1) % self.n
        start, end = self.matrix(gpu, name), self.matrix(there, name)
        from_y, to_y = start.y + start.tall, end.y + end.tall
        return ((start.middle, from_y), *self._along(gpu, start.middle, end.middle), (end.middle, to_y))

    def _along(self, gpu: int, x: float, there: float) -> tuple[Point, ...]:
        first, second = self.rails
        if self.margins is None:
            y = second if gpu == self.n - 1 else first
            return (x, y), (there, y)
        y, z = (first, first, second, second)[gpu], (first, second, second, first)[gpu]
        if y == z:
            return (x, y), (there, y)
        side = self.margins[gpu == 1]
        return (x, y), (side, y), (side, z), (there, z)


def places(picture: Composition, n: int) -> Places:
    """Of a film with so many GPUs drawn."""
    return _wide(n) if picture.is_wide else _tall(n)


def _wide(n: int) -> Places:
    left = 360 - (n * 180 - 12) / 2
    return Places(
        boxes=tuple((left + at * 180, 72.0) for at in range(n)),
        width=168,
        tall=136,
        pad=8,
        field=38,
        inner=60,
        depth=60,
        over=56,
        low=30,
        rails=(226, 264),
        margins=None,
        decks=((110, 18), (294, 6)),
        names=((4, 28), (190, 28)),
        note=(346, 4),
        free=(4, 4),
        speed=(left + (156 if n == MOST else n * 180 + 4), 251),
        sent=(left + 300 if n == MOST else 4, 251),
        size=(4, 392),
        lanes=(92, 708),
        under=286,
    )


def _tall(n: int) -> Places:
    spots = ((24.0, 66.0), (188.0, 66.0), (188.0, 230.0), (24.0, 230.0))
    return Places(
        boxes=spots[:n],
        width=148,
        tall=132,
        pad=6,
        field=34,
        inner=56,
        depth=60,
        over=54,
        low=30,
        rails=(212, 244) if n < MOST else (212, 376),
        margins=(12, 348) if n == MOST else None,
        decks=((62, 18), (164, 4)),
        names=((4, 40), (127, 40)),
        note=(4, 450),
        free=(4, 450),
        speed=(204, 18),
        sent=(204, 58),
        size=(204, 38),
        lanes=(76, 354),
        under=392,
    )
