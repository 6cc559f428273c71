"""The DDP film: the same weights, other data, gradients in buckets that travel while backward goes on, the same step."""

from app.board.film.composition import Composition
from app.board.film.film import Clock, Film
from app.board.scenes.base import Values
from app.board.scenes.ddp.bucket import Bucket
from app.board.scenes.ddp.case import CLUSTER, Case
from app.board.scenes.ddp.floor import Floor
from app.board.scenes.ddp.race import draw_race
from app.board.scenes.ddp.story import Story
from engine.language.refusal import Refusal

TITLE = "Data parallel: copies that agree"


def film(values: Values) -> Film:
    """The film for a setting of the knobs, or a Refusal of what fits no picture."""
    case = Case(values)
    local = CLUSTER.gpus_per_node
    if case.gpus > local and case.gpus % local:
        rule = f"GPUs come in nodes of {local}: above {local} the ring is made of whole nodes"
        raise Refusal("gpus", case.gpus, rule, f"{max(1, round(case.gpus / local)) * local}")
    story = Story(case)

    def draw(picture: Composition) -> None:
        Floor(picture, story).draw()
        Bucket(picture, story).draw()
        draw_race(picture, story)

    return story.script.film("ddp", TITLE, draw, Clock(story.clock))
