"""The lens of a film: which moment of the engine's time a moment of the film shows.

Screen time is what a viewer waits; engine time is what the step takes. Between two points the lens is straight, it
never runs backwards, and it is level where the film explains something and the engine's clock stands.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise

Span = tuple[tuple[float, float], ...]  # moments of a film with the share of a way done by then, from 0 to 1


def plain(start: float, end: float) -> Span:
    """A way at one pace, both in film seconds.

    >>> plain(1, 3)
    ((1, 0.0), (3, 1.0))
    """
    return ((start, 0.0), (end, 1.0))


@dataclass(frozen=True)
class Lens:
    """Film seconds to engine time.

    points   (film seconds, engine time), both never falling; the first is at 0 s

    >>> lens = Lens(((0, 0), (2, 0), (4, 10), (5, 20)))
    >>> lens(3), lens.rate(3), lens.begins(0), lens.ends(15)
    (5.0, 5.0, 2.0, 4.5)
    """

    points: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        for (t, e), (u, f) in pairwise(self.points):
            if u < t or f < e:
                raise ValueError(f"a lens runs backwards from ({t}, {e}) to ({u}, {f})")

    @property
    def length(self) -> float:
        """Of the film.   [s]"""
        return self.points[-1][0]

    def __call__(self, t: float) -> float:
        """Engine time at a moment of the film."""
        (t0, e0), (t1, e1) = self._piece(t)
        return e0 + (e1 - e0) * (min(max(t, t0), t1) - t0) / (t1 - t0) if t1 > t0 else float(e1)

    def rate(self, t: float) -> float:
        """Engine time that passes in a second of film; nothing where it stands."""
        (t0, e0), (t1, e1) = self._piece(t)
        return (e1 - e0) / (t1 - t0) if t1 > t0 else 0.0

    def _piece(self, t: float) -> tuple[tuple[float, float], tuple[float, float]]:
        at = bisect_right(self.points, t, key=lambda point: point[0])
        at = min(max(at, 1), len(self.points) - 1)
        return self.points[at - 1], self.points[at]

    def begins(self, e: float) -> float:
        """The last moment of the film at which the engine's clock shows e: what starts then starts here.   [s]"""
        at = bisect_right(self.points, e, key=lambda point: point[1])
        return self._between(at, e)

    def ends(self, e: float) -> float:
        """The first moment at which it shows e: what ends then ends here.   [s]"""
        at = bisect_left(self.points, e, key=lambda point: point[1])
        return self._between(at, e)

    def _between(self, at: int, e: float) -> float:
        if at == 0:
            return self.points[0][0]
        if at == len(self.points):
            return self.length
        (t0, e0), (t1, e1) = self.points[at - 1], self.points[at]
        return t0 + (t1 - t0) * (e - e0) / (e1 - e0)

    def span(self, start: float, end: float) -> Span:
        """The way of what the engine does from start to end, with a point at each break of the lens between them.

        >>> Lens(((0, 0), (4, 10), (5, 20))).span(5, 20)
        ((2.0, 0.0), (4, 0.3333333333333333), (5.0, 1.0))
        """
        if end <= start:
            return plain(self.ends(end), self.begins(end))
        breaks = [(t, e) for t, e in self.points if start < e < end]
        return (
            (self.begins(start), 0.0),
            *((t, (e - start) / (end - start)) for t, e in breaks),
            (self.ends(end), 1.0),
        )
