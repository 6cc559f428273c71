"""Where things are in the failures film."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.board.film.composition import Composition
from app.board.film.lens import Lens
from app.board.film.pieces import faded
from app.board.film.track import Way
from app.board.legend import words_width
from app.board.pen import Point, number


@dataclass(frozen=True)
class Places:
    """Geometry of one composition.

    axis    left and right end of the lanes
    top     of the first lane; `pitch` to the next; `lane` is its height
    chart   field of curves: x, y, width, height
    facts   corner of the large numbers, how far apart they are, and how wide they may be
    """

    axis: tuple[float, float]
    top: float
    pitch: float
    lane: float
    chart: tuple[float, float, float, float]
    facts: tuple[float, float]
    apart: float
    room: float


WIDE = Places((100, 516), 34, 41, 27, (84, 26, 432, 232), (548, 52), 84, 168)
TALL = Places((74, 352), 28, 40, 26, (52, 28, 300, 210), (8, 356), 60, 340)


def places(picture: Composition) -> Places:
    return WIDE if picture.is_wide else TALL


@dataclass(frozen=True)
class Chart:
    """A field with two axes: places of it from 0 to 1 become places of the picture, upwards.

    >>> Chart(10, 20, 100, 50).at(0.5, 1.0)
    (60.0, 20.0)
    """

    x: float
    y: float
    width: float
    height: float

    def at(self, across: float, up: float) -> Point:
        """The place of the picture; what runs past the top stays on it."""
        return self.x + across * self.width, self.y + self.height * (1 - min(1.0, max(0.0, up)))

    def draw(self, picture: Composition, up: str = "") -> None:
        """The axes, and what the upright one measures."""
        bottom, right = self.y + self.height, self.x + self.width
        picture.line(self.x, self.y, self.x, bottom, key="axis-up")
        picture.line(self.x, bottom, right, bottom, key="axis-across")
        picture.text(self.x + 8, self.y + 4, up, "read", ink="soft")

    def curve(self, picture: Composition, points: Iterable[Point], ink: str = "ink", stroke: str = "normal") -> None:
        """A curve through places of the field, straight from one to the next."""
        placed = [self.at(*point) for point in points]
        picture.path("M" + "L".join(f"{number(x)} {number(y)}" for x, y in placed), ink=ink, stroke=stroke)

    def walk(self, way: Way, points: Sequence[tuple[float, Point]]) -> Way:
        """A way along places of the field: each with its moment in film seconds."""
        start = points[0][0]
        way.go(((start, 0.0), (start, 1.0)), *self.at(*points[0][1]))
        for t, point in points[1:]:
            way.go(((start, 0.0), (t, 1.0)), *self.at(*point), eased=False)
            start = t
        return way


def facts(
    picture: Composition,
    key: str,
    rows: Sequence[tuple[str, str]],
    lens: Lens,
    act: tuple[float, float],
    ink: str = "ink",
) -> None:
    """Large numbers with a word each; the first carries the accent. Beside the picture, or below it on a tall one."""
    at = places(picture)
    with picture.actor(f"facts-{key}", "words", faded(Way(*at.facts, here=act[0] <= 0), lens, *act)):
        for row, (answer, words) in enumerate(rows):
            y = row * at.apart
            style = "answer" if words_width(answer, "answer") < at.room - (0 if picture.is_wide else 160) else "title"
            picture.text(0, y, answer, style, ink=ink if row == 0 else "ink")
            if picture.is_wide:
                picture.text(0, y + 27, words, "read", ink="soft")
            else:
                picture.text(at.room, y, words, "read", anchor="end", ink="soft")
