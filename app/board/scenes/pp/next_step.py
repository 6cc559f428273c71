"""The pipeline film's last act: the end of a step and the start of the next, with and without a norm that holds it up."""

from app.board.film.composition import Composition
from app.board.film.pieces import faded, playhead
from app.board.film.track import Way
from app.board.scenes.pp.case import in_slots
from app.board.scenes.pp.lanes import BAR, lane, ticks
from app.board.scenes.pp.places import places
from app.board.scenes.pp.story import Story, act
from engine.pipeline.timeline import Interval
from engine.pipeline.waits import Wait

NORM = "waits for the norm of all gradients"
CHECKED = "goes on; the norm is checked afterwards"


class NextStep:
    """Two fields of lanes round the end of a step: above all stages wait for all, below each goes on by itself."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.case, self.at = picture, story, story.case, places(picture)
        self.run, self.lens = story.run, story.lens

    def draw(self) -> None:
        if not self.story.gains:
            return
        self.since, self.until = act(self.story, "next")
        end, ramp = self.run.slots, self.story.ramp
        self.axis = self.at.axis(end - ramp, end + ramp)
        self.pitch = self.at.pitch(self.case.p)
        fields = ((NORM, self._one_by_one(), False), (CHECKED, self.run.two.intervals, True))
        with self.picture.actor("next", "words", faded(Way(0, 0, here=False), self.lens, self.since, self.until)):
            for words, _, second in fields:
                self._names(words, second)
            ticks(self.picture, self.axis, self.at.field(True, self.case.p) + self.pitch * self.case.p + 1)
        for _, work, second in fields:
            for stage in range(self.case.p):
                self._lane(stage, [op for op in work if op.stage == stage], second)
                self._border(stage, [op for op in work if op.stage == stage], second)
        self._gain()

    def _one_by_one(self) -> tuple[Interval, ...]:
        """Both steps, the second when the first is over everywhere."""
        one, end, m = self.run.timeline.intervals, self.run.slots, self.case.m
        return (
            *one,
            *(op._replace(start=op.start + end, end=op.end + end, micro_batch=op.micro_batch + m) for op in one),
        )

    def _names(self, words: str, second: bool) -> None:
        y = self.at.field(second, self.case.p)
        who = "each stage " if second else "optimizer "
        self.picture.text(4, y - 8, who + words if self.picture.is_wide else words, "read")
        for stage in range(self.case.p):
            middle = y + stage * self.pitch + self.pitch * BAR / 2
            self.picture.text(self.at.sides[0] - 8, middle + 6, str(stage), "read", anchor="end", ink="soft")

    def _lane(self, stage: int, work: list[Interval], second: bool) -> None:
        start, end = self.axis.start, self.axis.end
        shown = [
            op._replace(start=max(op.start, start), end=min(op.end, end))
            for op in work
            if op.end > start and op.start < end
        ]
        idle = [Wait(stage, a, b) for a, b in _gaps(shown, start, end)]
        y = self.at.field(second, self.case.p) + stage * self.pitch
        way = Way(self.at.sides[0], y, here=False, shown=0).show(self.since + 0.1, 0.0)
        way.uncover(self.lens.span(self.story.next_starts, self.story.next_starts + end - start))
        why = f"stage {stage}: the end of a step and the start of the next"
        key = f"next-{second}-{stage}"
        lane(
            self.picture,
            key,
            way,
            self.run,
            stage,
            self.axis,
            self.pitch * BAR,
            self.at.number,
            why=why,
            work=shown,
            idle=idle,
        )

    def _border(self, stage: int, work: list[Interval], second: bool) -> None:
        """Where a stage's next step begins."""
        begins = min(op.start for op in work if op.micro_batch >= self.case.m)
        if begins >= self.axis.end:
            return
        y = self.at.field(second, self.case.p) + stage * self.pitch
        t = self.lens.begins(self.story.next_starts + begins - self.axis.start)
        way = (
            Way(self.axis.x(begins), y - 8, here=False)
            .show(t, 0.05)
            .go(((t, 0.0), (t + 0.3, 1.0)), self.axis.x(begins), y)
        )
        with self.picture.actor(f"border-{second}-{stage}", "flag", way, why=f"here stage {stage} has new weights"):
            self.picture.line(0, -1, 0, self.pitch * BAR + 3, ink="good", stroke="thick", key="border")

    def _gain(self) -> None:
        run, axis = self.run, self.axis
        bottom = self.at.field(True, self.case.p) + self.pitch * self.case.p + 2
        now = self.at.axis(self.story.next_starts, self.story.next_starts + axis.end - axis.start)
        playhead(
            self.picture,
            "now-next",
            now,
            self.at.field(False, self.case.p) - 4,
            bottom,
            self.lens,
            self.since + 0.3,
            self.until,
        )
        told, length = self.story.told[0][0], run.slots - run.next_step
        x, y = axis.x(run.slots - length), bottom + 12
        wide = axis.x(run.slots) - x
        way = Way(x, y, here=False, wide=0).show(told, 0.0).grow(((told, 0.0), (told + 0.6, 1.0)), wide=1)
        with self.picture.actor("gain", "gap", way):
            self.picture.line(0, 0, wide, 0, ink="good", stroke="thick", key="gain")
        with self.picture.actor("gain-words", "words", Way(self.at.sides[1], bottom + 34, here=False).show(told + 0.7)):
            words = f"{in_slots(length)} of the next step have run by then"
            self.picture.text(0, 0, words, "read", anchor="end", ink="good")


def _gaps(row: list[Interval], start: float, end: float) -> list[tuple[float, float]]:
    """When nothing of a row runs between two moments."""
    row = sorted(row, key=lambda op: op.start)
    begins, ends = [op.start for op in row] + [end], [start] + [op.end for op in row]
    return [(a, b) for a, b in zip(ends, begins, strict=True) if b - a > 1e-9]
