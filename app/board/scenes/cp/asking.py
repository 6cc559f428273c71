"""One query of the last GPU: its running maximum, sum and answer, which change once, when a block is done."""

from app.board.film.composition import Composition, Steps
from app.board.film.pieces import LETTERS, faded
from app.board.film.track import Way
from app.board.scenes.cp.places import places
from app.board.scenes.cp.square import strip_tile
from app.board.scenes.cp.story import Story
from engine.language.units import seconds_text, share_text
from engine.lens.ring_attention import causal_strip_share
from engine.lens.ring_steps import idle_share

RED = 1.5  # s for which what a larger maximum has changed is red
DROP = 0.5  # s in which a block falls into what has been seen


class Asking:
    """Three numbers and the blocks that are in them."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story = picture, story
        self.at, self.lens = places(picture), story.lens
        self.act = story.first_act
        self.ends = [self.lens.ends(step.end) for step in self.act.works(story.case.last)]

    def draw(self) -> None:
        rows = self.story.case.merging
        names = ("max so far", "sum so far", "answer so far") if self.picture.is_wide else ("max", "sum", "answer")
        values = [(row.result.maximum, row.result.total, row.result.output) for row in rows]
        (x, y), wide = self.at.ask, self.picture.is_wide
        with self.picture.actor("asking", "words", self._act(Way(x, y, here=False))):
            title = f"one query of {self.story.last}"
            self.picture.text(0, 0, title, "remark" if wide else "read", ink="remark")
            for at, name in enumerate(names):
                place = (at * 128.0, 66.0) if wide else (0.0, 36.0 + at * 34)
                self.picture.text(*place, name, "read", ink="soft")
        for at, name in enumerate(names):
            texts = [f"{value[at]:.2f}" for value in values]
            for ink in ("ink", "bad"):
                place = (x + at * 128.0, y + 44) if wide else (354.0, y + 38 + at * 34)
                style, anchor = ("answer", "start") if wide else ("title", "end")
                steps = self._steps(texts, at < 2, ink == "bad")
                self.picture.runs(f"{name}-{ink}", *place, steps, style, anchor=anchor, ink=ink)
        self._seen()
        self._notes()

    def _act(self, way: Way) -> Way:
        return faded(way, self.lens, self.act.dealing[-1][0], self.act.until)

    def _shrinks(self, at: int) -> bool:
        scale = self.story.case.merging[at].scale
        return scale is not None and scale < 1

    def _steps(self, texts: list[str], turns_red: bool, red: bool) -> Steps:
        """A number in ink, or the same in red for a while after a larger maximum came."""
        found: list[tuple[float, str]] = [(0.0, "")]
        for at, (t, text) in enumerate(zip(self.ends, texts, strict=True)):
            reddens = turns_red and self._shrinks(at)
            found.append((t, text if reddens == red else ""))
            if reddens:
                found.append((t + RED, "" if red else text))
        return (*found, (self.act.until + 0.2, ""))

    def _seen(self) -> None:
        """The blocks that are in the numbers."""
        (x, y), wide = self.at.ask, self.picture.is_wide
        ranks = self.story.case.ranks
        size = 24.0 if wide else 19.0
        pitch = size + (10 if wide and ranks <= 4 else 0)
        left, top = (x + 400, y + 18) if wide else (x - 4, y + 124)
        for at, (t, row) in enumerate(zip(self.ends, self.story.case.merging, strict=True)):
            way = Way(left + at * pitch, top - 16, here=False).show(t, 0.0)
            way.go(((t, 0.0), (t + DROP, 1.0)), left + at * pitch, top)
            faded(way, self.lens, 0.0, max(self.act.until, t + DROP))
            with self.picture.actor(f"seen-{row.source}", "seen", way, why="its keys and values are in the numbers"):
                strip_tile(self.picture, size - 1, size, row.source, ranks, "seen", LETTERS[row.source])

    def _notes(self) -> None:
        """What a larger maximum does to the sum, and at the end the same over all keys at once."""
        (x, y), wide = self.at.ask, self.picture.is_wide
        place = (x + 400, y + 66) if wide else (x, y + 166)
        case, merge = self.story.case, self.story.merge
        steps: list[tuple[float, str]] = [(0.0, "")]
        for at, t in enumerate(self.ends):
            if self._shrinks(at):
                times = f"old sum × {case.merging[at].scale:.2f}"
                steps += [(t, f"a larger max: the {times}" if wide else times), (min(t + RED, merge[0][0] + 1), "")]
        self.picture.runs("shrinks", *place, tuple(steps), "read", ink="bad")
        way = Way(*place, here=False).show(merge[0][0] + 1.1)
        with self.picture.actor("at-once", "words", faded(way, self.lens, 0.0, self.act.until)):
            output = f"{case.at_once.output:.2f}"
            self.picture.text(0, 0, f"all keys at once: {output}" if wide else f"at once: {output}", "read", ink="good")
        done = merge[0][0] + 1.1
        tick = Way(place[0] + (196 if wide else 126), place[1], here=False, wide=0.2, tall=0.2).show(done)
        tick.grow(((done, 0.0), (merge[-1][0], 1.0)), wide=1, tall=1, eased=True)
        with self.picture.actor("exact", "tick", faded(tick, self.lens, 0.0, self.act.until)):
            self.picture.tick(0, 0, 16, key="exact")


def draw_shares(picture: Composition, story: Story) -> None:
    """How the work of the strips stands, before anything runs."""
    ranks, (x, y), wide = story.case.ranks, places(picture).ask, picture.is_wide
    shares = [f"{causal_strip_share(rank, ranks) * ranks**2:g}" for rank in range(ranks)]
    if ranks > 4:
        shares = [*shares[:2], "…", shares[-1]]
    way = Way(x, y).hide(story.dealt[-1][0] - 0.4, 0.3)
    with picture.actor("shares", "words", way):
        picture.text(
            0, 0, "work of the strips" if wide else "work of strips", "remark" if wide else "read", ink="remark"
        )
        picture.text(0, 44 if wide else 36, " : ".join(shares), "answer" if wide else "caption")


def draw_result(picture: Composition, story: Story) -> None:
    """What the other deal brings."""
    act, (x, y), wide = story.second_act, places(picture).ask, picture.is_wide
    first, second = story.ends, act.ends - act.begins
    ink = "good" if second < first * (1 - 1e-9) else "bad"
    columns = (
        ("in order", seconds_text(first), "ink", story.change[-1][0]),
        ("waiting", share_text(idle_share(story.steps)), "ink", story.change[-1][0] + 0.3),
        ("dealt anew", seconds_text(second), ink, story.result[0][0]),
        ("waiting", share_text(idle_share(act.steps)), ink, story.result[0][0] + 0.3),
    )
    for order, (name, text, colour, start) in enumerate(columns):
        place = (x + order * 180.0, y + 44) if wide else (x, y + 10 + order * 38.0)
        way = Way(place[0], place[1] + 14, here=False).show(start, 0.0)
        way.go(((start, 0.0), (start + 0.5, 1.0)), *place)
        with picture.actor(f"result-{order}", "result", way):
            picture.text(0, 22 if wide else 0, name if wide else name.removeprefix("dealt "), "read", ink="soft")
            if wide:
                picture.text(0, 0, text, "answer", ink=colour)
            else:
                picture.text(354 - x, 2, text, "caption", anchor="end", ink=colour)
