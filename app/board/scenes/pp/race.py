"""The pipeline film's race: the same work under two schedules, on one scale, through one playhead."""

from app.board.film.composition import Composition, running
from app.board.film.pieces import faded, playhead
from app.board.film.track import Way
from app.board.legend import words_width
from app.board.scenes.pp.case import Run, in_slots
from app.board.scenes.pp.lanes import BAR, lane, ticks
from app.board.scenes.pp.places import places
from app.board.scenes.pp.story import Story, act
from engine.language.units import digits_text, share_text
from engine.lens.stacks import waited

FALLS, FLAG = 0.35, 13.0  # s in which a flag comes down, and how long it is


class Race:
    """Two fields of lanes; a flag where each ends, and the gap between them."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.case, self.at = picture, story, story.case, places(picture)
        self.lens, self.start = story.lens, story.run.slots
        self.since, self.until = act(story, "race")
        self.axis = self.at.axis(0.0, story.end)
        self.pitch = self.at.pitch(self.case.p)
        self.tall = self.pitch * self.case.p

    def draw(self) -> None:
        fields = ((self.story.rival, False), (self.story.run, True))
        with self.picture.actor("race", "words", faded(Way(0, 0, here=False), self.lens, self.since, self.until)):
            for run, second in fields:
                self._names(run, second)
            ticks(self.picture, self.axis, self.at.field(True, self.case.p) + self.tall + 1)
        for stage in range(self.case.p):
            self._rival(stage)
        for run, second in fields:
            self._flag(run, second)
            self._waited(run, second)
        whole = self.at.axis(self.start, self.start + self.story.end)
        top, bottom = self.at.field(False, self.case.p) - 4, self.at.field(True, self.case.p) + self.tall + 2
        playhead(self.picture, "now-race", whole, top, bottom, self.lens, self.since + 0.3, self.until)
        self._gap(bottom)

    def _names(self, run: Run, second: bool) -> None:
        y = self.at.field(second, self.case.p)
        self.picture.text(4, y - 8, run.title, "read")
        for stage in range(self.case.p):
            middle = y + stage * self.pitch + self.pitch * BAR / 2
            self.picture.text(self.at.sides[0] - 8, middle + 6, str(stage), "read", anchor="end", ink="soft")

    def _rival(self, stage: int) -> None:
        run = self.story.rival
        y = self.at.field(False, self.case.p) + stage * self.pitch
        span = self.lens.span(self.start, self.start + run.slots)
        way = Way(self.at.sides[0], y, here=False, shown=0).show(self.since + 0.1, 0.0)
        way.uncover(span, run.slots / self.story.end)
        if self.until < self.lens.length:
            way.hide(self.until, 0.3)
        lane(self.picture, f"rival-{stage}", way, run, stage, self.axis, self.pitch * BAR, self.at.number)

    def _flag(self, run: Run, second: bool) -> None:
        """It falls where the step ends; that of the first stays as a ruler through both fields."""
        x, top = self.axis.x(run.slots), self.at.field(second, self.case.p)
        t = self.lens.ends(self.start + run.slots)
        way = Way(x, top - 18, here=False).show(t, 0.05).go(((t, 0.0), (t + FALLS, 1.0)), x, top)
        if self.until < self.lens.length:
            way.hide(self.until, 0.3)
        words = in_slots(run.slots)
        room = self.picture.width - x
        with self.picture.actor(f"flag-{second}", "flag", way, why=f"{run.title} is done after {words}"):
            self.picture.line(0, 0, 0, self.tall - 2, ink="good", stroke="thick", key="pole")
            side = -FLAG if room < FLAG + 2 else FLAG
            self.picture.polyline(((0, 0), (side, 5), (0, 10)), fill="w", ink="good", key="pennant")
        beside = room > words_width(words) + 20
        way = Way(x + 17 if beside else x - (4 if room < FLAG + 2 else 0), top + (12 if beside else -8), here=False)
        with self.picture.actor(f"ends-{second}", "words", self._act(way.show(t + FALLS))):
            self.picture.text(0, 0, words, "read", anchor="start" if beside else "end", ink="good")

    def _waited(self, run: Run, second: bool) -> None:
        def words(t: float) -> str:
            if not self.since + 0.3 < t < self.until:
                return ""
            lost = waited(run.gaps, min(max(0.0, self.lens(t) - self.start), run.slots))
            return f"{lost:.0f} stage-slots waited" if self.picture.is_wide else f"{lost:.0f} waited"

        x = 4 + max(words_width(each.title) for each in (self.story.run, self.story.rival)) + 16
        y = self.at.field(second, self.case.p) - 8
        steps = running(self.lens.length, words)
        self.picture.runs(f"waited-{second}", x, y, steps, self.at.number, ink="bad")

    def _gap(self, bottom: float) -> None:
        story, picture = self.story, self.picture
        x, z = self.axis.x(story.first.slots), self.axis.x(story.end)
        named = story.named[0][0]
        if story.gap > 1e-9:
            t = self.lens.ends(self.start + story.first.slots)
            top = self.at.field(False, self.case.p)
            ruler = Way(x, top, here=False, tall=0).show(t, 0.0).grow(((t, 0.0), (t + 0.5, 1.0)), tall=1)
            with picture.actor("ruler", "ruler", self._act(ruler), why="where the first is home"):
                picture.line(0, 0, 0, bottom - top + 10, ink="good", stroke="dashed", key="ruler")
            grows = (
                Way(x, bottom + 12, here=False, wide=0)
                .show(named, 0.0)
                .grow(((named, 0.0), (named + 0.6, 1.0)), wide=1)
            )
            with picture.actor("late", "gap", self._act(grows)):
                picture.line(0, 0, z - x, 0, ink="good", stroke="thick", key="late")
        with picture.actor(
            "gap-words", "words", self._act(Way(self.at.sides[1], bottom + 34, here=False).show(named + 0.7))
        ):
            picture.text(0, 0, self._words(), "read", anchor="end", ink="good")

    def _words(self) -> str:
        story = self.story
        if story.gap > 1e-9:
            share = share_text(story.gap / story.end)
            return f"{in_slots(story.gap)}, {share} sooner"
        first, second = (digits_text(max(run.held)) for run in (story.rival, story.run))
        return f"no slot sooner; kept at most: {first} above, {second} below"

    def _act(self, way: Way) -> Way:
        return way.hide(self.until, 0.3) if self.until < self.lens.length else way
