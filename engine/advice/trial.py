"""A change tried: run through the whole engine, and held against the plan that it would replace."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from engine.advice.change import Change, change_between, changed_scenario
from engine.estimate import Estimate
from engine.language.held import held_text
from engine.language.refusal import Refusal
from engine.language.units import seconds_text
from engine.layout.layout import Layout
from engine.pipeline.orders import short_operations
from engine.scenario import Scenario

FASTER = 0.98  # of the step: below 2 % a change is not worth the trouble, and the step is not known better than that
SMALLER = 0.9  # of the peak: a tenth of it is room for a larger micro-batch
NO_SLOWER = 1.02  # of the step: what a smaller peak may cost
# An ordinary estimate takes one to two milliseconds: with so many of them a program still asks two thousand times a
# minute, and of random plans that have a better neighbour 99 in 100 get a change. Twice as many find hardly one more.
MOST_WORK = 8
OPERATIONS_AN_ESTIMATE = 2000  # of a pipeline: simulating so many takes as long as all the rest
MEMORY_WORK = 0.15  # what is known of the memory alone, which comes first
SHOWN_POINTS, SHOWN_S, SHOWN_BYTES = 0.05, 1e-4, 1e6  # what is less is not printed


@dataclass(frozen=True)
class Gain:
    """What a change brings: before minus after for seconds and bytes, after minus before for MFU.   [s, bytes, share]"""

    step_seconds: float
    peak_bytes: float
    mfu: float

    @classmethod
    def of(cls, before: Estimate, after: Estimate) -> "Gain":
        return cls(
            before.step.seconds.value - after.step.seconds.value,
            before.fullest.total.value - after.fullest.total.value,
            after.mfu.causal.value - before.mfu.causal.value,
        )

    def words(self) -> str:
        """The gain in plain units.

        >>> Gain(0.5, -12 * 2**30, 0.021).words()
        '500 ms faster, 12 GiB more, MFU +2.1 points'
        """
        points = 100 * self.mfu
        said = [
            _either(self.step_seconds, SHOWN_S, seconds_text, ("faster", "slower")),
            _either(self.peak_bytes, SHOWN_BYTES, held_text, ("less", "more")),
            f"MFU {points:+.1f} points" if abs(points) >= SHOWN_POINTS else "",
        ]
        return ", ".join(filter(None, said))


def _either(value: float, shown: float, text: Callable[[float], str], words: tuple[str, str]) -> str:
    """A difference with the word for its sign; nothing where it is too small to be said."""
    return f"{text(abs(value))} {words[value < 0]}" if abs(value) >= shown else ""


@dataclass(frozen=True)
class Trial:
    """One change of a plan, and what becomes of it: an estimate, or the Refusal that says why it has no meaning."""

    before: Estimate
    after: Estimate | None
    refusal: Refusal | None = None

    @cached_property
    def change(self) -> dict[str, Any]:
        """What to put into the plan's document."""
        return change_between(self.before.scenario, self.after.scenario) if self.after else {}

    @cached_property
    def gain(self) -> Gain | None:
        return Gain.of(self.before, self.after) if self.after else None

    @cached_property
    def qualifies(self) -> bool:
        """Whether it may be offered: it fits where the plan does not; or it is faster, or smaller and hardly slower.

        The step is priced only of what fits.
        """
        after, before = self.after, self.before
        if after is None or not after.fits or after.scenario == before.scenario:
            return False
        if not before.fits:
            return True
        slower = after.step.seconds.value / before.step.seconds.value
        return slower <= FASTER or (slower <= NO_SLOWER and self.smaller <= SMALLER)

    @property
    def smaller(self) -> float:
        """Peak after over peak before."""
        return self.after.fullest.total.value / self.before.fullest.total.value if self.after else 1.0


@dataclass
class Tries:
    """The changes tried of one plan: each once, whoever asks for it, and no more than its share of work.

    spent   work done so far, in ordinary estimates   [estimates]
    """

    before: Estimate
    made: dict[Scenario, Trial] = field(default_factory=dict)
    spent: float = 0.0

    def trial(self, change: Change) -> Trial:
        """What becomes of the plan with this change, completed."""
        try:
            scenario = changed_scenario(self.before.scenario, change)
        except Refusal as refusal:
            return Trial(self.before, None, refusal)
        if scenario not in self.made:
            self.made[scenario] = Trial(self.before, Estimate(scenario))
            self._pay(self.made[scenario])
        return self.made[scenario]

    def _pay(self, trial: Trial) -> None:
        """Counts what judging it takes: its memory, and where it fits and that is not enough, its step."""
        assert trial.after is not None
        work = estimate_work(trial.after.scenario.layout)
        self.spent += MEMORY_WORK * work + (work if self.before.fits and trial.after.fits else 0.0)


def estimate_work(layout: Layout) -> float:
    """What pricing a step takes, against that of one without a pipeline: the simulator goes through its operations.   [estimates]

    >>> estimate_work(Layout(pp=1)), round(estimate_work(Layout(pp=16, micro_batches=128)), 1)
    (1.0, 1.6)
    """
    operations = short_operations(layout.runs, layout.pp, layout.micro_batches, layout.vp) if layout.pp > 1 else 0
    return 1 + operations / OPERATIONS_AN_ESTIMATE
