"""The way back: a crash and a hang on one clock, and how far the run has come."""

from app.board.film.composition import Composition
from app.board.film.pieces import Axis, Cell, faded, lane, named, playhead, written
from app.board.film.track import Way
from app.board.pen import Point
from app.board.scenes.failures.places import Chart, facts, places
from app.board.scenes.failures.story import Story
from engine.language.units import bytes_text, seconds_text
from engine.run.failures import WATCHDOG_S


class Back:
    """Progress above, two lanes below: noticed at once, or by the watchdog."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.case = picture, story, story.case
        self.at, self.lens = places(picture), story.lens
        self.act, self.start = story.act("back"), story.engine("back")

    def draw(self) -> None:
        x, y, width, height = self.at.chart
        chart = Chart(x, y, width, height - 20)
        axis = Axis(x, x + width, self.start, self.start + self.story.back_s)
        with self.picture.actor("back-chart", "words", faded(Way(0, 0, here=False), self.lens, *self.act)):
            chart.draw(self.picture, "progress")
            chart.curve(self.picture, ((0, 0), (1, 0.98)), "ghost", "dashed")
        for name, noticed, ink in (("crash", 0.0, "good"), ("hang", WATCHDOG_S, "bad")):
            self._run(name, noticed, ink, chart)
        top = y + height + 12
        self._lane("crash", 0.0, axis, top)
        self._lane("hang", WATCHDOG_S, axis, top + self.at.lane + 12)
        playhead(self.picture, "now-back", axis, y, top + 2 * self.at.lane + 20, self.lens, *self.act)
        case = self.case
        rows = (
            (seconds_text(case.each.value), "a hang costs"),
            (seconds_text(case.each.value - WATCHDOG_S), "a crash costs"),
            (seconds_text(case.reading.value), f"to read back {bytes_text(case.state.value)}"),
        )
        facts(self.picture, "back", rows, self.lens, self.act, "bad")

    def moments(self, noticed: float) -> tuple[float, ...]:
        """When it fails, is noticed, works again, and has caught up; since the act began.   [s]"""
        worked, down = self.story.worked, noticed + self.case.restart_s
        return worked, worked + noticed, worked + down, 2 * worked + down

    def _run(self, name: str, noticed: float, ink: str, chart: Chart) -> None:
        """A point that goes up with the work, falls to the checkpoint, and climbs again; its trace stays."""
        whole, worked = self.story.back_s, self.story.worked
        up = 0.98 / whole
        failed, seen, again, caught = self.moments(noticed)
        end = min(whole, caught + (whole - caught))
        corners: list[Point] = [
            (0, 0),
            (failed, worked),
            (seen, worked),
            (seen, 0),
            (again, 0),
            (caught, worked),
            (end, worked + end - caught),
        ]
        points = [
            (self.lens.begins(self.start + e) if e == seen else self.lens.ends(self.start + e), (e / whole, done * up))
            for e, done in corners
        ]
        points[0] = (self.act[0], points[0][1])
        way = chart.walk(Way(*chart.at(0, 0), here=False).show(self.act[0] + 0.02, 0.0), points).hide(self.act[1], 0.2)
        trace = Way(chart.x, 0, here=False, shown=0).show(self.act[0] + 0.02, 0.0)
        trace.uncover(self.lens.span(self.start, self.start + whole)).hide(self.act[1], 0.2)
        window = chart.width, chart.y + chart.height + 4
        curve = [(e / whole, done * up) for e, done in corners]
        with (
            self.picture.actor(f"trace-{name}", "trace", trace, window=window, why=f"progress with a {name}"),
            self.picture.moved(-chart.x, 0),
        ):
            chart.curve(self.picture, curve, ink, "thick")
        with self.picture.actor(f"point-{name}", "point", way, why=f"how far the run has come, with a {name}"):
            self.picture.circle(0, 0, 8, fill="board", ink=ink, stroke="thick", key=name)

    def _lane(self, name: str, noticed: float, axis: Axis, y: float) -> None:
        failed, seen, again, caught = (self.start + moment for moment in self.moments(noticed))
        cells = [
            Cell(self.start, failed, "work", "f", "work since the last checkpoint"),
            Cell(failed, seen, "hang", "waiting", "nobody knows yet: until the watchdog"),
            Cell(seen, again, "restart", "buffers", "a new node, reading the checkpoint, warming up"),
            Cell(again, caught, "again", "b", "steps that were done before"),
            Cell(caught, axis.end, "work", "f", "new work"),
        ]
        cells = [cell for cell in cells if cell.end > cell.start]
        with self.picture.actor(f"back-lane-{name}", "words", faded(Way(0, 0, here=False), self.lens, *self.act)):
            self.picture.text(axis.left - 8, y + self.at.lane - 8, name, "read", anchor="end")
            lane(self.picture, axis, y, cells, self.at.lane)
        written(self.picture, f"back-{name}", axis, y, cells, self.lens, self.act[1], self.at.lane)
        with self.picture.actor(f"back-words-{name}", "words", faded(Way(0, 0, here=False), self.lens, *self.act)):
            named(self.picture, axis, y, cells, self.at.lane)
