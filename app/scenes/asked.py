"""What a scene was asked in an address: the values of its knobs, the frame, an answer."""

from collections.abc import Iterable

from fastapi import Request

from app.board.scenes import Scene
from app.scenes.view import SceneView, view_of
from app.web.query import labels_of, own_query


def scene_query(request: Request, scene: Scene, further: Iterable[str] = ()) -> dict[str, str]:
    """What the query says to this scene, and under further names; the page tells of the rest."""
    return own_query(request, labels_of(scene.knobs), "this scene has no such knob", (*scene.beside, *further))


def scene_asked(request: Request, scene: Scene) -> SceneView:
    """The view model of what was asked."""
    return view_of(scene, scene_query(request, scene))
