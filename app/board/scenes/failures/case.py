"""What the failures scene knows: one setting of its knobs, what the engine says about it, and what to ask and put right."""

from dataclasses import dataclass
from functools import cached_property

from app.board.scenes.base import Misconception, Values
from engine.asking.question import Question
from engine.catalog.calibration import fitted_calibration
from engine.catalog.model import model_named
from engine.catalog.scenarios import preset_document
from engine.language.formula import Term
from engine.language.refusal import Refusal
from engine.language.units import DAY_S, GB, MINUTE_S, count_text, digits_text, seconds_text, share_text
from engine.memory.parameters import parameters_term
from engine.run.failures import (
    LLAMA_3,
    WATCHDOG_S,
    DrawnRun,
    checkpoint_overhead,
    drawn_run,
    lost_in_all_s,
    lost_per_failure_s,
    read_back_s,
    slow_gpu_loss,
)
from engine.run.goodput import (
    checkpoint_bytes,
    expected_failures,
    failure_chance,
    goodput_share,
    gpu_hours_per_failure,
    gpu_mtbf_s,
    straggler_gpus,
    waiting_gpu_hours,
    young_interval_s,
)

SLOW = 0.2  # how much longer the slow GPU takes
MODEL: str = preset_document()["model"]
STORAGE_BYTES_PER_S = 100 * GB  # what all readers get from a parallel file system
DAYS = 180  # of the calendar
SEED = 4


@dataclass(frozen=True)
class Case:
    """One setting of the knobs."""

    values: Values

    def __post_init__(self) -> None:
        if self.interval_s < self.stall_s:
            least = self.stall_s / MINUTE_S
            rule = f"between two checkpoints there must be more work than the {seconds_text(self.stall_s)} that saving one takes"
            raise Refusal("interval", f"{self.values['interval']:g}", rule, f"{max(1.0, least):g}")

    @property
    def gpus(self) -> int:
        return int(self.values["gpus"])

    @property
    def stall_s(self) -> float:
        return self.values["stall"]

    @property
    def interval_s(self) -> float:
        return self.values["interval"] * MINUTE_S

    @property
    def restart_s(self) -> float:
        return fitted_calibration().factor("restart_s")

    @property
    def down_s(self) -> float:
        """From a hang to work again: the watchdog, then the restart."""
        return WATCHDOG_S + self.restart_s

    @cached_property
    def between(self) -> Term:
        return gpu_mtbf_s.explain(
            "time between failures", gpus=self.gpus, gpu_hours_between_failures=self.values["hours"]
        )

    @cached_property
    def alone(self) -> Term:
        return gpu_mtbf_s.explain(
            "time between failures of one GPU", gpus=1, gpu_hours_between_failures=self.values["hours"]
        )

    @cached_property
    def daily(self) -> Term:
        return failure_chance.explain("chance within a day", t=DAY_S, M=self.between)

    @cached_property
    def slow(self) -> Term:
        return slow_gpu_loss.explain("speed lost to a slow GPU", x=SLOW)

    @cached_property
    def slow_gpus(self) -> Term:
        return straggler_gpus.explain("the same in GPUs", g=self.gpus, x=SLOW)

    @cached_property
    def hang(self) -> Term:
        return waiting_gpu_hours.explain("a hang until the watchdog", t=WATCHDOG_S, g=self.gpus)

    @cached_property
    def state(self) -> Term:
        return checkpoint_bytes.explain("a checkpoint", N=parameters_term(model_named(MODEL)))

    @cached_property
    def reading(self) -> Term:
        return read_back_s.explain("reading it back", S=self.state, B=STORAGE_BYTES_PER_S)

    @cached_property
    def best(self) -> Term:
        return young_interval_s.explain("best time between checkpoints", checkpoint_s=self.stall_s, mtbf_s=self.between)

    @cached_property
    def overhead(self) -> Term:
        return checkpoint_overhead.explain("saving and lost work", C=self.stall_s, i=self.interval_s, M=self.between)

    @cached_property
    def best_overhead(self) -> Term:
        return checkpoint_overhead.explain("the same at best", C=self.stall_s, i=self.best, M=self.between)

    @cached_property
    def expected(self) -> Term:
        return expected_failures.explain(f"failures in {DAYS} days", t=DAYS * DAY_S, M=self.between)

    @cached_property
    def each(self) -> Term:
        return lost_per_failure_s.explain("a failure costs", i=self.interval_s, w=WATCHDOG_S, R=self.restart_s)

    @cached_property
    def lost(self) -> Term:
        return lost_in_all_s.explain("all failures cost", n=self.expected, l=self.each)

    @cached_property
    def goodput(self) -> Term:
        return goodput_share.explain("useful share", C=self.stall_s, i=self.interval_s, M=self.between, R=self.down_s)

    @cached_property
    def run(self) -> DrawnRun:
        return drawn_run(DAYS, self.between.value, self.interval_s, self.stall_s, self.down_s, SEED)


def question(values: Values) -> Question:
    """What to predict before it plays."""
    case = Case(values)
    return Question(
        ask=f"A GPU fails once in {count_text(values['hours'])} hours. How many failures will {count_text(case.gpus)} of them see "
        f"in {DAYS} days?",
        answer=case.expected,
        because="The run stops when any of them does, so rates add up: more GPUs, more failures a day.",
    )


def numbers(values: Values) -> tuple[Term, ...]:
    """The numbers behind the pictures."""
    case = Case(values)
    return (
        case.between,
        case.daily,
        case.slow,
        case.slow_gpus,
        case.hang,
        case.state,
        case.reading,
        case.best,
        case.best_overhead,
        case.overhead,
        case.expected,
        case.each,
        case.lost,
        case.goodput,
    )


def misconceptions(values: Values) -> tuple[Misconception, ...]:
    """What the scene puts right."""
    case = Case(values)
    often = checkpoint_overhead(C=case.stall_s, i=case.best.value / 8, M=case.between.value)
    seen = gpu_hours_per_failure(LLAMA_3.gpus, LLAMA_3.days, LLAMA_3.stops)
    return (
        Misconception(
            "One slow GPU of many costs next to nothing.",
            f"Everyone waits for it: a GPU that takes {share_text(SLOW)} longer costs {share_text(case.slow.value)} of the "
            f"speed, as much as {digits_text(case.slow_gpus.value)} GPUs switched off.",
        ),
        Misconception(
            "Save as often as you can.",
            f"Each save stops the run. Eight times as often as best costs {share_text(often)} instead of "
            f"{share_text(case.best_overhead.value)}.",
        ),
        Misconception(
            "A hang means that the network is broken.",
            "Usually one rank is missing, for whatever reason; the others wait in the same collective. Look for the absentee.",
        ),
        Misconception(
            "Good hardware does not fail.",
            f"A published run of {count_text(LLAMA_3.gpus)} GPUs counted {LLAMA_3.stops} unexpected stops in {LLAMA_3.days:g} days: "
            f"one for {count_text(round(seen))} GPU-hours, or every "
            f"{seconds_text(gpu_mtbf_s(LLAMA_3.gpus, seen))}.",
        ),
    )
