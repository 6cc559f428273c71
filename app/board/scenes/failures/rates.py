"""How often to save, and half a year by lot."""

from math import log2

from app.board.film.composition import Composition, running
from app.board.film.lens import plain
from app.board.film.pieces import faded
from app.board.film.track import Way
from app.board.pen import cells
from app.board.scenes.failures.case import DAYS
from app.board.scenes.failures.places import Chart, facts, places
from app.board.scenes.failures.story import Story
from engine.language.units import DAY_S, counted, seconds_text, share_text
from engine.run.failures import checkpoint_overhead

ROWS = 6  # of the calendar
DOUBLINGS = 4  # of the best interval, to either side


class Often:
    """The cost of saving over the time between saves: a point slides along it."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.case = picture, story, story.case
        self.at, self.act = places(picture), story.act("often")
        self.top = 5 * self.case.best_overhead.value

    def cost(self, place: float, *, stall: bool = True, work: bool = True) -> float:
        """Share of the time lost, of the chart's height."""
        case = self.case
        i = case.best.value * 2 ** (2 * DOUBLINGS * place - DOUBLINGS)
        whole, lost = (checkpoint_overhead(C=c, i=i, M=case.between.value) for c in (case.stall_s, 0))
        return float((whole if stall and work else lost if work else whole - lost) / self.top)

    def draw(self) -> None:
        picture, case, lens = self.picture, self.case, self.story.lens
        chart = Chart(*self.at.chart)
        places_of = [step / 80 for step in range(81)]
        with picture.actor("cost", "words", faded(Way(0, 0, here=False), lens, *self.act)):
            chart.draw(picture, "share of the time lost")
            for parts in ({"work": False}, {"stall": False}):
                curve = [(p, self.cost(p, **parts)) for p in places_of]
                chart.curve(picture, [point for point in curve if point[1] < 1], "soft", "dashed")
            chart.curve(picture, [(p, self.cost(p)) for p in places_of if self.cost(p) < 1], "remark", "marker")
            picture.text(*chart.at(0.03, 0.2), "stalls", "caption", ink="soft")
            picture.text(*chart.at(0.98, 0.2), "lost work", "caption", anchor="end", ink="soft")
            for place in (0.125, 0.5, 0.875):
                x, y = chart.at(place, 0)
                words = seconds_text(case.best.value * 2 ** (2 * DOUBLINGS * place - DOUBLINGS))
                picture.text(x, y + 22, words, "number", anchor="middle", ink="soft")
            x, y = chart.at(0.5, self.cost(0.5))
            picture.circle(x, y, 6, fill="board", ink="good", key="best")
            picture.text(x, y - 14, "best", "caption", anchor="middle", ink="good")
        self._slide(chart)
        rows = (
            (case.best.text, "best between saves"),
            (share_text(case.best_overhead.value), "of the time, at best"),
            (share_text(case.overhead.value), f"yours: {seconds_text(case.interval_s)}"),
        )
        facts(picture, "often", rows, lens, self.act, "good")

    @property
    def yours(self) -> float:
        """Where the interval of the knob lies on the chart."""
        return min(1.0, max(0.0, (log2(self.case.interval_s / self.case.best.value) + DOUBLINGS) / (2 * DOUBLINGS)))

    def _slide(self, chart: Chart) -> None:
        """Too often, too seldom, then where the knob stands."""
        since, until = self.act
        low, high = 0.06, 0.94
        stops = [
            *(low + (high - low) * at / 24 for at in range(25)),
            *(high + (self.yours - high) * at / 12 for at in range(1, 13)),
        ]
        step = (until - since - 0.3) / len(stops)
        points = [(since + 0.2 + at * step, (place, self.cost(place))) for at, place in enumerate(stops)]
        way = chart.walk(Way(*chart.at(*points[0][1]), here=False).show(since + 0.2, 0.1), points).hide(until, 0.2)
        with self.picture.actor("yours", "point", way, why="the time between two checkpoints: drag its knob"):
            self.picture.circle(0, 0, 9, fill="board", ink="bad", stroke="thick", key="yours")
        for name, kind, parts in (("stall bar", "stall", {"work": False}), ("work bar", "loss", {"stall": False})):
            self._bar(name, kind, parts, chart, points)

    def _bar(self, name: str, kind: str, parts: dict[str, bool], chart: Chart, points: list) -> None:
        """What the point is made of, as a bar below it: as tall as its share."""
        since, until = self.act
        bottom = chart.y + chart.height
        offset = -6 if kind == "stall" else 1
        way = Way(chart.at(*points[0][1])[0] + offset, bottom, here=False, tall=0).show(since + 0.2, 0.1)
        before = points[0][0]
        for t, (place, _) in points[1:]:
            span = plain(before, t)
            way.go(span, chart.at(place, 0)[0] + offset, bottom, eased=False)
            way.grow(span, tall=-min(1.0, self.cost(place, **parts)) * chart.height)
            before = t
        with self.picture.actor(
            name,
            kind,
            way.hide(until, 0.2),
            why="time that saving takes" if kind == "stall" else "work that is lost on average",
        ):
            self.picture.cells([(0, 0, 5, 1)], fill="buffers" if kind == "stall" else "b", ink="")


