"""The tensor parallel film: columns, then rows, then one sum; its mirror, its halves, and the same over nodes."""

from dataclasses import replace

from app.board.film.composition import Composition, running
from app.board.film.film import Clock, Film
from app.board.scenes.base import Values
from app.board.scenes.tp.aside import Aside
from app.board.scenes.tp.board import Board
from app.board.scenes.tp.case import SUMS, Case
from app.board.scenes.tp.forward import Forward
from app.board.scenes.tp.halves import Halves
from app.board.scenes.tp.heads import Heads
from app.board.scenes.tp.mirror import Mirror
from app.board.scenes.tp.places import places
from app.board.scenes.tp.ring import draw_coins
from app.board.scenes.tp.said import wires
from app.board.scenes.tp.story import Story
from app.board.scenes.tp.under import Under
from engine.language.units import bytes_text, share_text

TITLE = "Tensor parallel: one layer on many GPUs"


def film(values: Values) -> Film:
    """The film for a setting of the knobs, or a Refusal of what fits no picture."""
    story = Story(Case(values))

    def draw(picture: Composition) -> None:
        Board(picture, story).draw()
        _forward(picture, story)
        Aside(picture, story).draw()
        Heads(picture, story).draw()
        Mirror(picture, story).draw()
        Halves(picture, story).draw()
        gestures = [gesture for passage in story.passages for gesture in passage.act.gestures]
        draw_coins(picture, places(picture, story.n), gestures, story.lens)
        _under(picture, story)

    made = story.script.film("tp", TITLE, draw, Clock(tick=_tick(story)))
    stops = (stop.t for stop in made.stops)
    return replace(made, clock=running(made.length, story.clock, stops))  # of an act, which the lens does not know


def _forward(picture: Composition, story: Story) -> None:
    case, well = story.case, (True, True)
    Forward(picture, story, story.mlp, "mlp", (case.columns_first or case.alone, case.rows_second or case.alone)).draw()
    Forward(picture, story, story.far, "far", well).draw()


def _under(picture: Composition, story: Story) -> None:
    case, short = story.case, not picture.is_wide
    one = f"{'Z' if short else 'all-reduce of Z'}: {case.field.text}, {case.sum_s.text}"
    said = (
        wires(case, short),
        one,
        f"{SUMS} sums a layer: {case.sums_s.text} for {case.work.text} of work",
        f"each half sends {bytes_text(case.half_sent.value)}, the sum {bytes_text(case.sent.value)}",
        f"one sum: {case.sum_s.text} in a node, {case.far_sum_s.text} here",
    )
    for at, (passage, words) in enumerate(zip(story.passages, said, strict=True)):
        if passage.act.end == passage.act.start:  # one GPU: no halves of a sum
            continue
        under = Under(picture, story, passage, f"act-{at}", back=passage is story.backward)
        under.draw()
        if not case.alone:
            under.says(words)
        if passage is story.far and not case.alone:
            waits = f"{share_text(case.near_wait.value)} in a node, {share_text(case.far_wait.value)} here"
            under.note("sums over work", waits)
            under.flag(
                passage.act.work[-1].end + case.sum_s.value, f"on NVLink the sum would be done: {case.sum_s.text}"
            )


def _tick(story: Story) -> float:
    """Engine time between marks under the bar."""
    tick = 1e-5
    while story.timeline.far.end / tick > 250:
        tick *= 10
    return tick
