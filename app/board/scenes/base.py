"""What a scene is: a function of its knobs that gives frames. Everything a player does is choosing a frame.

A frame is a drawing with a caption and a description. Shapes that a viewer should see move carry a key: the player
slides a key from where one frame has it to where the next one has it. Nothing in a frame depends on how it was reached.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import ClassVar

from app.board.film.film import Film, Stop
from app.board.linked import LinkedFigure
from app.board.pen import number
from engine.asking.question import Question
from engine.language.formula import Term
from engine.language.inputs import Amount, Choice, read_all

WIDTH, HEIGHT = 720, 400  # of every frame: 16 units of text are then 21 pixels on a projector of 1024x768
BESIDE = ("frame", "answer")  # in the query of a scene, but no knobs
MOST_WORDS = 20

Values = Mapping[str, float]  # of the knobs by their names: a number, or the place of an option, from 0


@dataclass(frozen=True)
class Frame:
    """One picture of a scene.

    name          for the scrub bar: two or three words
    caption       what happens here, at most 20 words
    description   the same for people who hear the page: what is where, with its numbers
    """

    name: str
    caption: str
    description: str
    figure: "SceneFigure | Still"


@dataclass(frozen=True)
class Still:
    """A moment of a film, as a picture of its own.

    name    for the ids on a page that holds several
    stop    whose description it carries
    """

    film: Film
    t: float
    name: str
    stop: Stop

    keys: ClassVar[list[str]] = []  # nothing in it slides to the next frame: the film moves by itself

    @property
    def height(self) -> float:
        return self.film.wide.height

    def svg(self) -> str:
        return self.film.wide.at(self.t, self.name, self.stop.description, still=True)

    def __html__(self) -> str:
        return self.svg()


def stills(film: Film) -> tuple[Frame, ...]:
    """The stops of a film as frames."""
    return tuple(
        Frame(stop.name, stop.caption, stop.description, Still(film, stop.t, f"{film.scene}-{at}", stop))
        for at, stop in enumerate(film.stops)
    )


@dataclass(frozen=True)
class Misconception:
    """Something people say, and what is so instead."""

    said: str
    instead: str


@dataclass(frozen=True)
class Scene:
    """A scene: what it is about, what one may turn, and its frames as a pure function of that.

    name            in the address
    sentence        the one thing to remember
    frames          knob values -> frames; may refuse values that fit no picture
    question        knob values -> what to predict
    numbers         knob values -> the numbers behind the pictures, each with its working
    misconceptions  knob values -> what it puts right
    also            further pages that belong to it: words and address
    real            the demo that does what it draws; empty where there is none
    film            knob values -> the film whose stops the frames are; none: a row of frames
    proof           name of the stop whose passage shows the answer to the question; empty: the last
    """

    name: str
    title: str
    sentence: str
    knobs: tuple[Amount | Choice, ...]
    frames: Callable[[Values], tuple[Frame, ...]]
    question: Callable[[Values], Question]
    numbers: Callable[[Values], tuple[Term, ...]]
    misconceptions: Callable[[Values], tuple[Misconception, ...]]
    also: tuple[tuple[str, str], ...] = ()
    real: str = ""
    film: Callable[[Values], Film] | None = None
    proof: str = ""

    @property
    def beside(self) -> tuple[str, ...]:
        """What stands in its query and is no knob: of a film also the moment, and the form that is seen."""
        return (*BESIDE, "t", "form") if self.film else BESIDE

    def values(self, given: Mapping[str, str]) -> dict[str, float]:
        """The knobs' values of a query, defaults where it says nothing; all that is wrong with it in one Refusal."""
        turned = {name: text for name, text in given.items() if name not in self.beside}
        read = read_all(self.knobs, turned, "this scene has no such knob; it has {names}")
        return {
            knob.name: float(knob.place(read[knob.name]) if isinstance(knob, Choice) else read[knob.name])
            for knob in self.knobs
        }


class SceneFigure(LinkedFigure):
    """A frame's drawing. Its hand is the scene's: what two frames share looks the same in both.

    scene   whose frame it is
    frame   which one, for the ids on a page that holds all of them
    """

    def __init__(self, scene: str, frame: int, title: str, description: str, height: float = HEIGHT):
        super().__init__(f"{scene}-{frame}", WIDTH, height, title, description, "scene-drawing")
        self.scene = scene
        self.keys: list[str] = []

    def _seed(self, key: str) -> str:
        return f"{self.scene}/{key}" if key else super()._seed(key)

    @contextmanager
    def at(self, key: str, x: float, y: float, css: str = "") -> Iterator[None]:
        """What is drawn inside has its origin at (x, y) and moves there from where the frame before had this key."""
        if key in self.keys:
            raise ValueError(f"the key {key} stands twice in one frame")
        self.keys.append(key)
        starts = [(drawn, len(drawn)) for drawn in (self._shapes, self._words)]
        yield
        for layer, (drawn, start) in zip(("shape", "word"), starts, strict=True):
            if len(drawn) > start:
                opened = (
                    f'<g class="{f"mover {css}".strip()}" data-key="{escape(key)}-{layer}"'
                    f' transform="translate({number(x)} {number(y)})">'
                )
                drawn[start:] = [opened, *drawn[start:], "</g>"]

    @contextmanager
    def tip(self, words: str) -> Iterator[None]:
        """Why it is so: shown when one points at, or reaches by keyboard, what is drawn inside."""
        start = len(self._shapes)
        yield
        self._shapes[start:] = [f'<g class="tip"><title>{escape(words)}</title>', *self._shapes[start:], "</g>"]