class HalfYear:
    """A run of many days with failures drawn by lot, and what of its time was useful."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.case = picture, story, story.case
        self.at, self.lens, self.act = places(picture), story.lens, story.act("days")
        self.start = story.engine("days")
        wide = picture.is_wide
        self.left, self.right = (76.0, 708.0) if wide else (70.0, 352.0)
        self.top, self.pitch, self.high = (22.0, 42.0, 32.0) if wide else (30.0, 44.0, 32.0)

    def draw(self) -> None:
        picture, days = self.picture, DAYS // ROWS
        width = self.right - self.left
        with picture.actor("calendar", "words", faded(Way(0, 0, here=False), self.lens, *self.act)):
            fields = [
                (self.left + column * width / days, self.top + row * self.pitch, width / days, self.high)
                for row in range(ROWS)
                for column in range(days)
            ]
            picture.cells(fields, fill="board", ink="rule")
            for row in range(ROWS):
                words = f"day {row * days + 1}"
                picture.text(self.left - 8, self.top + row * self.pitch + 22, words, "read", anchor="end", ink="soft")
        for row in range(ROWS):
            self._row(row, days)
        self._meter()

    def _row(self, row: int, days: int) -> None:
        """A row of days is written; failures are marks, as wide as the time they cost."""
        width, span_s = self.right - self.left, days * DAY_S
        begin = self.start + row * span_s
        span = self.lens.span(begin, begin + span_s)
        marks = _joined(
            [
                (failure.at_s % span_s / span_s * width, max(1.0, failure.lost_s / span_s * width))
                for failure in self.case.run.failures
                if int(failure.at_s // span_s) == row
            ]
        )
        way = Way(self.left, self.top + row * self.pitch, here=False, shown=0).show(span[0][0], 0.0).uncover(span)
        with self.picture.actor(
            f"days-{row}",
            "days",
            way.hide(self.act[1], 0.2),
            window=(width, self.high),
            why="each mark is a failure, as wide as the time it cost",
        ):
            self.picture.cells([(0, 0, width, self.high)], fill="w", ink="")
            self.picture.path(cells([(x, 0, min(w, width - x), self.high) for x, w in marks]), fill="b", ink="bad")
        head = Way(self.left, self.top + row * self.pitch - 4, here=False).show(span[0][0], 0.0)
        with self.picture.actor(
            f"day-{row}",
            "day",
            head.go(span, self.right, self.top + row * self.pitch - 4, eased=False).hide(span[-1][0], 0.0),
        ):
            self.picture.line(0, 0, 0, self.high + 8, ink="bad", stroke="thick", key="day")

    def _meter(self) -> None:
        """Useful, saving, lost: shares of the whole, that grow as the days pass."""
        picture, case, run = self.picture, self.case, self.case.run
        y = self.top + ROWS * self.pitch + (38 if picture.is_wide else 60)
        width = self.right - self.left
        saving = run.useful_share * case.stall_s / case.interval_s
        parts = (
            ("useful", run.useful_share, "w"),
            ("saving", saving, "buffers"),
            ("lost", max(0.0, 1 - run.useful_share - saving), "b"),
        )
        span, x = self.lens.span(self.start, self.start + DAYS * DAY_S), self.left
        for name, share, fill in parts:
            way = Way(self.left, y, here=False, wide=0).show(span[0][0], 0.0)
            way.go(span, x, y, eased=False).grow(span, wide=1).hide(self.act[1], 0.2)
            with picture.actor(f"meter-{name}", name, way, why=f"{name}: {share_text(share)} of the time"):
                picture.cells([(0, 0, max(0.5, share * width), 28)], fill=fill, ink="ink")
            x += share * width
        count, end = len(run.failures), DAYS * DAY_S

        def failed(t: float) -> str:
            if not self.act[0] <= t <= self.act[1]:
                return ""
            seen = (
                sum(failure.at_s <= self.lens(t) - self.start for failure in run.failures)
                if self.lens(t) < self.start + end
                else count
            )
            return counted(seen, "failure")

        picture.runs("failed", self.left, y - 12, running(self.lens.length, failed), "caption", ink="bad")
        with picture.actor("useful-words", "words", faded(Way(self.right, y - 12, here=False), self.lens, *self.act)):
            picture.text(0, 0, f"useful {share_text(run.useful_share)}", "caption", anchor="end", ink="good")


def _joined(marks: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Marks that overlap become one, so that a run that only fails stays a small drawing."""
    kept: list[tuple[float, float]] = []
    for x, width in marks:
        if kept and x <= kept[-1][0] + kept[-1][1] + 0.5:
            kept[-1] = (kept[-1][0], max(kept[-1][1], x + width - kept[-1][0]))
        else:
            kept.append((x, width))
    return kept
