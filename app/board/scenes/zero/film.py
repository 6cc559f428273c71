"""The ZeRO film: the state spills out of its box and is cut until it fits; then a layer is borrowed just in time."""

from app.board.film.composition import Composition
from app.board.film.film import Clock, Film
from app.board.scenes.base import Values
from app.board.scenes.data_wires import whole_nodes
from app.board.scenes.zero.case import CLUSTER, Case
from app.board.scenes.zero.race import draw_race
from app.board.scenes.zero.state import State
from app.board.scenes.zero.step import Step
from app.board.scenes.zero.story import Story

TITLE = "ZeRO and FSDP: borrow a layer just in time"


def film(values: Values) -> Film:
    """The film for a setting of the knobs, or a Refusal of what fits no picture."""
    case = Case(values)
    whole_nodes(CLUSTER, case.gpus)
    story = Story(case)

    def draw(picture: Composition) -> None:
        State(picture, story).draw()
        Step(picture, story).draw()
        draw_race(picture, story)

    return story.script.film("zero", TITLE, draw, Clock(story.clock, tick=_tick(story)))


def state_film(values: Values) -> Film:
    """The first act alone, for a page that opens with it: the state spills, is cut, and fits."""
    story = Story(Case(values), whole=False)
    return story.script.film("state", TITLE, lambda picture: State(picture, story).draw(), Clock(lambda _: ""))


def _tick(story: Story) -> float:
    """Engine time between marks under the bar: a round one of which a gather has a few."""
    tick = 1e-6
    while story.race_ends / tick > 400:
        tick *= 10
    return tick
