"""A composition: one way of laying a film out, wide or tall. A still layer, and actors above it that follow their tracks.

Shapes and words that are drawn outside an actor are still. Inside one they have their origin where its track puts it.
Order counts: what is drawn later lies above; the words of the still layer lie above everything.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from app.board.film.track import TIME_PLACES, Track, Way
from app.board.film.wire import Wire
from app.board.linked import LinkedFigure
from app.board.pen import Point, number

FORMS = ("wide", "tall")
WIDE, TALL = (720.0, 400.0), (360.0, 530.0)  # of a composition: 16 units are 21 pixels on a projector of 1024x768
SAMPLES = 12  # a second: how often a running number is looked at

Steps = tuple[tuple[float, str], ...]  # from which moment of the film on, which words


def running(length: float, words: Callable[[float], str], also: Iterable[float] = ()) -> Steps:
    """The words of every moment as steps: what is shown from when on.

    also   moments at which they are looked at besides: stops, where a film rests and its numbers are read   [s]

    >>> running(1.0, lambda t: f"{t:.0f}")
    ((0.0, '0'), (0.583, '1'))
    >>> running(1.0, lambda t: f"{t:.0f}", also=[0.51])
    ((0.0, '0'), (0.51, '1'))
    """
    found: list[tuple[float, str]] = []
    for t in sorted({*(at / SAMPLES for at in range(int(length * SAMPLES) + 1)), *also, length}):
        said = words(t)
        if not found or found[-1][1] != said:
            found.append((round(t, TIME_PLACES), said))
    return tuple(found)


def words_at(steps: Steps, t: float) -> str:
    """What is shown at a moment."""
    return next((words for since, words in reversed(steps) if since <= t), "")


@dataclass(frozen=True)
class Flight:
    """Bytes on a wire: what the actor of this key is while they move.

    start, end   film seconds
    """

    wire: Wire
    start: float
    end: float
    n_bytes: float


@dataclass(frozen=True)
class Actor:
    """Something that moves: drawn once, with a track.

    key       its name in the film, the same in both compositions
    kind      what sort of thing it is: chip, slice, sweep, playhead …
    window    width and height of what uncovers it; none: it is all there
    why       the reason, for those who ask the mark; empty: nothing to ask
    drawing   its shapes and words as SVG, around its origin
    """

    key: str
    kind: str
    track: Track
    drawing: str
    flights: tuple[Flight, ...] = ()
    window: Point | None = None
    why: str = ""

    def svg(self, place: int, t: float) -> str:
        """The actor as it stands at a moment of the film."""
        now = self.track.at(t)
        scale = "" if now["wide"] == now["tall"] == 1 else f" scale({_exact(now['wide'])} {_exact(now['tall'])})"
        gone = ' display="none"' if now["opacity"] <= 0 else ""
        faded = f' opacity="{_exact(now["opacity"])}"' if 0 < now["opacity"] < 1 else ""
        drawn = self.drawing
        if self.window:
            width, height = self.window
            drawn = f'<svg width="{_exact(width * now["shown"])}" height="{number(height)}">{drawn}</svg>'
        asked = f' data-why="{escape(self.why)}"' if self.why else ""
        where = f'transform="translate({_exact(now["x"])} {_exact(now["y"])}){scale}"'
        return f'<g class="actor actor-{self.kind}" data-actor="{place}"{asked} {where}{faded}{gone}>{drawn}</g>'


def _exact(value: float) -> str:
    """A number as the page writes it: to a thousandth."""
    return f"{value:.3f}".rstrip("0").rstrip(".") if value else "0"


@dataclass(frozen=True)
class Running:
    """Words that change, at a fixed place."""

    key: str
    steps: Steps
    opened: str

    def svg(self, place: int, t: float) -> str:
        return f'{self.opened} data-words="{place}">{escape(words_at(self.steps, t))}</text>'


class Composition(LinkedFigure):
    """A composition under way.

    scene   whose film it is
    form    wide or tall

    >>> picture = Composition("one", "wide", "A box", "One box moves.")
    >>> with picture.actor("box", "box", Way(0, 0).go(((0, 0), (2, 1)), 10, 0)):
    ...     picture.rectangle(0, 0, 20, 20)
    >>> 'data-actor="0" transform="translate(5 0)"' in picture.at(1.0)
    True
    """

    def __init__(self, scene: str, form: str, title: str, description: str):
        width, height = WIDE if form == "wide" else TALL
        super().__init__(f"{scene}-{form}", width, height, title, description, f"film-drawing film-{form}")
        self.scene, self.form = scene, form
        self.actors: list[Actor] = []
        self._keys: set[str] = set()
        self.words: list[Running] = []
        self.wires: dict[str, Wire] = {}

    @property
    def is_wide(self) -> bool:
        return self.form == "wide"

    @contextmanager
    def actor(
        self,
        key: str,
        kind: str,
        way: Way,
        *,
        flights: Sequence[Flight] = (),
        window: Point | None = None,
        why: str = "",
    ) -> Iterator[None]:
        """What is drawn inside follows the way."""
        if key in self._keys:
            raise ValueError(f"the actor {key} stands twice in one film")
        self._keys.add(key)
        shapes, words = self._shapes, self._words
        self._shapes, self._words = [], []
        yield
        drawing = "".join((*self._shapes, *self._words))
        self._shapes, self._words = shapes, words
        self.actors.append(Actor(key, kind, way.track(), drawing, tuple(flights), window, why))

    def wire(self, name: str, points: Sequence[Point], *, ink: str = "rule", stroke: str = "normal") -> Wire:
        """A drawn wire, for something to ride on. One of the same name is drawn once."""
        if name not in self.wires:
            self.wires[name] = Wire(name, tuple(points))
            for at, (start, end) in enumerate(pairwise(points)):
                self.line(*start, *end, ink=ink, stroke=stroke, key=f"wire-{name}-{at}")
        return self.wires[name]

    def runs(
        self,
        key: str,
        x: float,
        y: float,
        steps: Steps,
        style: str = "number",
        *,
        anchor: str = "start",
        ink: str = "ink",
    ) -> None:
        """Words that change: the steps of `running`, or any."""
        words, self._words = self._words, []
        self.text(x, y, "", style, anchor=anchor, ink=ink)
        opened, self._words = self._words[0].removesuffix("></text>"), words
        self.words.append(Running(key, steps, opened))

    @contextmanager
    def moved(self, dx: float, dy: float) -> Iterator[None]:
        """What is drawn inside stands so much further: to give an actor another origin than its drawing's."""
        starts = [(drawn, len(drawn)) for drawn in (self._shapes, self._words)]
        yield
        for drawn, start in starts:
            if len(drawn) > start:
                drawn[start:] = [f'<g transform="translate({number(dx)} {number(dy)})">', *drawn[start:], "</g>"]

    @contextmanager
    def why(self, words: str) -> Iterator[None]:
        """The reason of something still, for those who ask it."""
        start = len(self._shapes)
        yield
        self._shapes[start:] = [f'<g data-why="{escape(words)}">', *self._shapes[start:], "</g>"]

    def _seed(self, key: str) -> str:
        return f"{self.scene}/{key}" if key else super()._seed(key)

    def at(self, t: float, name: str = "", description: str = "", *, still: bool = False) -> str:
        """The whole picture at a moment of the film, as text.

        name          for its ids, where a page shows the same film more than once
        description   what is told of it, where it is shown by itself
        still         nothing will move it: what cannot be seen is left out
        """
        shapes = f'<g class="shapes">{"".join(self._shapes)}</g>'
        there = (pair for pair in enumerate(self.actors) if not still or pair[1].track.at(t)["opacity"] > 0)
        actors = "".join(actor.svg(place, t) for place, actor in there)
        words = "".join(running.svg(place, t) for place, running in enumerate(self.words))
        drawn = f'{shapes}<g class="actors">{actors}</g>{"".join(self._words)}{words}'
        text = self._framed(drawn, description or self.description)
        text = text.replace(f"{self.name}-", f"{name}-") if name else text
        return text.replace(self.css, "scene-drawing", 1) if still else text

    def svg(self) -> str:
        """The picture with which the film opens."""
        return self.at(0.0)
