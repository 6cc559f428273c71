"""The pipeline film's first act: stages side by side, and the lanes below them that are written as they work."""

from collections.abc import Iterable

from app.board.film.composition import Composition, running
from app.board.film.pieces import Axis, faded, playhead
from app.board.film.track import Way
from app.board.legend import words_width
from app.board.scenes.pp.lanes import BAR, lane, ticks
from app.board.scenes.pp.places import places
from app.board.scenes.pp.story import Story, act, at_once
from engine.language.units import share_text
from engine.lens.stacks import waited

SEEN = 0.08  # s: a shorter wait is over before one has seen it
LEGEND = (("F", "f", "forward"), ("B", "b", "backward"), ("W", "w", "weight gradient"), ("", "waiting", "waits"))


class Pipe:
    """Boxes of stages without gaps between them, hatched while they wait, and the lanes of the same clock."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.case, self.at = picture, story, story.case, places(picture)
        self.run, self.lens = story.run, story.lens
        self.since, self.until = act(story, "step")
        self.axis = self.at.axis(0.0, story.end)
        self.pitch = self.at.pitch(self.case.p)

    def draw(self) -> None:
        with self.picture.actor("pipe", "words", faded(Way(0, 0), self.lens, self.since, self.until)):
            self._boxes()
            self._lane_names()
        self._layers()
        for stage in range(self.case.p):
            self._hatching(stage)
            self._lane(stage)
        bottom = self.at.lanes + self.pitch * self.case.p
        now = Axis(self.axis.left, self.axis.x(self.run.slots), 0.0, self.run.slots)
        playhead(self.picture, "now", now, self.at.lanes - 4, bottom + 2, self.lens, 0.0, self.until)
        self._waited(bottom)

    def _boxes(self) -> None:
        picture, at, p = self.picture, self.at, self.case.p
        top, bottom = at.boxes
        wide = (at.sides[1] - at.sides[0]) / p
        words = "stage " if words_width(f"stage {p}") < wide - 6 else ""
        middle = (top + bottom) / 2
        picture.line(at.sides[0], middle, at.sides[1], middle, ink="ghost", stroke="dashed", key="lanes")
        for stage in range(p):
            x = at.wall(stage, p)
            picture.rectangle(x, top, wide, bottom - top, key=f"stage-{stage}")
            picture.text(x + wide / 2, top - 8, f"{words}{stage}", anchor="middle")
        for letter, y, forward in (("F", at.forward, True), ("B", at.backward, False)):
            picture.text(4, y + 6, letter, "read")
            if picture.is_wide:
                self._arrows(letter, y, forward)

    def _arrows(self, letter: str, y: float, forward: bool) -> None:
        """Where work of this kind goes: right, left, or both where a stage's parts lie in both directions."""
        ways = {self.run.to_the_right(chunk) == forward for chunk in range(self.run.chunks)}
        for at, right in enumerate(sorted(ways, reverse=True)):
            z = y + (10 * at - 5 if len(ways) == 2 else 0)
            ends = (20, 44) if right else (44, 20)
            self.picture.arrow(ends[0], z, ends[1], z, stroke="thin", size=7, key=f"{letter}-{at}")

    def _lane_names(self) -> None:
        picture, at = self.picture, self.at
        for stage in range(self.case.p):
            y = at.lanes + stage * self.pitch + self.pitch * BAR / 2
            picture.text(at.sides[0] - 8, y + 6, str(stage), "read", anchor="end", ink="soft")
        bottom = at.lanes + self.pitch * self.case.p
        ticks(picture, self.axis, bottom + 1)
        x, y = 0.0, picture.height - 8
        kinds = {op.kind for op in self.run.timeline.intervals}
        for letter, fill, words in LEGEND:
            if letter in ("", "F", "B") or letter in kinds:
                picture.rectangle(x, y - 14, 20, 17, fill=fill, stroke="thin", key=f"legend-{fill}")
                if picture.is_wide or letter != "W":
                    picture.text(x + 26, y, words)
                    x += words_width(words) + 12
                else:
                    picture.text(x + 26, y, "weights")
                    x += words_width("weights") + 12
                x += 26

    def _layers(self) -> None:
        """What each box holds, before anything runs."""
        picture, at, p = self.picture, self.at, self.case.p
        way = Way(0, 0).hide(0.5, 0.6)
        with picture.actor("layers", "words", way):
            for stage, count in enumerate(self.case.layers):
                x = (at.wall(stage, p) + at.wall(stage + 1, p)) / 2
                words = (
                    f"{count} layers"
                    if words_width(f"{count} layers") < 640 / p - 8 and picture.is_wide
                    else str(count)
                )
                picture.text(x, at.backward + 6, words, anchor="middle", ink="soft")

    def _hatching(self, stage: int) -> None:
        """A stage that waits is hatched, in the lane of what it waits for."""
        at, p = self.at, self.case.p
        top, bottom = at.boxes
        half = (bottom - top) / 2
        wide = (at.sides[1] - at.sides[0]) / p
        for name, y in (("F", top), ("B", top + half)):
            spans = merged(
                (wait.start, wait.end)
                for wait in self.run.waits
                if wait.stage == stage and (wait.op is not None and wait.op.kind == "F") == (name == "F")
            )
            if not spans:
                continue
            way = Way(at.wall(stage, p) + 5, y + 5, here=False)
            for start, end in spans:
                since, until = self.lens.begins(start), self.lens.ends(end)
                if until - since > SEEN:
                    way.show(since, 0.0).hide(until, 0.0)
            why = f"stage {stage} has nothing to run; the hatching that is written below it says for what it waits"
            with self.picture.actor(f"waits-{name}-{stage}", "waiting", way, why=why):
                self.picture.cells([(0, 0, wide - 10, half - 10)], fill="waiting", ink="")

    def _lane(self, stage: int) -> None:
        """The lane of a stage: written in the step, then again in the race, further down."""
        story, at = self.story, self.at
        share = self.run.slots / story.end
        y, z = at.lanes + stage * self.pitch, at.field(True, self.case.p) + stage * self.pitch
        way = Way(at.sides[0], y, shown=0).uncover(self.lens.span(0.0, self.run.slots), share)
        change = story.change[0][0]
        way.hide(change, 0.3).go(at_once(change + 0.4), at.sides[0], z).uncover(at_once(change + 0.4), 0.0)
        way.show(change + 0.5, 0.0)
        way.uncover(self.lens.span(self.run.slots, 2 * self.run.slots), share)
        if story.gains:
            way.hide(story.turn[0][0], 0.3)
        lane(self.picture, f"lane-{stage}", way, self.run, stage, self.axis, self.pitch * BAR, at.number)

    def _waited(self, bottom: float) -> None:
        story, run, p = self.story, self.run, self.case.p

        def words(t: float) -> str:
            if not self.since < t < self.until:
                return ""
            e = min(self.lens(t), run.slots)
            lost, whole = waited(run.gaps, e), p * e
            return f"{lost:.0f} of {whole:.0f} stage-slots waited, {share_text(lost / whole if whole else 0.0)}"

        steps = running(story.lens.length, words)
        self.picture.runs("waited", self.at.sides[1], bottom + 26, steps, self.at.number, anchor="end", ink="bad")


def merged(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Spans in order, those that touch as one.

    >>> merged([(0, 1), (1, 2), (3, 4)])
    [(0, 2), (3, 4)]
    """
    found: list[tuple[float, float]] = []
    for start, end in spans:
        if found and start - found[-1][1] < 1e-9:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found
