"""The pipeline film: one schedule's step as marbles, stacks and lanes; a race with another one; the step after it."""

from app.board.film.composition import Composition
from app.board.film.film import Clock, Film
from app.board.scenes.base import Values
from app.board.scenes.pp.case import Case
from app.board.scenes.pp.marbles import Marbles
from app.board.scenes.pp.next_step import NextStep
from app.board.scenes.pp.piles import Piles
from app.board.scenes.pp.pipe import Pipe
from app.board.scenes.pp.race import Race
from app.board.scenes.pp.story import Story

TITLE = "Pipeline parallel: keep every stage busy"
PARTS = (Pipe, Piles, Marbles, Race, NextStep)


def film(values: Values) -> Film:
    """The film for a setting of the knobs, or a Refusal of a shape that the schedule cannot run."""
    case = Case(values)
    if refusal := case.refusal(case.name):
        raise refusal
    story = Story(case)

    def draw(picture: Composition) -> None:
        for part in PARTS:
            part(picture, story).draw()

    return story.script.film("pp", TITLE, draw, Clock(story.clock, tick=1.0, real=False))
