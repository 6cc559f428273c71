"""The film's first acts: GPUs in step, one that is slow, one that dies, one that hangs."""

from app.board.film.composition import Composition, running
from app.board.film.pieces import Axis, Cell, faded, lane, playhead, written
from app.board.film.track import Way
from app.board.scenes.failures.case import SLOW
from app.board.scenes.failures.places import facts, places
from app.board.scenes.failures.story import STEPS, STOPPED, Story, hours_text
from engine.language.units import count_text, digits_text, seconds_text, share_text
from engine.run.failures import WATCHDOG_S

SHOWN = 7  # lanes drawn of all
ODD = 4  # the lane something happens to
MANY = 10_000  # GPUs: their hours of waiting are a longer number


class Lanes:
    """Lanes of GPUs, written anew in each act."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.case = picture, story, story.case
        self.at, self.lens = places(picture), story.lens

    def y(self, row: int) -> float:
        return self.at.top + row * self.at.pitch

    def draw(self) -> None:
        self._names()
        self._beat()
        self._slow()
        self._crash()
        self._hang()

    def _names(self) -> None:
        picture, gpus = self.picture, self.case.gpus
        until = self.story.act("hang")[1]
        with picture.actor("lane-names", "words", faded(Way(0, 0), self.lens, 0.0, until)):
            for row in range(SHOWN):
                gpu = row if row < SHOWN - 2 else gpus - SHOWN + row
                name = f"GPU {count_text(gpu)}" if picture.is_wide else count_text(gpu)
                picture.text(self.at.axis[0] - 8, self.y(row) + self.at.lane - 8, name, "read", anchor="end")

    def _act(self, name: str, length: float, rows: list[list[Cell]]) -> Axis:
        """The lanes of one act, each with its work, on an axis of their own."""
        picture, (since, until), start = self.picture, self.story.act(name), self.story.engine(name)
        axis = Axis(*self.at.axis, start, start + length)
        with picture.actor(f"outline-{name}", "words", faded(Way(0, 0, here=since <= 0), self.lens, since, until)):
            for row, cells in enumerate(rows):
                lane(picture, axis, self.y(row), cells, self.at.lane)
        for row, cells in enumerate(rows):
            written(picture, f"{name}-{row}", axis, self.y(row), cells, self.lens, until, self.at.lane)
        return axis

    def _playhead(self, name: str, axis: Axis) -> None:
        since, until = self.story.act(name)
        playhead(
            self.picture,
            f"now-{name}",
            axis,
            self.at.top - 8,
            self.y(SHOWN - 1) + self.at.lane + 6,
            self.lens,
            since,
            until,
        )

    def _beat(self) -> None:
        start, step, case = self.story.engine("beat"), self.story.step_s, self.case
        beats = [
            Cell(start + at * step, start + (at + 1) * step, "", "f", "a step: it ends for all at once")
            for at in range(STEPS)
        ]
        axis = self._act("beat", STEPS * step, [beats] * SHOWN)
        self._sums(axis, "beat", [start + (at + 1) * step for at in range(STEPS)])
        self._playhead("beat", axis)
        rows = (
            (hours_text(case.between.value), f"any of {count_text(case.gpus)} GPUs"),
            (hours_text(case.alone.value), "one GPU by itself"),
            (case.daily.text, "something within a day"),
        )
        facts(self.picture, "beat", rows, self.lens, self.story.act("beat"), "bad")

    def _sums(self, axis: Axis, name: str, ends: list[float]) -> None:
        """At the end of a step a pulse goes through all lanes: that is when gradients are summed."""
        until = self.story.act(name)[1]
        tall = self.y(SHOWN - 1) + self.at.lane - self.at.top
        for at, end in enumerate(ends):
            t = self.lens.ends(end)
            way = Way(axis.x(end), self.at.top, here=False, tall=0).show(max(0.05, t - 0.15), 0.0)
            way.grow(((max(0.05, t - 0.15), 0), (t + 0.1, 1)), tall=1)
            with self.picture.actor(
                f"sum-{name}-{at}",
                "sum",
                way.hide(max(t + 0.1, until), 0.2),
                why="all sum their gradients: nobody goes on before",
            ):
                self.picture.line(0, 0, 0, tall, ink="dp", stroke="thick", key="sum")

    def _slow(self) -> None:
        start, step = self.story.engine("slow"), self.story.step_s
        whole = step * (1 + SLOW)
        odd, others = [], []
        for at in range(STEPS):
            begin = start + at * whole
            odd.append(Cell(begin, begin + whole, "", "b", f"this one takes {share_text(SLOW)} longer"))
            others.append(Cell(begin, begin + step, "", "f", "its own work is done"))
            others.append(
                Cell(begin + step, begin + whole, "", "waiting", "waits for the slow one: the sum needs every rank")
            )
        axis = self._act("slow", STEPS * whole, [odd if row == ODD else others for row in range(SHOWN)])
        self._sums(axis, "slow", [start + (at + 1) * whole for at in range(STEPS)])
        self._playhead("slow", axis)
        rows = (
            (f"−{share_text(self.case.slow.value)}", "speed of the whole run"),
            (f"{digits_text(self.case.slow_gpus.value)} GPUs", "might as well be off"),
            (f"+{share_text(SLOW)}", "time of one GPU"),
        )
        facts(self.picture, "slow", rows, self.lens, self.story.act("slow"), "bad")

    def _crash(self) -> None:
        start, step = self.story.engine("crash"), self.story.step_s
        until = start + STOPPED * step
        rows = [[Cell(start, until, "", "b" if row == ODD else "f", "until the crash")] for row in range(SHOWN)]
        axis = self._act("crash", step, rows)
        since, gone = self.story.crashed[0][0], self.story.act("crash")[1]
        for row in range(SHOWN):
            late = since + 0.15 + 0.09 * abs(row - ODD)  # as one reads it; in truth at once
            x, y = axis.x(until) + 16, self.y(row) + self.at.lane / 2
            way = Way(x - 30, y, here=False).show(late, 0.05).go(((late, 0), (late + 0.25, 1)), x, y).hide(gone, 0.2)
            with self.picture.actor(
                f"closed-{row}", "closed", way, why="dead" if row == ODD else "its connection has closed: it stops"
            ):
                if row == ODD:
                    self.picture.cross(0, 0, 18, key="dead")
                else:
                    self.picture.cells([(-5, -7, 10, 14)], fill="ink", ink="ink")
        rows_of = (
            ("at once", "noticed"),
            (seconds_text(self.case.restart_s), "to restart"),
            (f"{count_text(0)} GPU-h", "of waiting"),
        )
        facts(self.picture, "crash", rows_of, self.lens, self.story.act("crash"), "good")

    def _hang(self) -> None:
        start, step = self.story.engine("hang"), self.story.step_s
        stopped = start + STOPPED * step
        end = stopped + WATCHDOG_S
        odd = [Cell(start, stopped, "", "b", "until it hangs")]
        others = [
            Cell(start, stopped, "", "f", "its own work"),
            Cell(stopped, end, "", "waiting", "in the sum, waiting for a rank that will not come"),
        ]
        axis = self._act("hang", end - start, [odd if row == ODD else others for row in range(SHOWN)])
        self._playhead("hang", axis)
        since, until = self.story.act("hang")
        t = self.lens.ends(end)
        for row in range(SHOWN):
            way = Way(axis.right - 30, self.y(row) + self.at.lane - 8, here=False).show(
                max(since + 0.1, t - 0.35 + 0.04 * row), 0.1
            )
            with self.picture.actor(
                f"came-{row}", "recorder", way.hide(until, 0.2), why="the flight recorder: who came to the sum"
            ):
                if row == ODD:
                    self.picture.cross(0, -6, 16, key="absent")
                else:
                    self.picture.tick(0, 0, 12, key=f"came-{row}")
        self._waited(stopped, since, until)

    def _waited(self, stopped: float, since: float, until: float) -> None:
        """GPU-hours that pass while all wait, and how long they do."""
        per_s = self.case.hang.value / WATCHDOG_S

        def waited(moment: float) -> str:
            if not since <= moment <= until:
                return ""
            passed = min(max(self.lens(moment) - stopped, 0.0), WATCHDOG_S)
            return f"{digits_text(round(passed * per_s, 1))} GPU-h"

        x, y = self.at.facts
        self.picture.runs(
            "waited",
            x,
            y,
            running(self.lens.length, waited),
            "caption" if self.case.gpus > MANY else "title",
            ink="bad",
        )
        with self.picture.actor("facts-hang", "words", faded(Way(x, y, here=False), self.lens, since, until)):
            self.picture.text(0, 27, "of waiting", "read", ink="soft")
            self.picture.text(0, 84, seconds_text(WATCHDOG_S), "answer" if self.picture.is_wide else "title")
            self.picture.text(0, 111, "until the watchdog", "read", ink="soft")
