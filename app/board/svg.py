"""A drawing: shapes in, one <svg> out. It knows classes and patterns, never colours: those are tokens of the style sheet.

    figure = Figure("memory", 600, 200, "What one GPU holds", "Stage 0 holds 34 GB of 80.")
    figure.rectangle(10, 10, 300, 40, fill="weights")
    figure.text(320, 38, "34 GB", "number")

and a template writes {{ figure }}. Words lie above all shapes. `ink` colours a stroke or a text, `fill` a surface; both are names of tokens.
"""

from collections.abc import Iterable
from functools import lru_cache
from html import escape

from app.board import pen
from app.board.pen import Point, number

AXES = ("tp", "cp", "ep", "pp", "dp")
OWNERS = ("owner-a", "owner-b", "owner-c", "owner-d")
INKS = ("ink", "soft", "rule", "ghost", "remark", "good", "bad", "letter", *AXES)
SOLID = {
    "board",
    "paper",
    "plain",
    "ink",
    "weights",
    "activations",
    "buffers",
    "f",
    "b",
    "w",
    *AXES,
    *(f"{axis}-pale" for axis in AXES),
    *OWNERS,
    "sweep",
}
HATCH = "M-3 15L15 -3M-3 8.8L8.8 -3M3.2 15L15 3.2"
PATTERNS = {  # side of the tile, and the strokes or dots on it
    "gradients": (12.0, HATCH),
    "optimizer": (8.0, "M2 2.2h.01M6 6h.01"),
    "waiting": (12.0, HATCH),
    "hatched": (12.0, HATCH),  # over an owner's colour: its gradients
    "dotted": (8.0, "M2 2.2h.01M6 6h.01"),  # over an owner's colour: its optimizer state
    "overflow": (12.0, "M-3 -3L15 15M-3 3.2L8.8 15M3.2 -3L15 8.8"),
}
STROKES = {"normal": "", "thin": " pen-thin", "thick": " pen-thick", "marker": " pen-marker", "dashed": " pen-dashed"}
TEXTS = ("title", "answer", "caption", "remark", "read", "small", "number", "cell")
ANCHORS = {"start": "", "middle": ' text-anchor="middle"', "end": ' text-anchor="end"'}


