"""The stage: a scene or a lesson on a projector, full screen. Presenter window, followers and polls come later."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.board.scenes import SCENES, Scene
from app.lessons.lesson import Lesson, lessons
from app.lessons.slides import slides
from app.scenes.asked import scene_asked
from app.scenes.view import place
from app.web.query import own_query
from app.web.render import page
from engine.language.choice import choose

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)


@router.get("/present")
def stages(request: Request) -> HTMLResponse:
    """Everything that has a stage."""
    return page(request, "present/index.html", scenes=tuple(SCENES.values()), lessons=lessons())


@router.get("/present/{stage}")
def present(request: Request, stage: str) -> HTMLResponse:
    """A scene or a lesson of this name."""
    shown = choose("stage", stage, stages_named(), "there is no such scene or lesson")
    if isinstance(shown, Scene):
        return page(request, "present/scene.html", view=scene_asked(request, shown))
    made, given = slides(shown), own_query(request, {"frame": "slide"}, "a lesson's stage has nothing to turn")
    at = place(given.get("frame", "0"), len(made))
    return page(request, "present/lesson.html", lesson=shown, slides=made, at=at)


def stages_named() -> dict[str, Scene | Lesson]:
    """Every scene and lesson by the name of its stage."""
    return {**SCENES, **{lesson.slug: lesson for lesson in lessons()}}
