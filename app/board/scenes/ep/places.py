"""Where things are in the film of expert parallelism: tokens left, experts right, a row for each GPU, wires between."""

from dataclasses import dataclass

from app.board.film.composition import Composition
from app.board.film.wire import Wire
from app.board.pen import Point
from app.board.scenes.ep.case import DRAWN, Case, Copy

SIZES = (20.0, 18.0, 15.0, 12.0, 9.0, 7.0, 5.5)  # of a copy: the largest that fits wherever copies stand
LETTERED = 18.0  # units: a smaller copy has no letter on it, its hue says whose it is


@dataclass(frozen=True)
class Places:
    """Geometry of one composition.

    top       y of the first row; `pitch` from row to row, `tall` of its boxes
    tokens    left and right end of a GPU's tokens
    wires     left and right end of the wires between GPUs
    experts   left and right end of a GPU's experts
    name      height of the strip with an expert's name
    lanes     y of the lanes of time; `axis` their left and right end
    """

    top: float
    pitch: float
    tall: float
    tokens: tuple[float, float]
    wires: tuple[float, float]
    experts: tuple[float, float]
    name: float
    lanes: float
    axis: tuple[float, float]

    def row(self, gpu: int) -> float:
        return self.top + gpu * self.pitch

    def rail(self, gpu: int) -> float:
        """y of the wire under a GPU's boxes."""
        return self.row(gpu) + (self.tall + self.pitch) / 2

    @property
    def step(self) -> float:
        """From token to token."""
        return (self.tokens[1] - self.tokens[0]) / DRAWN

    def token(self, token: int) -> Point:
        """Upper left corner of a token's tile."""
        gpu, at = divmod(token, DRAWN)
        return self.tokens[0] + at * self.step, self.row(gpu) + 5

    def expert(self, case: Case, expert: int) -> tuple[float, float, float, float]:
        """An expert's box."""
        gpu, at = divmod(expert, case.a_gpu)
        wide = (self.experts[1] - self.experts[0] - 6 * (case.a_gpu - 1)) / case.a_gpu
        return self.experts[0] + at * (wide + 6), self.row(gpu), wide, self.tall

    def size(self, case: Case) -> float:
        """Of a copy."""
        _, _, wide, tall = self.expert(case, 0)
        most = max(case.routing.loads)
        for size in SIZES:
            columns, rows = int((wide - 4) // (size + 1)), int((tall - self.name - 2) // (size + 1))
            tickets = int((self.step - 2) // (size + 1)) * max(1, int((self.tall - 31) // (size + 1)))
            if columns * rows >= most and tickets >= case.top_k:
                return size
        return SIZES[-1]

    def ticket(self, case: Case, copy: Copy) -> Point:
        """Upper left corner of a copy under its token."""
        x, y = self.token(copy.token)
        size = self.size(case) + 1
        at, columns = case.routing.choices[copy.token].index(copy.expert), max(1, int((self.step - 2) // size))
        return x + at % columns * size, y + 24 + at // columns * size

    def queue(self, case: Case, copy: Copy, at: int) -> Point:
        """Upper left corner of a place in an expert's queue."""
        x, y, wide, tall = self.expert(case, copy.expert)
        size = self.size(case) + 1
        columns = max(1, int((wide - 4) // size))
        return x + 3 + at % columns * size, y + tall - 1 - size - at // columns * size

    def way(self, case: Case, copy: Copy, at: int) -> Wire:
        """From under a token along the wires to a place in a queue: by middles."""
        half = self.size(case) / 2
        (x, y), (u, v) = self.ticket(case, copy), self.queue(case, copy, at)
        start, end = self.rail(copy.source), self.rail(copy.target)
        points = (
            (x + half, y + half),
            (x + half, start),
            (self.wires[0], start),
            (self.wires[1], end),
            (u + half, end),
            (u + half, v + half),
        )
        return Wire(f"{copy.token}-{copy.expert}", points)


WIDE = Places(
    top=26,
    pitch=78,
    tall=58,
    tokens=(32, 212),
    wires=(222, 452),
    experts=(484, 716),
    name=18,
    lanes=344,
    axis=(84, 712),
)
TALL = Places(
    top=28,
    pitch=92,
    tall=74,
    tokens=(4, 100),
    wires=(106, 178),
    experts=(202, 356),
    name=18,
    lanes=408,
    axis=(74, 354),
)


def places(picture: Composition) -> Places:
    return WIDE if picture.is_wide else TALL
