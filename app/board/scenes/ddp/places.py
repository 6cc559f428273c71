"""Where things are in the DDP film: four GPUs in a row on a wide picture, round a square on a tall one."""

from dataclasses import dataclass
from functools import cached_property

from app.board.film.composition import Composition
from app.board.film.ring import DRAWN, Ring
from app.board.film.ring import PAD as INNER
from app.board.pen import Point
from app.board.scenes.ddp.case import LAYERS

PAD = 11.0  # inside a GPU
ABOVE = 6.0  # of a ring's first row within its box


@dataclass(frozen=True)
class Places:
    """Geometry of one composition.

    boxes          upper left corner of each GPU, in the order of the ring; `width` and `tall` of one
    stack          y of the last layer's row inside its GPU, the rows' pitch and their height
    bucket         y of the first slice of the bucket, likewise
    name           width of a layer's name, left of its weights
    shaft          width of the way that the data take along the layers
    margins        x of the ring's way home, left and right of the GPUs; `home` is its y above them
    coin           width and height of a slice on its way
    axis           left and right end of the axis of time; `under` is y of the first lane, `lane` a lane's height
    words          base lines of the two lines of words below
    side           style of the lanes' names; `read`, `digit` of layers' names and of letters in slices
    """

    boxes: tuple[Point, ...]
    width: float
    tall: float
    stack: tuple[float, float, float]
    bucket: tuple[float, float, float]
    name: float
    shaft: float
    margins: tuple[float, float]
    home: float
    coin: Point
    axis: tuple[float, float]
    under: float
    lane: float
    words: tuple[float, float]
    side: str
    read: str
    digit: str

    @property
    def stacked(self) -> float:
        """Width of a layer's weights."""
        return self.width - PAD - self.name - self.shaft

    @cached_property
    def ring(self) -> Ring:
        """The ring that the bucket's slices ride: a row of it is a slice."""
        top, pitch, row = self.bucket
        return Ring(
            boxes=tuple((x + PAD - INNER, y + top - ABOVE) for x, y in self.boxes),
            width=self.width - 2 * (PAD - INNER),
            pitch=pitch,
            row=row,
            margins=self.margins,
            lanes=self.axis,
            under=self.under,
            strip=self.under,
            rows=DRAWN,
            home=self.boxes[0][1] + top - ABOVE - self.home,
        )

    @property
    def column(self) -> float:
        """Width of one owner's part of a slice."""
        return self.ring.slot

    def layer(self, gpu: int, layer: int) -> Point:
        """Upper left corner of a layer's weights; the last layer is on top."""
        (x, y), (top, pitch, _) = self.boxes[gpu], self.stack
        return x + PAD + self.name, y + top + (LAYERS - 1 - layer) * pitch

    def strip(self, gpu: int, layer: int) -> tuple[float, float, float, float]:
        """Where the gradients of a layer lie, over its weights: x, y, width and height."""
        x, y = self.layer(gpu, layer)
        height = 0.62 * self.stack[2]
        return x, y + self.stack[2] - height, self.stacked, height

    def seat(self, gpu: int, row: int, owner: int = 0) -> Point:
        """Upper left corner of an owner's part of a slice."""
        return self.ring.seat(gpu, row, owner)

    def shaft_at(self, gpu: int, layer: float) -> Point:
        """Where the data stand beside a layer; one further than the last is above the GPU."""
        (x, y), (top, pitch, height) = self.boxes[gpu], self.stack
        return x + self.width - self.shaft / 2 - 1, y + top + (LAYERS - 1 - layer) * pitch + height / 2

    def hop(self, gpu: int, row: int) -> tuple[Point, ...]:
        """The way of a whole slice from a GPU to the next one on the ring."""
        return self.ring.hop(gpu, row, (DRAWN - 1) / 2)


WIDE = Places(
    boxes=tuple((44 + at * 163.0, 42.0) for at in range(DRAWN)),
    width=148,
    tall=232,
    stack=(7, 23, 20),
    bucket=(104, 31, 18),
    name=24,
    shaft=34,
    margins=(25, 695),
    home=9,
    coin=(48, 15),
    axis=(92, 708),
    under=284,
    lane=22,
    words=(358, 388),
    side="remark",
    read="read",
    digit="read",
)
TALL = Places(
    boxes=((30, 30), (188, 30), (188, 242), (30, 242)),
    width=142,
    tall=184,
    stack=(5, 19, 16),
    bucket=(84, 25, 14),
    name=20,
    shaft=32,
    margins=(22, 338),
    home=9,
    coin=(42, 13),
    axis=(66, 352),
    under=436,
    lane=19,
    words=(500, 523),
    side="read",
    read="small",
    digit="small",
)


def places(picture: Composition) -> Places:
    return WIDE if picture.is_wide else TALL
