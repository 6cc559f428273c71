"""The scenes, one file each. To add one: copy the smallest sibling and list it here; pages, stage and tests read this."""

from app.board.scenes.base import Frame, Misconception, Scene
from app.board.scenes.cp.scene import CP
from app.board.scenes.ddp.scene import DDP
from app.board.scenes.ep.scene import EP
from app.board.scenes.failures.scene import FAILURES
from app.board.scenes.layout.scene import LAYOUT
from app.board.scenes.pp.scene import PP
from app.board.scenes.tp.scene import TP
from app.board.scenes.zero.scene import ZERO
from engine.language.choice import choose

SCENES: dict[str, Scene] = {scene.name: scene for scene in (DDP, ZERO, TP, PP, CP, EP, LAYOUT, FAILURES)}

__all__ = ["SCENES", "Frame", "Misconception", "Scene", "scene_named"]


def scene_named(name: str) -> Scene:
    """The scene of this name, or a Refusal with the name most like it."""
    return choose("scene", name, SCENES, "there is no such scene; there are {names}")
