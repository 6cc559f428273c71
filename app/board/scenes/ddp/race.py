"""The DDP film's end: the same step with and without overlap, on one clock; what each sends, on more and more GPUs."""

from app.board.film.composition import Composition
from app.board.film.pieces import Axis, Cell, faded, lane, named, playhead, written
from app.board.film.ring import ring
from app.board.film.track import Way
from app.board.scenes.ddp.story import LAYERS, Busy, Story
from engine.language.units import bytes_text, count_text, seconds_text
from engine.network.collectives import ring_all_reduce_sent_bytes

SIZES = (4, 64, 1024)  # GPUs for the row of numbers


def draw_race(picture: Composition, story: Story) -> None:
    """Two pairs of lanes, written at once; the gap is named when the second has ended."""
    lens, start = story.lens, story.step_ends
    since = story.turn[-1][0]
    axis = Axis(*ring(picture).lanes, start, story.race_ends)
    passes = [Cell(start + b.start, start + b.end, "", "f", "forward") for b in map(story.forward, range(LAYERS))]
    passes += [
        Cell(start + b.start, start + b.end, "", "b", "backward")
        for b in (story.backward(k) for k in reversed(range(LAYERS)))
    ]
    for top, words, sums in ((30.0, "overlapped", story.sums), (150.0, "one after the other", story.late_sums)):
        _pair(picture, axis, top, words, passes, _wires(start, sums), story, since)
    playhead(picture, "now-race", axis, 56, 246, lens, since, lens.length)
    x, end = axis.x(start + story.step_ends), axis.x(story.race_ends)
    gap = story.gap[0][0]
    with picture.actor("sooner", "gap", Way(x, 134, here=False).show(lens.ends(start + story.step_ends))):
        picture.line(0, 0, 0, 112, ink="bad", stroke="dashed", key="sooner")
    late = Way(x, 258, here=False, wide=0).show(gap, 0.0).grow(((gap, 0), (gap + 0.6, 1)), wide=1)
    with picture.actor("late", "gap", late):
        picture.line(0, 0, end - x, 0, ink="bad", stroke="thick", key="late")
    with picture.actor("late-words", "words", Way(axis.right, 280, here=False).show(gap + 0.7)):
        picture.text(
            0, 0, f"{seconds_text(story.late_sums[0].end - story.step_ends)} later", "number", anchor="end", ink="bad"
        )
    _saturates(picture, story, since)


def _wires(start: float, sums: tuple[Busy, ...]) -> list[Cell]:
    return [
        Cell(start + b.start, start + b.end, "", "dp", "a bucket on its way round the ring") for b in reversed(sums)
    ]


def _pair(
    picture: Composition,
    axis: Axis,
    top: float,
    words: str,
    passes: list[Cell],
    wires: list[Cell],
    story: Story,
    since: float,
) -> None:
    lens = story.lens
    with picture.actor(words, "words", faded(Way(0, 0, here=False), lens, since, lens.length)):
        picture.text(0, top + 18, words, "caption")
        for name, y, cells in (("compute", top + 32, passes), ("wires", top + 62, wires)):
            picture.text(0, y + 18, name, "remark", ink="ink")
            lane(picture, axis, y, cells)
    written(picture, f"{words}-compute", axis, top + 32, passes, lens, lens.length)
    written(picture, f"{words}-wires", axis, top + 62, wires, lens, lens.length)
    with picture.actor(f"{words}-names", "words", faded(Way(0, 0, here=False), lens, since, lens.length)):
        named(picture, axis, top + 32, passes)


def _saturates(picture: Composition, story: Story, since: float) -> None:
    """What each GPU sends, and hops of the ring, on more and more GPUs."""
    lens, size = story.lens, story.case.gradients.value
    with picture.actor("sizes", "words", faded(Way(0, 0, here=False), lens, since, lens.length)):
        for at, gpus in enumerate(SIZES):
            sent = bytes_text(ring_all_reduce_sent_bytes(S=size, n=gpus))
            hops = f"{count_text(2 * (gpus - 1))} hops"
            if picture.is_wide:
                x = 4 + at * 240.0
                picture.text(x, 324, f"{count_text(gpus)} GPUs: {hops}", "remark")
                picture.text(x, 362, sent, "answer")
            else:
                y = 340 + at * 56.0
                picture.text(4, y, f"{count_text(gpus)} GPUs: {hops}", "remark")
                picture.text(354, y, sent, "title", anchor="end")
        picture.text(4, 392 if picture.is_wide else 504, "sent by each: bytes saturate, hops grow", "read", ink="soft")