class Figure:
    """A drawing under way.

    name         unique on its page: ids begin with it, and it seeds the hand
    width        of the drawing's own units; the page scales it
    height       likewise
    title        what it shows, for people who hear the page; empty: an ornament, left out of the page's text
    description  what can be read off it, in a sentence or two
    css          further classes of the <svg>
    """

    def __init__(self, name: str, width: float, height: float, title: str = "", description: str = "", css: str = ""):
        self.name, self.width, self.height = name, width, height
        self.title, self.description, self.css = title, description, css
        self._shapes: list[str] = []
        self._words: list[str] = []
        self._patterns: dict[str, None] = {}
        self._count = 0

    def rectangle(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str = "",
        ink: str = "ink",
        stroke: str = "normal",
        radius: float = 0,
        key: str = "",
    ) -> None:
        """A drawn box. `key` keeps its wobble when the number of shapes before it changes."""
        self.path(pen.rectangle(x, y, width, height, self._seed(key), radius), fill=fill, ink=ink, stroke=stroke)

    def line(
        self, x1: float, y1: float, x2: float, y2: float, *, ink: str = "ink", stroke: str = "normal", key: str = ""
    ) -> None:
        """A stroke between two points."""
        self.path(pen.line(x1, y1, x2, y2, self._seed(key)), ink=ink, stroke=stroke)

    def arrow(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        *,
        ink: str = "ink",
        stroke: str = "normal",
        lift: float = 0,
        size: float = 11,
        key: str = "",
    ) -> None:
        """A stroke with a head at its end, bent by `lift`."""
        seed = self._seed(key)
        straight = pen.line(x1, y1, x2, y2, seed) + pen.arrow_head(x1, y1, x2, y2, seed, size)
        self.path(pen.arc_arrow(x1, y1, x2, y2, lift, seed, size) if lift else straight, ink=ink, stroke=stroke)

    def underline(self, x: float, y: float, width: float, *, ink: str = "remark", key: str = "") -> None:
        """A marker stroke under a word."""
        self.path(pen.underline(x, y, width, self._seed(key)), ink=ink, stroke="marker")

    def circle(
        self,
        cx: float,
        cy: float,
        radius: float,
        *,
        fill: str = "",
        ink: str = "ink",
        stroke: str = "normal",
        key: str = "",
    ) -> None:
        """A drawn circle."""
        self.path(pen.circle(cx, cy, radius, self._seed(key)), fill=fill, ink=ink, stroke=stroke)

    def polyline(
        self, points: Iterable[Point], *, fill: str = "", ink: str = "ink", stroke: str = "normal", key: str = ""
    ) -> None:
        """One stroke through several points."""
        self.path(pen.polyline(points, self._seed(key)), fill=fill, ink=ink, stroke=stroke)

    def tick(self, x: float, y: float, size: float, *, ink: str = "good", key: str = "") -> None:
        """A check mark."""
        self.path(pen.tick(x, y, size, self._seed(key)), ink=ink, stroke="thick")

    def cross(self, x: float, y: float, size: float, *, ink: str = "bad", key: str = "") -> None:
        """Two crossing strokes."""
        self.path(pen.cross(x, y, size, self._seed(key)), ink=ink, stroke="thick")

    def cells(
        self,
        boxes: Iterable[tuple[float, float, float, float]],
        *,
        fill: str = "",
        ink: str = "ink",
        stroke: str = "thin",
    ) -> None:
        """Many small straight boxes in one path."""
        self.path(pen.cells(boxes), fill=fill, ink=ink, stroke=stroke)

    def path(self, data: str, *, fill: str = "", ink: str = "ink", stroke: str = "normal") -> None:
        """Any path data; the named shapes all end here. An empty `ink` draws no outline."""
        css = f"pen{STROKES[stroke]}{self._ink(ink)}" if ink else "bare"
        if fill in PATTERNS:
            self._patterns[fill] = None
            paint = f' fill="url(#{self.name}-{fill})"'
        elif fill in SOLID:
            css, paint = f"{css} fill-{fill}", ""
        elif fill:
            raise ValueError(f"no fill is called {fill}; there are {', '.join(sorted(SOLID | set(PATTERNS)))}")
        else:
            paint = ' fill="none"'
        self._shapes.append(f'<path class="{css}"{paint} d="{data}"/>')

    def text(
        self, x: float, y: float, words: str, style: str = "read", *, anchor: str = "start", ink: str = "ink"
    ) -> None:
        """A line of text on its base line. `style` is one of TEXTS, which the style sheet gives a face and a size."""
        if style not in TEXTS:
            raise ValueError(f"no text style is called {style}; there are {', '.join(TEXTS)}")
        self._words.append(
            f'<text class="t-{style}{self._ink(ink)}" x="{number(x)}" y="{number(y)}"{ANCHORS[anchor]}>{escape(words)}</text>'
        )

    def _ink(self, ink: str) -> str:
        if ink not in INKS:
            raise ValueError(f"no ink is called {ink}; there are {', '.join(INKS)}")
        return "" if ink == "ink" else f" ink-{ink}"

    def _seed(self, key: str) -> str:
        self._count += 1
        return f"{self.name}/{key or self._count}"

    def _definitions(self) -> str:
        tiles = (
            f'<pattern id="{self.name}-{fill}" class="pattern-{fill}" patternUnits="userSpaceOnUse"'
            f' width="{number(PATTERNS[fill][0])}" height="{number(PATTERNS[fill][0])}">'
            f'<rect width="100%" height="100%"/><path d="{PATTERNS[fill][1]}"/></pattern>'
            for fill in self._patterns
        )
        return f"<defs>{''.join(tiles)}</defs>" if self._patterns else ""

    def svg(self) -> str:
        """The whole drawing as text.

        >>> figure = Figure("one", 40, 20, "A line", "From left to right.")
        >>> figure.line(0, 10, 40, 10)
        >>> figure.svg()[:80]
        '<svg class="drawing" viewBox="0 0 40 20" role="img" aria-labelledby="one-title o'
        """
        return self._framed(f'<g class="shapes">{"".join(self._shapes)}</g>{"".join(self._words)}', self.description)

    def _framed(self, drawn: str, description: str) -> str:
        css = f"drawing {self.css}".strip()
        box = f'viewBox="0 0 {number(self.width)} {number(self.height)}"'
        inside = f"{self._definitions()}{drawn}</svg>"
        if not self.title:
            return f'<svg class="{css}" {box} aria-hidden="true">{inside}'
        return (
            f'<svg class="{css}" {box} role="img" aria-labelledby="{self.name}-title {self.name}-desc">'
            f'<title id="{self.name}-title">{escape(self.title)}</title>'
            f'<desc id="{self.name}-desc">{escape(description)}</desc>{inside}'
        )

    def __html__(self) -> str:
        return self.svg()


@lru_cache
def swatch(kind: str) -> Figure:
    """A small field of a fill, to stand beside its name in a legend.

    >>> "fill-weights" in swatch("weights").svg()
    True
    """
    figure = Figure(f"swatch-{kind}", 30, 24, css="swatch")
    figure.rectangle(2, 2, 26, 20, fill=kind, radius=6 if kind == "activations" else 0)
    return figure
