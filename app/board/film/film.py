"""A film: its length, its lens, its stops, and two compositions of the same actors."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from app.board.film.composition import Composition, Steps, running
from app.board.film.lens import Lens, Span
from engine.language.refusal import Refusal
from engine.language.units import digits_text, seconds_text

MOST_WORDS = 14  # of a caption: it is read while something moves
SLOWEST = 1.5  # a film is called slow motion from here on
MOST_TICKS = 600


@dataclass(frozen=True)
class Stop:
    """A moment at which a film may rest.

    begins        when the passage that leads here begins; its caption is shown from then on   [film seconds]
    t             when it ends                                                                 [film seconds]
    name          for the bar: one to three words
    caption       what happens on the way here, at most 14 words
    description   the picture at the stop for people who hear the page, with its numbers
    """

    begins: float
    t: float
    name: str
    caption: str
    description: str


@dataclass(frozen=True)
class Film:
    """What a scene shows, as a pure function of time. A composition is drawn when it is first asked for.

    scene    whose it is
    drawn    a composition by its form
    length   without rests, at 1x   [s]
    clock    the engine's time as words, empty where it stands for nothing
    slow     how much slower than life, as words
    ticks    film seconds at which a round moment of engine time is reached
    """

    scene: str
    title: str
    lens: Lens
    stops: tuple[Stop, ...]
    drawn: Callable[[str], Composition]
    clock: Steps
    slow: Steps
    ticks: tuple[float, ...]

    @cached_property
    def wide(self) -> Composition:
        return self.drawn("wide")

    @cached_property
    def tall(self) -> Composition:
        return self.drawn("tall")

    def composition(self, form: str) -> Composition:
        """The composition of this form."""
        return self.wide if form == "wide" else self.tall

    @property
    def length(self) -> float:
        return self.lens.length

    def moment(self, said: str) -> float:
        """A moment of the film from an address, or a Refusal that names the nearest there is."""
        try:
            t = float(said)
        except ValueError:
            t = float("nan")
        if 0 <= t <= self.length:
            return t
        rule = f"a moment of this film is a number of seconds from 0 to {digits_text(self.length, 4)}"
        near = "0" if not t > self.length else f"{self.length:g}"
        raise Refusal("t", said, rule, near)

    def stop_before(self, t: float) -> int:
        """The stop whose passage is under way, or at which the film stands."""
        return next((at for at, stop in enumerate(self.stops) if t <= stop.t + 1e-6), len(self.stops) - 1)


@dataclass(frozen=True)
class Clock:
    """How engine time is told.

    words   engine time -> words; empty for moments at which it means nothing
    tick    engine time between two marks under the bar; nothing: no marks
    real    whether engine time is in seconds, so that slow motion can be said
    """

    words: Callable[[float], str] = seconds_text
    tick: float = 0.0
    real: bool = True


@dataclass
class Script:
    """A film under way: passages one after another.

    >>> script = Script()
    >>> script.open("still", "Nothing moves.", "An empty board.")
    >>> script.passage("run", 2.0, "It runs.", "It has run.", engine=0.01)
    ((0.0, 0.0), (2.0, 1.0))
    >>> script.now, script.lens(1.0)
    (2.0, 0.005)
    """

    stops: list[Stop] = field(default_factory=list)
    points: list[tuple[float, float]] = field(default_factory=lambda: [(0.0, 0.0)])

    @property
    def now(self) -> float:
        """Where the film is.   [film seconds]"""
        return self.points[-1][0]

    @property
    def lens(self) -> Lens:
        """The lens so far."""
        return Lens(tuple(self.points) if len(self.points) > 1 else ((0.0, 0.0), (0.0, 0.0)))

    def open(self, name: str, caption: str, description: str) -> None:
        """The picture before anything has moved."""
        self.stops.append(Stop(0.0, 0.0, name, caption, description))

    def passage(
        self,
        name: str,
        seconds: float,
        caption: str,
        description: str,
        *,
        engine: float = 0.0,
        until: float | None = None,
    ) -> Span:
        """The next passage. Gives its span.

        engine   engine time that passes in it; nothing: the engine's clock stands
        until    or the engine time at its end
        """
        begins = self.now
        span = self.run(seconds, engine=engine, until=until)
        self.stops.append(Stop(begins, self.now, name, caption, description))
        return span

    def run(self, seconds: float, *, engine: float = 0.0, until: float | None = None) -> Span:
        """Time that passes before the next stop: the pace inside a passage may change."""
        t, e = self.points[-1]
        self.points.append((round(t + seconds, 3), e + engine if until is None else until))
        return ((t, 0.0), (self.now, 1.0))

    def stop(self, name: str, caption: str, description: str) -> None:
        """The stop of what ran since the last one."""
        self.stops.append(Stop(self.stops[-1].t if self.stops else 0.0, self.now, name, caption, description))

    def film(self, scene: str, title: str, draw: Callable[[Composition], None], clock: Clock) -> Film:
        """The film, each of its compositions drawn by the same function."""
        lens, about = self.lens, self.stops[0].description

        def drawn(form: str) -> Composition:
            composition = Composition(scene, form, title, about)
            draw(composition)
            return composition

        return Film(
            scene=scene,
            title=title,
            lens=lens,
            stops=tuple(self.stops),
            drawn=drawn,
            clock=running(lens.length, lambda t: clock.words(lens(t)), (stop.t for stop in self.stops)),
            slow=running(lens.length, lambda t: _slow(lens.rate(t)) if clock.real else ""),
            ticks=_ticks(lens, clock.tick),
        )


def _slow(rate: float) -> str:
    """How much slower than life, where it is slower and not standing."""
    return f"÷ {digits_text(1 / rate)}" if 0 < rate < 1 / SLOWEST else ""


def _ticks(lens: Lens, every: float) -> tuple[float, ...]:
    end = lens(lens.length)
    if not every or end / every > MOST_TICKS:
        return ()
    return tuple(round(lens.ends(every * at), 3) for at in range(1, int(end / every + 1e-9) + 1))
