"""The ZeRO film's last act: the same layers with and without prefetch, on one clock."""

from app.board.film.composition import Composition
from app.board.film.pieces import Axis, Cell, faded, lane, named, playhead, written
from app.board.film.track import Way
from app.board.scenes.zero.story import LAYERS, Story
from engine.language.units import count_text, seconds_text
from engine.lens.sharded import LayerPass


def draw_race(picture: Composition, story: Story) -> None:
    """Two pairs of lanes, written at once; the gap is named when the second has ended."""
    case, lens, start = story.case, story.lens, story.backward_ends
    since = story.change[-1][0]
    left, right = (92.0, 708.0) if picture.is_wide else (66.0, 354.0)
    axis = Axis(left, right, start, story.race_ends)
    on = case.forward_pass[-1].compute.end
    for top, words, turns in ((40.0, "prefetch on", case.forward_pass), (176.0, "prefetch off", story.waiting)):
        compute = [
            Cell(start + t.compute.start, start + t.compute.end, f"L{at + 1}", "f", "computes")
            for at, t in enumerate(turns)
        ]
        wires = [
            Cell(start + t.gather.start, start + t.gather.end, f"L{at + 1}", "dp-pale", "its slices arrive")
            for at, t in enumerate(turns)
        ]
        with picture.actor(words, "words", faded(Way(0, 0, here=False), lens, since, lens.length)):
            picture.text(0, top + 20, words, "caption")
            for name, y, cells in (("compute", top + 34, compute), ("wires", top + 66, wires)):
                picture.text(0, y + 18, name, "remark", ink="ink")
                lane(picture, axis, y, cells)
        written(picture, f"{words}-compute", axis, top + 34, compute, lens, lens.length)
        written(picture, f"{words}-wires", axis, top + 66, wires, lens, lens.length)
        with picture.actor(f"{words}-names", "words", faded(Way(0, 0, here=False), lens, since, lens.length)):
            named(picture, axis, top + 34, compute)
            named(picture, axis, top + 66, wires)
    playhead(picture, "now-race", axis, 66, 272, lens, since, lens.length)
    gap = story.gap[0][0]
    x, y = axis.x(start + on), axis.x(story.race_ends)
    with picture.actor("gap", "gap", Way(0, 150, here=False).show(lens.ends(start + on))):
        picture.line(x, 0, x, 122, ink="bad", stroke="dashed", key="sooner")
    with picture.actor(
        "late", "gap", Way(x, 288, here=False, wide=0).show(gap, 0.0).grow(((gap, 0), (gap + 0.8, 1)), wide=1)
    ):
        picture.line(0, 0, y - x, 0, ink="bad", stroke="thick", key="late")
    with picture.actor("gap-words", "words", Way(right, 312, here=False).show(gap + 0.9)):
        picture.text(
            0, 0, f"{seconds_text(_end(story.waiting) - on)} in {LAYERS} layers", "number", anchor="end", ink="bad"
        )
    _sums(picture, story)


def _sums(picture: Composition, story: Story) -> None:
    """What the two passes are made of, and where they would be level."""
    case = story.case
    rows = (
        ("gather of a layer", seconds_text(case.gather.value)),
        ("forward of a layer", seconds_text(case.forward.value)),
        ("equal at", f"{count_text(round(case.break_even.value))} tokens"),
    )
    with picture.actor(
        "sums", "words", faded(Way(0, 0, here=False), story.lens, story.change[-1][0], story.lens.length)
    ):
        for at, (name, text) in enumerate(rows):
            place = (4 + at * 240.0, 344.0) if picture.is_wide else (4.0, 344.0 + at * 50)
            picture.text(*place, name, "remark")
            if picture.is_wide:
                picture.text(place[0], place[1] + 38, text, "answer")
            else:
                picture.text(354, place[1], text, "caption", anchor="end")


def _end(turns: tuple[LayerPass, ...]) -> float:
    return turns[-1].compute.end
