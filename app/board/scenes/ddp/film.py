"""The DDP film: copies compute on data of their own, and their gradients travel round a ring beside the backward pass."""

from app.board.film.composition import Composition
from app.board.film.film import Clock, Film
from app.board.scenes.base import Values
from app.board.scenes.data_wires import whole_nodes
from app.board.scenes.ddp.bucket import Bucket
from app.board.scenes.ddp.case import CLUSTER, Case
from app.board.scenes.ddp.floor import Floor
from app.board.scenes.ddp.growth import Growth
from app.board.scenes.ddp.lanes import Lanes
from app.board.scenes.ddp.race import draw_race
from app.board.scenes.ddp.story import Story

TITLE = "Data parallel: copies that agree"
MOST_TICKS = 100


def film(values: Values) -> Film:
    """The film for a setting of the knobs, or a Refusal of what fits no picture."""
    case = Case(values)
    whole_nodes(CLUSTER, case.gpus)
    story = Story(case)

    def draw(picture: Composition) -> None:
        Floor(picture, story).draw()
        Bucket(picture, story).draw()
        Lanes(picture, story).draw()
        draw_race(picture, story)
        Growth(picture, story).draw()

    return story.script.film("ddp", TITLE, draw, Clock(story.clock, tick=_tick(story)))


def _tick(story: Story) -> float:
    """Engine time between marks under the bar: a round one of which a step has some."""
    tick = 1e-6
    while story.race_ends / tick > MOST_TICKS:
        tick *= 10
    return tick
