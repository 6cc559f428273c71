"""GPUs on a ring, with rows inside: four side by side on a wide picture, two by two on a tall one, and what lies below."""

from dataclasses import dataclass

from app.board.film.composition import Composition
from app.board.pen import Point

DRAWN = 4  # GPUs in the picture, however many count
PAD = 8.0  # of a slot's row inside its GPU


@dataclass(frozen=True)
class Ring:
    """Geometry of one composition.

    boxes      upper left corner of each GPU
    width      of a GPU, `tall` its height
    pitch      from a row to the next; `row` is its height, what is left is the wire's gap
    margins    x of the ring's way home, left and right of the GPUs
    lanes      left and right end of the axis of time
    under      y of the first lane; `strip` of the meter
    home       how far above the GPUs the ring's way home runs, where they stand side by side
    """

    boxes: tuple[Point, ...]
    width: float
    pitch: float
    row: float
    margins: tuple[float, float]
    lanes: tuple[float, float]
    under: float
    strip: float
    rows: int
    home: float = 34.0

    @property
    def tall(self) -> float:
        return self.rows * self.pitch + 2

    @property
    def slot(self) -> float:
        return (self.width - 2 * PAD) / DRAWN

    def seat(self, gpu: int, row: int, owner: float) -> Point:
        """Upper left corner of an owner's slot in a row."""
        x, y = self.boxes[gpu]
        return x + PAD + owner * self.slot, y + 6 + row * self.pitch

    def row_wire(self, gpu: int, row: int) -> float:
        """y of the wire under a row."""
        return self.seat(gpu, row, 0)[1] + self.row + (self.pitch - self.row) / 2

    def hop(self, gpu: int, row: int, owner: float) -> tuple[Point, ...]:
        """The way of an owner's slice from a GPU to the next one on the ring: down, along the wires, and up."""
        there = (gpu + 1) % DRAWN
        start, end = self.seat(gpu, row, owner), self.seat(there, row, owner)
        middle, half = self.slot / 2, self.row / 2
        y, z = self.row_wire(gpu, row), self.row_wire(there, row)
        return (
            (start[0] + middle, start[1] + half),
            (start[0] + middle, y),
            *self._between(gpu, y, z),
            (end[0] + middle, z),
            (end[0] + middle, end[1] + half),
        )

    def _between(self, gpu: int, y: float, z: float) -> tuple[Point, ...]:
        """Corners between the wire of a GPU and the wire of the next."""
        left, right = self.margins
        wide = self.boxes[0][1] == self.boxes[-1][1]
        if wide and gpu == DRAWN - 1:
            top = self.boxes[0][1] - self.home
            return (right, y), (right, top), (left, top), (left, z)
        if wide or y == z:
            return ()
        side = right if gpu == 1 else left
        return (side, y), (side, z)


WIDE = Ring(
    boxes=tuple((46 + at * 166.0, 40.0) for at in range(DRAWN)),
    width=150,
    pitch=46,
    row=25,
    margins=(34, 708),
    lanes=(92, 708),
    under=238,
    strip=308,
    rows=4,
)
TALL = Ring(
    boxes=((14, 30), (196, 30), (196, 228), (14, 228)),
    width=150,
    pitch=42,
    row=21,
    margins=(5, 355),
    lanes=(66, 354),
    under=412,
    strip=474,
    rows=4,
)


def ring(picture: Composition) -> Ring:
    """The ring of a composition."""
    return WIDE if picture.is_wide else TALL
