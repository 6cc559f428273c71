"""The hand: outlines that look drawn with a marker, as SVG path data.

Every stroke takes a seed and gives the same bytes for the same seed, so that nothing moves between two frames unless it
was meant to. Corners miss their place by a pixel or two, edges bow a little, and a closed outline runs past its start.
What is drawn a thousand times should be straight: see `cells`.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import cos, hypot, pi, sin, sqrt
from zlib import crc32

Point = tuple[float, float]
Wobble = Callable[[], float]

LARGEST_MISS, LARGEST_BOW = 2.2, 2.4  # in units of the drawing: more looks careless, less looks printed
KEPT_STROKES = 4096  # outlines: a film is drawn again for each turn of a knob, most of it as it was


def wobble(seed: str) -> Wobble:
    """A source of numbers between -1 and 1, always the same ones for a seed.

    >>> first, again = wobble("bar"), wobble("bar")
    >>> first() == again() and -1 <= first() <= 1
    True
    """
    state = crc32(seed.encode())

    def draw() -> float:
        nonlocal state
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        return state / 0x80000000 - 1

    draw()
    return draw


def number(value: float) -> str:
    """A coordinate to a tenth, without needless digits.

    >>> number(12.04), number(3.25), number(-0.01)
    ('12', '3.2', '0')
    """
    text = f"{value:.1f}"
    return text[:-2].replace("-0", "0") if text.endswith(".0") else text


def _at(x: float, y: float) -> str:
    return f"{number(x)} {number(y)}"


def _edge(start: Point, end: Point, w: Wobble) -> str:
    """The rest of a stroke from start to end: a quadratic curve that bows a little to one side."""
    (x1, y1), (x2, y2) = start, end
    length = hypot(x2 - x1, y2 - y1) or 1.0
    bow = w() * min(LARGEST_BOW, length * 0.012)
    along = 0.5 + 0.15 * w()
    mx, my = x1 + (x2 - x1) * along, y1 + (y2 - y1) * along
    return f"Q{_at(mx - (y2 - y1) / length * bow, my + (x2 - x1) / length * bow)} {_at(x2, y2)}"


def _near(x: float, y: float, miss: float, w: Wobble) -> Point:
    return x + miss * w(), y + miss * w()


@lru_cache(KEPT_STROKES)
def rectangle(x: float, y: float, width: float, height: float, seed: str, radius: float = 0) -> str:
    """A rectangle whose corners miss a little and whose last stroke runs past its start.

    >>> rectangle(0, 0, 100, 40, "bar") == rectangle(0, 0, 100, 40, "bar")
    True
    """
    w = wobble(seed)
    miss = min(LARGEST_MISS, 0.3 * sqrt(max(0.0, min(width, height))))
    corners = [_near(*corner, miss, w) for corner in ((x, y), (x + width, y), (x + width, y + height), (x, y + height))]
    if radius:
        return _rounded(corners, min(radius, width / 2, height / 2), w)
    ends = [*corners[1:], _near(*corners[0], miss * 0.6, w)]
    starts = corners
    return f"M{_at(*corners[0])}" + "".join(_edge(a, b, w) for a, b in zip(starts, ends, strict=True))


def _rounded(corners: Sequence[Point], radius: float, w: Wobble) -> str:
    def toward(a: Point, b: Point) -> Point:
        share = radius / (hypot(b[0] - a[0], b[1] - a[1]) or 1.0)
        return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share

    parts = []
    for before, corner, after in zip((corners[-1], *corners[:-1]), corners, (*corners[1:], corners[0]), strict=True):
        start, end = toward(corner, before), toward(corner, after)
        parts.append((start, corner, end))
    path, here = f"M{_at(*parts[0][2])}", parts[0][2]
    for start, corner, end in (*parts[1:], parts[0]):
        path += _edge(here, start, w) + f"Q{_at(*corner)} {_at(*end)}"
        here = end
    return path


def line(x1: float, y1: float, x2: float, y2: float, seed: str) -> str:
    """One stroke between two points: a cubic that leans to one side, then to the other."""
    w = wobble(seed)
    length = hypot(x2 - x1, y2 - y1) or 1.0
    nx, ny = -(y2 - y1) / length, (x2 - x1) / length
    bow = min(LARGEST_BOW, length * 0.01)
    first, second = bow * w(), bow * w()
    c1 = (x1 + (x2 - x1) / 3 + nx * first, y1 + (y2 - y1) / 3 + ny * first)
    c2 = (x1 + (x2 - x1) * 2 / 3 + nx * second, y1 + (y2 - y1) * 2 / 3 + ny * second)
    start, end = _near(x1, y1, min(0.8, length * 0.02), w), _near(x2, y2, min(0.8, length * 0.02), w)
    return f"M{_at(*start)}C{_at(*c1)} {_at(*c2)} {_at(*end)}"


def underline(x: float, y: float, width: float, seed: str) -> str:
    """A quick stroke under a word: it climbs a little and ends where the hand lifts."""
    w = wobble(seed)
    climb = -min(4.0, width * 0.012) * (0.6 + 0.4 * w())
    c1, c2 = (x + width * 0.3, y + 1.5 * w()), (x + width * 0.7, y + climb + 2 * w())
    return f"M{_at(x, y)}C{_at(*c1)} {_at(*c2)} {_at(x + width, y + climb)}"


def polyline(points: Iterable[Point], seed: str, miss: float = 0.8) -> str:
    """One stroke through several points."""
    w = wobble(seed)
    near = [_near(*point, miss, w) for point in points]
    return f"M{_at(*near[0])}" + "".join(_edge(a, b, w) for a, b in pairwise(near))


def arrow_head(x1: float, y1: float, x2: float, y2: float, seed: str, size: float = 11) -> str:
    """The two short strokes at the end of a line that comes from (x1, y1)."""
    w = wobble(seed)
    length = hypot(x2 - x1, y2 - y1) or 1.0
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    wings = []
    for side in (1, -1):
        back, out = size * (1 + 0.12 * w()), size * 0.55 * (1 + 0.15 * w()) * side
        wings.append(_at(x2 - ux * back - uy * out, y2 - uy * back + ux * out))
    return f"M{wings[0]}L{_at(x2, y2)}L{wings[1]}"


def arc_arrow(x1: float, y1: float, x2: float, y2: float, lift: float, seed: str, size: float = 11) -> str:
    """A bent stroke with a head: `lift` is how far its middle stands off the straight line, to the left of its way."""
    w = wobble(seed)
    length = hypot(x2 - x1, y2 - y1) or 1.0
    off = 2 * lift * (1 + 0.06 * w())
    cx, cy = (x1 + x2) / 2 + (y2 - y1) / length * off, (y1 + y2) / 2 - (x2 - x1) / length * off
    return f"M{_at(x1, y1)}Q{_at(cx, cy)} {_at(x2, y2)}" + arrow_head(cx, cy, x2, y2, seed, size)


def circle(cx: float, cy: float, radius: float, seed: str) -> str:
    """A circle drawn in one go: not quite round, closed a little past its start."""
    w = wobble(seed)
    begin, quarter = -1.9 + 0.3 * w(), pi / 2
    radii = [radius * (1 + min(0.05, 1.4 / max(radius, 1)) * w()) for _ in range(5)]
    path, handle = "", 0.5523
    for step in range(4):
        a, b, ra, rb = begin + step * quarter, begin + (step + 1) * quarter, radii[step], radii[step + 1]
        ax, ay, bx, by = cx + ra * cos(a), cy + ra * sin(a), cx + rb * cos(b), cy + rb * sin(b)
        c1 = (ax - handle * ra * sin(a), ay + handle * ra * cos(a))
        c2 = (bx + handle * rb * sin(b), by - handle * rb * cos(b))
        path += (f"M{_at(ax, ay)}" if not step else "") + f"C{_at(*c1)} {_at(*c2)} {_at(bx, by)}"
    return path


def tick(x: float, y: float, size: float, seed: str) -> str:
    """A check mark standing on (x, y)."""
    return polyline(((x - size * 0.45, y - size * 0.4), (x, y), (x + size * 0.8, y - size)), seed)


def cross(x: float, y: float, size: float, seed: str) -> str:
    """Two strokes crossing at (x, y)."""
    half = size / 2
    return line(x - half, y - half, x + half, y + half, seed) + line(x + half, y - half, x - half, y + half, seed + "/")


def cells(boxes: Iterable[tuple[float, float, float, float]]) -> str:
    """Many small boxes (x, y, width, height) as one straight path: a thousand of them stay a few kilobytes.

    >>> cells([(0, 0, 9, 9), (10, 0, 9, 9)])
    'M0 0h9v9h-9zM10 0h9v9h-9z'
    """
    return "".join(f"M{_at(x, y)}h{number(w)}v{number(h)}h{number(-w)}z" for x, y, w, h in boxes)
