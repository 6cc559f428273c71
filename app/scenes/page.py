"""Scenes: pages whose pictures move. Every frame has an address; the player only chooses one."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from app.board.scenes import SCENES, scene_named
from app.plan.figures import plan_figures
from app.scenes.asked import scene_asked, scene_query
from app.scenes.view import place, staged
from app.web.render import page, part

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


@router.get("/scenes/{scene}/working/{number}")
def working(request: Request, scene: str, number: str) -> HTMLResponse:
    """How one of a scene's numbers is computed."""
    found = scene_named(scene)
    numbers = staged(found, found.values(scene_query(request, found))).numbers
    term = numbers[place(number, len(numbers), "number")]
    template = "plan/_working.html" if "HX-Request" in request.headers else "scenes/working.html"
    return page(request, template, term=term, scene=found)
