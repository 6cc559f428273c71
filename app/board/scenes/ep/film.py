"""The film of expert parallelism: tokens ride to their experts and back; a queue, a capacity, few nodes, and backward."""

from app.board.film.composition import Composition
from app.board.film.film import Clock, Film
from app.board.scenes.base import Values
from app.board.scenes.ep.both_ways import BothWays
from app.board.scenes.ep.case import Case
from app.board.scenes.ep.floor import Floor
from app.board.scenes.ep.lanes import Lanes
from app.board.scenes.ep.nodes import Nodes
from app.board.scenes.ep.story import Story
from app.board.scenes.ep.travel import Travel

TITLE = "Expert parallel: tokens travel"


def film(values: Values) -> Film:
    """The film for a setting of the knobs, or a Refusal of what fits no picture."""
    story = Story(Case(values))

    def draw(picture: Composition) -> None:
        floor, travel = Floor(picture, story), Travel(picture, story)
        nodes, both = Nodes(picture, story), BothWays(picture, story)
        floor.draw()
        travel.draw()
        floor.sweeps()
        Lanes(picture, story).draw()
        travel.coins()
        nodes.draw()
        nodes.coins()
        both.draw()
        both.coins()

    return story.script.film("ep", TITLE, draw, Clock(story.clock, tick=_tick(story)))


def _tick(story: Story) -> float:
    """Engine time between marks under the bar: a round one, of which an exchange has a few."""
    tick = 1e-6
    while story.combined / tick > 40:
        tick *= 10
    return tick
