"""Scenes: pages whose pictures move. Every frame has an address; the player only chooses one."""

from collections.abc import Callable

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from app.board.scenes import SCENES, scene_named
from app.plan.figures import plan_figures
from app.scenes.asked import scene_asked, scene_query
from app.scenes.taken import LOOKS, Taken, moment_svg, strip_svg, taken
from app.scenes.view import place, staged, undisturbed
from app.web.assets import Assets
from app.web.render import EMBEDDED, page, part
from engine.language.refusal import Refusal

ALONE = "default-src 'none'; style-src 'unsafe-inline'; font-src data:; frame-ancestors 'none'"

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)


@router.get("/scenes")
def index(request: Request) -> HTMLResponse:
    """All scenes, each with one of its pictures."""
    shown = [(scene, staged(scene, scene.values({}))) for scene in SCENES.values()]
    return page(request, "scenes/index.html", scenes=shown)


@router.get("/gallery")
def gallery(request: Request) -> HTMLResponse:
    """Every frame of every scene on one page, and the planner's figures for the question's own layout."""
    shown = [(scene, staged(scene, scene.values({}))) for scene in SCENES.values()]
    return page(request, "scenes/gallery.html", scenes=shown, figures=plan_figures())


@router.get("/scenes/{scene}")
def scene(request: Request, scene: str) -> HTMLResponse:
    """One scene with its player."""
    return page(request, "scenes/page.html", view=scene_asked(request, scene_named(scene)))


@router.get("/scenes/{scene}/stage")
def stage(request: Request, scene: str) -> HTMLResponse:
    """The frames alone, for knobs that turn."""
    with undisturbed():
        return part(request, "scenes/_turned.html", view=scene_asked(request, scene_named(scene)))


@router.get("/scenes/{scene}/clip")
def clip(request: Request, scene: str) -> HTMLResponse:
    """The passage of a film that leads to a stop, with one knob: for a page that speaks of it."""
    return part(request, "scenes/_clip.html", view=scene_asked(request, scene_named(scene)))


@router.get("/scenes/{scene}/answer")
def answer(request: Request, scene: str) -> HTMLResponse:
    """What the engine says to a prediction."""
    return part(request, "scenes/_verdict.html", view=scene_asked(request, scene_named(scene)))


@router.get("/scenes/{scene}/frames/{frame}.svg")
def frame(request: Request, scene: str, frame: str) -> Response:
    """One frame by its address: the same address, the same bytes."""
    found = scene_named(scene)
    frames = staged(found, found.values(scene_query(request, found))).frames
    return Response(frames[place(frame, len(frames))].figure.svg(), media_type="image/svg+xml")


@router.get("/scenes/{scene}/moment.svg")
def moment(request: Request, scene: str) -> Response:
    """A film at a moment, as a picture that stands alone."""
    return _file(request, scene, moment_svg)


@router.get("/scenes/{scene}/strip.svg")
def strip(request: Request, scene: str) -> Response:
    """All stops of a film on one page: what one prints."""
    return _file(request, scene, strip_svg)


def _file(request: Request, name: str, drawn: Callable[[Taken, Assets], str]) -> Response:
    """A drawing that stands alone, with a policy that lets it carry its style."""
    found = scene_named(name)
    text = drawn(taken(found, scene_query(request, found, LOOKS)), request.app.state.assets)
    return Response(text, media_type="image/svg+xml", headers={"Content-Security-Policy": ALONE})


@router.get("/scenes/{scene}/embed")
def embed(request: Request, scene: str) -> HTMLResponse:
    """The player and nothing else, for a frame on any other page."""
    found = scene_named(scene)
    if not found.film:
        raise Refusal("scene", scene, "this scene is a row of frames and no film: it cannot be embedded")
    shown = page(request, "scenes/embed.html", view=scene_asked(request, found))
    shown.headers["Content-Security-Policy"] = EMBEDDED
    return shown


@router.get("/scenes/{scene}/working/{number}")
def working(request: Request, scene: str, number: str) -> HTMLResponse:
    """How one of a scene's numbers is computed."""
    found = scene_named(scene)
    numbers = staged(found, found.values(scene_query(request, found))).numbers
    term = numbers[place(number, len(numbers), "number")]
    template = "plan/_working.html" if "HX-Request" in request.headers else "scenes/working.html"
    return page(request, template, term=term, scene=found)
