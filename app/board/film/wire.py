"""A wire of a picture: what moves between two places moves on it."""

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from math import hypot

from app.board.pen import Point


@dataclass(frozen=True)
class Wire:
    """A line with corners.

    >>> wire = Wire("out", ((0, 0), (10, 0), (10, 30)))
    >>> wire.at(0.5), wire.corners
    ((10.0, 10.0), (0.0, 0.25, 1.0))
    """

    name: str
    points: tuple[Point, ...]

    @cached_property
    def _lengths(self) -> tuple[float, ...]:
        """From its begin to each corner."""
        return tuple(accumulate((hypot(x - u, y - v) for (u, v), (x, y) in pairwise(self.points)), initial=0.0))

    @cached_property
    def corners(self) -> tuple[float, ...]:
        """Shares of its length at which it turns, its ends included."""
        whole = self._lengths[-1] or 1.0
        return tuple(length / whole for length in self._lengths)

    def at(self, u: float) -> Point:
        """The place after a share of its length."""
        for (start, end), (a, b) in zip(pairwise(self.corners), pairwise(self.points), strict=True):
            if u <= end:
                share = (u - start) / (end - start) if end > start else 0.0
                return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share
        return self.points[-1]

    def distance(self, x: float, y: float) -> float:
        """Of a place from it."""
        return min(_distance(x, y, *pair) for pair in pairwise(self.points))


def _distance(x: float, y: float, a: Point, b: Point) -> float:
    dx, dy = b[0] - a[0], b[1] - a[1]
    along = ((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy or 1.0)
    u = min(max(along, 0.0), 1.0)
    return hypot(x - a[0] - u * dx, y - a[1] - u * dy)
