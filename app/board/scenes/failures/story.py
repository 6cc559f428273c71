"""The passages of the failures film: what happens when, in film seconds and on the clock of each act."""

from functools import cached_property
from itertools import pairwise

from app.board.film.film import Script
from app.board.film.lens import Lens
from app.board.scenes.failures.case import DAYS, SLOW, Case
from engine.catalog.scenarios import preset_document
from engine.estimate import estimate
from engine.language.units import DAY_S, HOUR_S, count_text, counted, digits_text, seconds_text, share_text
from engine.run.failures import WATCHDOG_S
from engine.scenario import scenario_from

STEPS = 3  # of each of the first acts
STOPPED = 0.6  # of a step: when the rank is lost


def hours_text(seconds: float) -> str:
    """A time between failures: hours as far as people count in them."""
    hours = seconds / HOUR_S
    return f"{digits_text(hours)} h" if 1 <= hours < 100 else seconds_text(seconds)


class Story:
    """The film of one setting of the knobs: its script, and when each act begins in film seconds and engine time."""

    def __init__(self, case: Case):
        self.case, self.script = case, Script()
        self.begins: dict[str, tuple[float, float]] = {}
        self._lanes()
        self._lost()
        self._back()
        self._rates()
        self._losses()
        self.lens: Lens = self.script.lens

    @cached_property
    def step_s(self) -> float:
        """One step of the question's run.   [s]"""
        return estimate(scenario_from(preset_document())).step.seconds.value

    def _act(self, name: str) -> None:
        self.begins[name] = self.script.points[-1]

    def act(self, name: str) -> tuple[float, float]:
        """From when to when an act is shown.   [film seconds]"""
        starts = [(key, t) for key, (t, _) in self.begins.items()] + [("", self.script.now)]
        return next((since, until) for (key, since), (_, until) in pairwise(starts) if key == name)

    def engine(self, name: str) -> float:
        """The engine's time as an act begins; its own clock is at nothing then."""
        return self.begins[name][1]

    def _lanes(self) -> None:
        case, script, step = self.case, self.script, self.step_s
        gpus, between = count_text(case.gpus), hours_text(case.between.value)
        self._act("beat")
        script.open(
            "in step",
            f"{gpus} GPUs work in step.",
            f"Lanes of {gpus} GPUs. Every step of {seconds_text(step)} ends when all have summed their gradients.",
        )
        script.passage(
            "together",
            2.4,
            f"Each fails rarely; together they fail every {between}.",
            f"One GPU fails every {case.alone.text}, any of {gpus} every {between}: {case.daily.text} within a day.",
            engine=STEPS * step,
        )
        self._act("slow")
        script.passage(
            "one is slow",
            2.8,
            f"One takes {share_text(SLOW)} longer; every step ends with it.",
            f"All lanes wait for one at the end of each step. The run loses {case.slow.text} of its speed, the work of "
            f"{digits_text(case.slow_gpus.value)} of {gpus} GPUs.",
            engine=STEPS * step * (1 + SLOW),
        )

    def _lost(self) -> None:
        case, script, step = self.case, self.script, self.step_s
        self._act("crash")
        script.run(0.8, engine=STOPPED * step)
        self.crashed = script.run(1.2)
        script.stop(
            "a crash",
            "A rank dies: its connections close, and the launcher knows at once.",
            "One lane ends. The others see closed connections and stop; the launcher has seen the signal. Nobody waits.",
        )
        self._act("hang")
        script.run(0.6, engine=STOPPED * step)
        self.waiting = script.run(2.4, engine=WATCHDOG_S)
        script.stop(
            "a hang",
            f"A rank hangs: it lives, so {count_text(case.gpus - 1)} wait until the watchdog.",
            f"One lane stands still, its connections open; the others wait {seconds_text(WATCHDOG_S)}, {case.hang.text} in "
            "all. Then the flight recorder names who never came.",
        )

    @cached_property
    def worked(self) -> float:
        """Work since the last checkpoint as the failure comes: on average half of what lies between two.   [s]"""
        return self.case.interval_s / 2

    @cached_property
    def back_s(self) -> float:
        """The axis of the way back: work, a hang, a restart, the same work again, and some more.   [s]"""
        return 2 * self.worked + self.case.down_s + self.case.interval_s / 4

    def _back(self) -> None:
        case = self.case
        self._act("back")
        self.script.passage(
            "the way back",
            4.0,
            f"Back to the last checkpoint: a hang costs {case.each.text}, a crash less.",
            f"Progress falls to the last checkpoint. {seconds_text(self.worked)} of work are done again, after a restart of "
            f"{seconds_text(case.restart_s)}; a hang waits {seconds_text(WATCHDOG_S)} more than a crash.",
            engine=self.back_s,
        )

    def _rates(self) -> None:
        case, run = self.case, self.case.run
        self._act("often")
        self.slide = self.script.passage(
            "how often",
            3.4,
            f"Saving often stalls, saving seldom loses work: best every {case.best.text}.",
            f"Cost over the time between checkpoints: least at {case.best.text}, {case.best_overhead.text}. "
            f"At {seconds_text(case.interval_s)} it is {case.overhead.text}.",
        )
        self._act("days")
        failed, useful = counted(len(run.failures), "failure"), share_text(run.useful_share)
        self.script.passage(
            "half a year",
            3.4,
            f"{DAYS} days, drawn by lot: {failed}, {useful} of the time useful.",
            f"{failed}, {case.expected.text} expected. Each, reckoned as a hang, costs {case.each.text} on average, "
            f"{case.lost.text} in all. Useful by the formula: {case.goodput.text}.",
            engine=DAYS * DAY_S,
        )

    def _losses(self) -> None:
        self._act("spike")
        self.spike = self.script.passage(
            "loss spike",
            3.2,
            "The loss jumps: roll back before it, skip that data, go on.",
            "A falling loss jumps; training returns to an earlier checkpoint, leaves out the batches at the jump, and falls "
            "on as before.",
        )
        self._act("silent")
        self.silent = self.script.passage(
            "silent error",
            2.4,
            "A bit flips in one copy: only comparing checksums finds it.",
            "A loss that falls as ever. Below it copies that should be equal: the checksum of one is another.",
        )

    def clock(self, e: float) -> str:
        """The time of the act, as words."""
        starts = [start for _, start in self.begins.values() if start < e]
        return seconds_text(e - max(starts)) if starts else ""
