"""The DDP film's race: the same step with and without overlap, on one clock."""

from app.board.film.composition import Composition
from app.board.film.pieces import Axis, faded, lane, named, playhead, written
from app.board.film.track import Way
from app.board.scenes.ddp.lanes import BURSTS, GAP, step_cells, wires
from app.board.scenes.ddp.places import places
from app.board.scenes.ddp.story import Story
from engine.language.units import seconds_text
from engine.lens.sharded import Span

LANE = 28.0


def draw_race(picture: Composition, story: Story) -> None:
    """Two pairs of lanes, written at once; the gap is named when the second has ended."""
    start, until = story.step_ends, story.turn[0][0]
    axis = Axis(*places(picture).axis, start, story.race_ends)
    half = start + story.forward
    beside = [Span(half + span.start, half + span.end) for span in story.buckets.bursts(BURSTS)]
    after = [Span(start + story.backward_ends, story.race_ends)]
    on = start + story.step_ends
    tops = (34.0, 172.0)
    for top, name, busy, end in zip(
        tops, ("overlap on", "overlap off"), (beside, after), (on, story.race_ends), strict=True
    ):
        _pair(picture, story, axis, top, name, busy, end)
    since = story.change[-1][0]
    playhead(picture, "now-race", axis, tops[0] + 26, tops[1] + 32 + 2 * LANE + GAP + 6, story.lens, since, until)
    _gap(picture, story, axis, on, tops[1] + 32 + 2 * LANE + GAP)
    _sums(picture, story)


def _pair(picture: Composition, story: Story, axis: Axis, top: float, name: str, busy: list[Span], end: float) -> None:
    since, until, lens = story.change[-1][0], story.turn[0][0], story.lens
    y, z = top + 32, top + 32 + LANE + GAP
    cells = step_cells(story, axis.start, end)
    with picture.actor(name, "words", faded(Way(0, 0, here=False), lens, since, until)):
        picture.text(0, top + 20, name, "caption")
        for words, at in (("compute", y), ("wires", z)):
            picture.text(0, at + LANE / 2 + 6, words, places(picture).side, ink="ink")
        lane(picture, axis, y, cells, LANE)
        picture.cells([(axis.left, z, axis.x(end) - axis.left, LANE)], ink="ghost")
    written(picture, f"{name}-compute", axis, y, cells, lens, until, LANE)
    wires(picture, f"{name}-wires", axis, z, busy, story, since, until, LANE)
    with picture.actor(f"{name}-names", "words", faded(Way(0, 0, here=False), lens, since, until)):
        named(picture, axis, y, cells, LANE)


def _gap(picture: Composition, story: Story, axis: Axis, on: float, bottom: float) -> None:
    """Where the first has ended, a line as a ruler through the other; then how much later that one is."""
    lens, until, gap = story.lens, story.turn[0][0], story.gap[0][0]
    x, y = axis.x(on), axis.x(story.race_ends)
    with picture.actor("sooner", "gap", Way(x, 0, here=False).show(lens.ends(on)).hide(until, 0.3)):
        picture.line(0, 62, 0, bottom + 22, ink="bad", stroke="dashed", key="sooner")
    late = Way(x, bottom + 18, here=False, wide=0).show(gap, 0.0).grow(((gap, 0), (gap + 0.7, 1)), wide=1)
    with picture.actor("late", "gap", late.hide(until, 0.3)):
        picture.line(0, 0, y - x, 0, ink="bad", stroke="thick", key="late")
    named_at = Way(axis.right, bottom + 42, here=False).show(gap + 0.8).hide(until, 0.3)
    with picture.actor("gap-words", "words", named_at):
        picture.text(0, 0, f"{seconds_text(story.late)} later", "number", anchor="end", ink="bad")


def _sums(picture: Composition, story: Story) -> None:
    """What of the traffic shows, with and without."""
    case = story.case
    rows = (
        ("gradient sum", case.traffic.text),
        ("shows, overlap on", case.tail.text),
        ("shows, overlap off", case.traffic.text),
    )
    shown = faded(Way(0, 0, here=False), story.lens, story.change[-1][0], story.turn[0][0])
    with picture.actor("sums", "words", shown):
        for at, (name, text) in enumerate(rows):
            x, y = (4 + at * 240.0, 340.0) if picture.is_wide else (4.0, 390.0 + at * 44)
            picture.text(x, y, name, "remark")
            if picture.is_wide:
                picture.text(x, y + 38, text, "answer")
            else:
                picture.text(352, y, text, "caption", anchor="end")
