"""How the film of the machine ends: both orders' gradients on one clock, then a node is lost."""

from app.board.figures.topology_floor import draw_floor
from app.board.film.composition import Composition
from app.board.film.pieces import Axis, Cell, lane, playhead, written
from app.board.film.track import Way
from app.board.pen import cells
from app.board.scenes.layout.case import traffic_s
from app.board.scenes.layout.places import places
from app.board.scenes.layout.story import WIRES, Story
from engine.language.units import seconds_text
from engine.layout.layout import Axis as ParallelAxis

SPREAD: tuple[ParallelAxis, ...] = ("tp", "pp", "dp")  # the nearest to a node first


def draw_race(picture: Composition, story: Story) -> None:
    """How long the gradients travel in one order and in the other, on the same narrow spine."""
    at, lens, start = places(picture), story.lens, story.tail.end
    since, until = story.turn[-1][0], story.lost[0][0]
    axis = Axis(at.region.x + 10, at.region.x + at.region.width - 10, start, start + story.raced)
    rows = ((story.case.order, story.here, 74.0), (story.case.swapped, story.other, 184.0))
    for order, made, y in rows:
        seconds, wire = traffic_s(made, "dp"), WIRES[made.step.placement.reach("dp").wire]
        parts = [Cell(start, start + seconds, "", "dp", "gradients on their wires")] if seconds else []
        name = ", ".join(axis.upper() for axis in order)
        with picture.actor(f"race-{name}", "words", Way(0, 0, here=False).show(since, 0.3).hide(until, 0.2)):
            picture.text(axis.left, y - 12, name, "caption")
            picture.text(axis.right, y - 12, f"{wire}: {seconds_text(seconds)}", "read", anchor="end")
            lane(picture, axis, y, parts, 40)
        written(picture, f"race-run-{name}", axis, y, parts, lens, until, 40)
    playhead(picture, "now-race", axis, 60, 240, lens, since, until)


def draw_lost(picture: Composition, story: Story) -> None:
    """A node is gone: the groups that have a member in it stand out, axis by axis."""
    at, case = places(picture), story.case
    floor, placed = at.floor(case.cluster), story.made.step.placement
    start, end = story.lost[0][0], story.lost[-1][0]
    with picture.actor("floor-lost", "floor", Way(0, 0, here=False).show(start + 0.3, 0.3)):
        draw_floor(picture, floor, rest="")
    node = floor.node_of(story.you)
    dead = list(floor.ranks_of(node))
    each = (end - start - 0.6) / 3
    spread: list[ParallelAxis] = [axis for axis in SPREAD if placed.degree(axis) > 1]
    for turn, axis in enumerate(spread):
        ranks = sorted({rank for one in dead for rank in placed.group(axis, one)})
        way = Way(0, 0, here=False).show(start + 0.4 + (turn + 1) * each, each)
        with picture.actor(f"stalled-{axis}", "stalled", way, why=f"{len(ranks)} GPUs wait in {axis.upper()} groups"):
            picture.path(cells([floor.gpu(rank).sides for rank in ranks]), fill=axis, ink="")
    box = floor.node(node)
    with picture.actor(
        "cross",
        "cross",
        Way(box.middle, box.y + box.height / 2, here=False, wide=3, tall=3)
        .show(start + 0.5, 0.2)
        .grow(((start + 0.3, 0), (start + 0.6, 1)), wide=1, tall=1),
    ):
        picture.cross(0, 0, 22, key="lost")
