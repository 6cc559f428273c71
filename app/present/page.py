"""The stage: a scene or a lesson on a projector, full screen. Presenter window, followers and polls come later."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.board.scenes import SCENES, scene_named
from app.lessons.lesson import lesson_named, lessons
from app.lessons.slides import slides
from app.scenes.view import place, view_of
from app.web.render import page
from engine.language.choice import nearest
from engine.language.refusal import Refusal

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)


@router.get("/present")
def stages(request: Request) -> HTMLResponse:
    """Everything that has a stage."""
    return page(request, "present/index.html", scenes=tuple(SCENES.values()), lessons=lessons())


@router.get("/present/{name}")
def present(request: Request, name: str) -> HTMLResponse:
    """A scene or a lesson of this name."""
    if name in SCENES:
        return page(request, "present/scene.html", view=view_of(scene_named(name), request.query_params))
    known = [lesson.slug for lesson in lessons()]
    if name not in known:
        raise Refusal("stage", name, "there is no such scene or lesson", nearest(name, [*SCENES, *known]))
    lesson = lesson_named(name)
    shown = slides(lesson)
    at = place(request.query_params.get("frame", "0"), len(shown))
    return page(request, "present/lesson.html", lesson=lesson, slides=shown, at=at)
