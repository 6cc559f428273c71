"""Where things are in the film of context parallelism: the triangle left, GPUs, ring and lanes beside or under it."""

from dataclasses import dataclass

from app.board.film.composition import Composition
from app.board.pen import Point

LETTERED = 17.0  # units: what is slimmer carries no letter


@dataclass(frozen=True)
class Places:
    """Geometry of one composition.

    grid     upper left corner of the square of queries by keys, `side` long
    head     thickness of the tiles beside and above it
    row      left and right end of the row of GPUs
    box      y of their boxes; `tile` is the height of a tile in them
    wires    y of the ring's way to the right, and of its way back
    axis     left and right end of the lanes
    lanes    y of the first, and how high all of them are together
    ask      of the question that is followed: upper left corner
    """

    grid: Point
    side: float
    head: float
    row: tuple[float, float]
    box: float
    tile: float
    wires: tuple[float, float]
    axis: tuple[float, float]
    lanes: tuple[float, float]
    ask: Point

    # the square

    def cell(self, strips: int) -> float:
        return self.side / strips

    def row_tile(self, strip: int, strips: int) -> Point:
        """Upper left corner of a strip of queries, left of the square."""
        return self.grid[0] - self.head - 5, self.grid[1] + strip * self.cell(strips) + 1

    def column_tile(self, strip: int, strips: int) -> Point:
        """Likewise of keys, above it."""
        return self.grid[0] + strip * self.cell(strips) + 1, self.grid[1] - self.head - 5

    # GPUs

    def pitch(self, ranks: int) -> float:
        return (self.row[1] - self.row[0]) / ranks

    def box_wide(self, ranks: int) -> float:
        return self.pitch(ranks) - (12 if ranks <= 4 else 6)

    @property
    def box_tall(self) -> float:
        return 2 * self.tile + 24

    def box_at(self, rank: int, ranks: int) -> Point:
        return self.row[0] + rank * self.pitch(ranks), self.box

    def part(self, ranks: int) -> float:
        """Width of half a row of tiles in a box."""
        return (self.box_wide(ranks) - 17) / 2

    def queries(self, rank: int, ranks: int, half: int = 0) -> Point:
        """Upper left corner of a GPU's queries, or of their second half."""
        x, y = self.box_at(rank, ranks)
        return x + 6 + half * (self.part(ranks) + 5), y + 7

    def buffer(self, rank: int, ranks: int, step: int) -> Point:
        """Upper left corner of where a GPU has the keys and values of a step: two buffers that take turns."""
        x, y = self.queries(rank, ranks, step % 2)
        return x, y + self.tile + 10

    def hop(self, rank: int, ranks: int, step: int) -> tuple[Point, ...]:
        """The way of keys and values from a GPU, which has them in this step, to the next on the ring."""
        to = (rank + 1) % ranks
        start, end = self.buffer(rank, ranks, step), self.buffer(to, ranks, step + 1)
        x, z = start[0] + self.part(ranks) / 2, end[0] + self.part(ranks) / 2
        y, wire = start[1] + self.tile / 2, self.wires[to == 0]
        return (x, y), (x, wire), (z, wire), (z, y)

    # lanes

    def lane(self, rank: int, ranks: int) -> tuple[float, float]:
        """y of a GPU's lane, and its height."""
        y, tall = self.lanes
        return y + rank * tall / ranks, tall / ranks - (3 if ranks <= 4 else 1)


WIDE = Places(
    grid=(60, 58),
    side=200,
    head=20,
    row=(304, 718),
    box=34,
    tile=23,
    wires=(125, 150),
    axis=(306, 712),
    lanes=(172, 96),
    ask=(4, 308),
)
TALL = Places(
    grid=(30, 48),
    side=160,
    head=20,
    row=(34, 360),
    box=252,
    tile=22,
    wires=(340, 364),
    axis=(34, 354),
    lanes=(386, 96),
    ask=(208, 48),
)


def places(picture: Composition) -> Places:
    return WIDE if picture.is_wide else TALL
