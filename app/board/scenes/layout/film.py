"""The film of the whole machine: one step, with the camera from the floor into one layer and back."""

from app.board.film.composition import Composition
from app.board.film.film import Clock, Film
from app.board.scenes.base import Values
from app.board.scenes.layout.case import Case
from app.board.scenes.layout.deep import GpuShot, LayerShot
from app.board.scenes.layout.ending import draw_lost, draw_race
from app.board.scenes.layout.floor import FloorShot
from app.board.scenes.layout.inside import NodeShot, UnitShot
from app.board.scenes.layout.rulers import Rulers
from app.board.scenes.layout.story import Story

TITLE = "Three axes on the wires of a floor"
SHOTS = (FloorShot, UnitShot, NodeShot, GpuShot, LayerShot, Rulers)


def film(values: Values) -> Film:
    """The film for a setting of the knobs, or a Refusal of what fits no picture."""
    story = Story(Case(values))

    def draw(picture: Composition) -> None:
        for shot in SHOTS:
            shot(picture, story).draw()
        draw_race(picture, story)
        draw_lost(picture, story)

    return story.script.film("layout", TITLE, draw, Clock(story.clock))
