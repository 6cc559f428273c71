"""Scenes made ready to be shown: all frames for a setting of the knobs, kept for the settings asked for last."""

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlencode

from markupsafe import Markup

from app.board.film.composition import FORMS
from app.board.film.data import film_data
from app.board.film.film import Film
from app.board.film.ticks import ticks_figure
from app.board.scenes import SCENES, Frame, Misconception, Scene
from app.board.scenes.base import stills
from app.board.svg import Figure
from app.web.beside import Said, dealt
from engine.asking.grade import Verdict, graded
from engine.asking.question import Question
from engine.language.choice import one_of
from engine.language.formula import Term
from engine.language.inputs import Amount, texts_of
from engine.language.refusal import Refusal

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0)
KEPT_SCENES = 48  # a film is some megabytes of tracks


@dataclass(frozen=True)
class Stage:
    """All frames of a scene for one setting of its knobs, and what is said about them.

    film   whose stops they are; none: a row of frames
    """

    film: Film | None
    frames: tuple[Frame, ...]
    question: Question
    numbers: tuple[Term, ...]
    misconceptions: tuple[Misconception, ...]


@dataclass(frozen=True)
class SceneView:
    """Everything a scene's page shows. `stage` is missing where the knobs fit no picture.

    says   what is wrong with the query, a sentence each: they stand where the picture would
    said   the same dealt out, for the knobs
    forms  of a film, the compositions that are sent: a page that sees one asks for that one
    """

    scene: Scene
    state: Mapping[str, str]
    at: int
    t: float
    stage: Stage | None
    says: tuple[str, ...]
    said: Said
    verdict: Verdict | None
    forms: tuple[str, ...] = FORMS

    def query(self, **changes: object) -> str:
        """This page's query with something changed."""
        here = {"t": f"{self.t:g}"} if self.film and "frame" not in changes else {"frame": self.at}
        return urlencode({**self.state, **here, **changes})

    @property
    def film(self) -> Film | None:
        return self.stage.film if self.stage else None

    @property
    def film_data(self) -> str:
        """The film for the script, as JSON."""
        return Markup(film_data(self.film, self.forms) if self.film else "")

    @property
    def ticks(self) -> Figure | str:
        """Round moments of the engine's time under the bar: they spread where the film is slow."""
        return ticks_figure(self.scene.name, self.film) if self.film and self.film.ticks else ""

    def picture(self, form: str) -> Markup:
        """A composition of the film, wide or tall, at its moment."""
        return Markup(self.film.composition(form).at(self.t) if self.film else "")

    def clip(self, form: str) -> Markup:
        """The same on a page that may show several: with ids of its own."""
        name = f"{self.scene.name}-clip-{self.at}-{form}"
        return Markup(self.film.composition(form).at(self.t, name) if self.film else "")

    @property
    def proof(self) -> int:
        """The stop of the film whose passage shows the answer to the question."""
        names = [stop.name for stop in self.film.stops] if self.film else []
        return names.index(self.scene.proof) if self.scene.proof in names else len(names) - 1

    @property
    def speeds(self) -> tuple[float, ...]:
        return SPEEDS

    @property
    def before(self) -> int:
        return max(0, self.at - 1)

    @property
    def after(self) -> int:
        return min(len(self.stage.frames) - 1, self.at + 1) if self.stage else 0


def staged(scene: Scene, values: Mapping[str, float]) -> Stage:
    """The frames and words of a scene for these values. Pure, so kept for the settings asked for last."""
    return _staged(scene.name, tuple(values.items()))


@lru_cache(maxsize=KEPT_SCENES)
def _staged(name: str, values: tuple[tuple[str, float], ...]) -> Stage:
    scene, given = SCENES[name], dict(values)
    film = scene.film(given) if scene.film else None
    frames = stills(film) if film else scene.frames(given)
    return Stage(film, frames, scene.question(given), scene.numbers(given), scene.misconceptions(given))


@contextmanager
def undisturbed() -> Iterator[None]:
    """While a film is drawn nobody looks for rings of garbage: it is many thousand small tuples, none of them in a ring,
    and looking through all that are kept takes longer than drawing one."""
    looked = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looked:
            gc.enable()


def place(at: str, count: int, field: str = "frame") -> int:
    """A place that exists, or a Refusal.

    >>> place("2", 4)
    2
    >>> place("4", 4)
    Traceback (most recent call last):
    engine.language.refusal.Refusal: frame = 4: there are 4, counted from 0; the nearest that works: 3
    """
    if count == 0:
        raise Refusal(field, at, "there are none")
    known = Amount(field, field, 0, 0, count - 1, said=f"there are {count}, counted from 0")
    return int(known.read(at))


def view_of(scene: Scene, given: Mapping[str, str]) -> SceneView:
    """The view model of a query: knobs, frame and prediction are in it."""
    state = texts_of(scene.knobs, given)
    try:
        found = staged(scene, scene.values(given))
    except Refusal as refusal:
        return SceneView(scene, state, 0, 0.0, None, refusal.sentences, dealt(refusal, state), None)
    verdict = graded(found.question, given["answer"]) if given.get("answer", "").strip() else None
    try:
        at, t = moment_of(found, given)
        return SceneView(scene, state, at, t, found, (), Said(), verdict, _forms(given))
    except Refusal as refusal:  # the scene is there all the same: its first frame, and why it is not the one asked for
        return SceneView(scene, state, 0, 0.0, found, refusal.sentences, dealt(refusal, state), verdict)


def moment_of(stage: Stage, given: Mapping[str, str]) -> tuple[int, float]:
    """The frame that is asked for, and the moment of a film: by its seconds, or by the stop it stands at; or a Refusal."""
    if stage.film and "t" in given:
        t = stage.film.moment(given["t"])
        return stage.film.stop_before(t), t
    at = place(given.get("frame", "0"), len(stage.frames))
    return at, stage.film.stops[at].t if stage.film else 0.0


def _forms(given: Mapping[str, str]) -> tuple[str, ...]:
    form = given.get("form", "")
    return (one_of("form", form, FORMS),) if form else FORMS
