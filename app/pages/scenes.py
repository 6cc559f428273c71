"""Scenes: pages whose pictures move. Every frame has an address; the player only chooses one."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from app.board.scenes import SCENES, Frame, Misconception, Question, Scene, Switch, scene_named
from app.board.scenes.base import knob_text
from app.grading import Verdict, graded
from app.web import page, part
from engine.formula import Term
from engine.refusal import Refusal

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0)
KEPT_SCENES = 256


@dataclass(frozen=True)
class Stage:
    """All frames of a scene for one setting of its knobs, and what is said about them."""

    frames: tuple[Frame, ...]
    question: Question
    numbers: tuple[Term, ...]
    misconceptions: tuple[Misconception, ...]


@dataclass(frozen=True)
class SceneView:
    """Everything a scene's page shows. `stage` is missing where the knobs fit no picture; `refusals` then say why."""

    scene: Scene
    state: Mapping[str, str]
    at: int
    stage: Stage | None
    refusals: Mapping[str, str]
    verdict: Verdict | None

    def query(self, **changes: object) -> str:
        """This page's query with something changed."""
        return urlencode({**self.state, "frame": self.at, **changes})

    @property
    def speeds(self) -> tuple[float, ...]:
        return SPEEDS

    @property
    def before(self) -> int:
        return max(0, self.at - 1)

    @property
    def after(self) -> int:
        return min(len(self.stage.frames) - 1, self.at + 1) if self.stage else 0


@router.get("/scenes")
def index(request: Request) -> HTMLResponse:
    """All scenes, each with one of its pictures."""
    shown = [(scene, staged(scene, scene.values({}))) for scene in SCENES.values()]
    return page(request, "scenes/index.html", scenes=shown)


@router.get("/gallery")
def gallery(request: Request) -> HTMLResponse:
    """Every frame of every scene on one page."""
    shown = [(scene, staged(scene, scene.values({}))) for scene in SCENES.values()]
    return page(request, "scenes/gallery.html", scenes=shown)


@router.get("/scenes/{name}")
def scene(request: Request, name: str) -> HTMLResponse:
    """One scene with its player."""
    return page(request, "scenes/page.html", view=view_of(request, scene_named(name)))


@router.get("/scenes/{name}/stage")
def stage(request: Request, name: str) -> HTMLResponse:
    """The frames alone, for knobs that turn."""
    return part(request, "scenes/_stage.html", view=view_of(request, scene_named(name)))


@router.get("/scenes/{name}/answer")
def answer(request: Request, name: str) -> HTMLResponse:
    """What the engine says to a prediction."""
    return part(request, "scenes/_verdict.html", view=view_of(request, scene_named(name)))


@router.get("/scenes/{name}/frames/{at}.svg")
def frame(request: Request, name: str, at: int) -> Response:
    """One frame by its address: the same address, the same bytes."""
    found = scene_named(name)
    frames = staged(found, found.values(request.query_params)).frames
    return Response(frames[place(at, len(frames))].figure.svg(), media_type="image/svg+xml")


@router.get("/scenes/{name}/working/{number}")
def working(request: Request, name: str, number: int) -> HTMLResponse:
    """How one of a scene's numbers is computed."""
    found = scene_named(name)
    numbers = staged(found, found.values(request.query_params)).numbers
    term = numbers[place(number, len(numbers), "number")]
    template = "plan/_working.html" if "HX-Request" in request.headers else "scenes/working.html"
    return page(request, template, term=term, scene=found)


@router.get("/present/{name}")
def present(request: Request, name: str) -> HTMLResponse:
    """A scene on the stage: full screen, for a projector."""
    return page(request, "scenes/present.html", view=view_of(request, scene_named(name)))


def staged(scene: Scene, values: Mapping[str, float]) -> Stage:
    """The frames and words of a scene for these values. Pure, so kept for the settings asked for last."""
    return _staged(scene.name, tuple(values.items()))


@lru_cache(maxsize=KEPT_SCENES)
def _staged(name: str, values: tuple[tuple[str, float], ...]) -> Stage:
    scene, given = SCENES[name], dict(values)
    return Stage(scene.frames(given), scene.question(given), scene.numbers(given), scene.misconceptions(given))


def place(at: int, count: int, field: str = "frame") -> int:
    """A place that exists, or a Refusal."""
    if not 0 <= at < count:
        raise Refusal(field, at, f"there are {count}, from 0 to {count - 1}", str(min(max(at, 0), count - 1)))
    return at


def view_of(request: Request, scene: Scene) -> SceneView:
    """The view model of a request: knobs, frame and prediction are in its query."""
    given = request.query_params
    state = {knob.name: given.get(knob.name, knob_text(knob)).strip() for knob in scene.knobs}
    try:
        found = staged(scene, scene.values(state))
        at = place(_whole(given.get("frame", "0")), len(found.frames))
    except Refusal as refusal:
        said = {each.field: each.advice if _is_knob(scene, each) else each.sentence for each in refusal.all}
        return SceneView(scene, state, 0, None, said, None)
    verdict = graded(found.question, given["answer"]) if given.get("answer", "").strip() else None
    return SceneView(scene, state, at, found, {}, verdict)


def _is_knob(scene: Scene, refusal: Refusal) -> bool:
    return any(knob.name == refusal.field for knob in scene.knobs)


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise Refusal("frame", text, "needs a whole number", "0") from None


def is_switch(knob: object) -> bool:
    """For templates: whether a knob is a choice of words."""
    return isinstance(knob, Switch)
