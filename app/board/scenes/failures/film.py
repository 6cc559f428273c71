"""The failures film: in step, one slow, one dead, one hanging; the way back; how often to save; half a year; the loss."""

from app.board.film.composition import Composition
from app.board.film.film import Clock, Film
from app.board.scenes.base import Values
from app.board.scenes.failures.back import Back
from app.board.scenes.failures.case import Case
from app.board.scenes.failures.lanes import Lanes
from app.board.scenes.failures.losses import Silent, Spike
from app.board.scenes.failures.rates import HalfYear, Often
from app.board.scenes.failures.story import Story

TITLE = "When one of them fails"
ACTS = (Lanes, Back, Often, HalfYear, Spike, Silent)


def film(values: Values) -> Film:
    """The film for a setting of the knobs, or a Refusal of what fits no picture."""
    story = Story(Case(values))

    def draw(picture: Composition) -> None:
        for act in ACTS:
            act(picture, story).draw()

    return story.script.film("failures", TITLE, draw, Clock(story.clock, real=False))
