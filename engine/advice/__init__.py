"""Advice that was tried: each finding's changes run through the engine, and the one that helps offered with its gain."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.advice.change import change_words, changed
from engine.advice.neighbours import neighbours
from engine.advice.trial import MOST_WORK, Gain, Trial, Tries
from engine.advice.worse import Tried, worse_words
from engine.estimate import Estimate
from engine.findings import RANK, Candidate, Finding, findings_of

FINDINGS_SHARE = 0.5  # of the work: the rest is left for the plans one step away
UNTRIED = "It was not tried: other advice took the time there is."

__all__ = ["Advice", "Gain", "advised", "change_words", "changed"]


@dataclass(frozen=True)
class Advice:
    """A finding, and the change that was tried and helps; where none does, `try_this` says what was found.

    trial   the change that is offered, if any
    """

    finding: Finding
    try_this: str
    trial: Trial | None = None

    @property
    def change(self) -> dict[str, Any]:
        """What to put into the plan's document: see `changed`. Empty where nothing is offered."""
        return self.trial.change if self.trial else {}

    @property
    def gain(self) -> Gain | None:
        return self.trial.gain if self.trial else None


def advised(estimate: Estimate) -> tuple[Advice, ...]:
    """Everything the rules find about an estimate, the gravest first, each with its changes tried.

    A change is offered if it fits, and where the plan fits too, if it is at least 2 % faster, or 10 % smaller and at most
    2 % slower: on the same GPUs, with the same global batch and the same software.

    >>> from engine.estimate import estimate
    >>> from engine.scenario import scenario_from
    >>> card = estimate(scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024}))
    >>> next((one.change, one.gain.words()) for one in advised(card) if one.gain)
    ({'vp': 2, 'schedule': 'interleaved'}, '491 ms faster, 7.86 GiB more, MFU +4.2 points')
    """
    tries = Tries(estimate)
    said = [_tried(finding, tries) for finding in findings_of(estimate)]
    said += _nearest(tries, said)
    return tuple(sorted(said, key=lambda advice: RANK[advice.finding.severity]))


def _tried(finding: Finding, tries: Tries) -> Advice:
    """The first of a finding's candidates that helps."""
    if not finding.candidates:
        return Advice(finding, finding.try_this)
    seen: list[Tried] = []
    for candidate in finding.candidates:
        if tries.spent >= FINDINGS_SHARE * MOST_WORK:
            break
        trial = tries.trial(candidate.change)
        if trial.qualifies:
            return Advice(finding, _offered(candidate, trial), trial)
        seen.append((candidate.change, trial))
    return Advice(finding, worse_words(seen) if seen else f"{finding.try_this} {UNTRIED}")


def _offered(candidate: Candidate, trial: Trial) -> str:
    change = f"Change {change_words(trial.before.scenario, trial.change)}."
    return f"{candidate.words} {change}" if candidate.words else change


def _nearest(tries: Tries, said: Sequence[Advice]) -> list[Advice]:
    """The best plan one step away, where it is better than what is offered already."""
    offered = [advice.trial for advice in said if advice.trial]
    if not tries.before.fits and offered:
        return []
    found: list[Trial] = []
    for change in neighbours(tries.before.scenario):
        if tries.spent >= MOST_WORK:
            break
        if (trial := tries.trial(change)).qualifies:
            found.append(trial)
    best = min(found, key=_seconds, default=None)
    if best is None or any(_seconds(trial) <= _seconds(best) for trial in offered):
        return []
    finding = Finding(
        "better-neighbour",
        "advice",
        "A neighbour is better",
        f"Of the plans one step away, {_many(len(found))} better than this one; here is the fastest.",
        "Take that step.",
    )
    return [Advice(finding, _offered(Candidate({}), best), best)]


def _many(number: int) -> str:
    return f"{number} are" if number > 1 else "one is"


def _seconds(trial: Trial) -> float:
    assert trial.after is not None
    return trial.after.step.seconds.value
