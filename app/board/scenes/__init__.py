"""The scenes, one file each. To add one: copy the smallest sibling and list it here; pages, stage and tests read this."""

from app.board.scenes.base import Frame, Knob, Misconception, Question, Scene, Switch
from app.board.scenes.cp import CP
from app.board.scenes.ddp import DDP
from app.board.scenes.ep import EP
from app.board.scenes.failures import FAILURES
from app.board.scenes.layout import LAYOUT
from app.board.scenes.pp import PP
from app.board.scenes.tp import TP
from app.board.scenes.zero import ZERO
from engine.formula import nearest
from engine.refusal import Refusal

SCENES: dict[str, Scene] = {scene.name: scene for scene in (DDP, ZERO, TP, PP, CP, EP, LAYOUT, FAILURES)}

__all__ = ["SCENES", "Frame", "Knob", "Misconception", "Question", "Scene", "Switch", "scene_named"]


def scene_named(name: str) -> Scene:
    """The scene of this name, or a Refusal with the name most like it."""
    if name not in SCENES:
        raise Refusal("scene", name, f"there is no such scene; there are {', '.join(SCENES)}", nearest(name, SCENES))
    return SCENES[name]
