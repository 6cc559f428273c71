"""What was tried and found no better, in a sentence with its figures."""

from collections.abc import Sequence

from engine.advice.change import Change, asked_words
from engine.advice.trial import Trial
from engine.language.held import held_text

MOST_SAID = 2  # changes named; the others are counted

Tried = tuple[Change, Trial]  # as it was asked for, and what became of it


def worse_words(seen: Sequence[Tried]) -> str:
    """The sentence about changes none of which may be offered: those nearest to it with figures, the others counted."""
    possible = {trial.after: (asked, trial) for asked, trial in seen if trial.after and trial.change}
    if not possible:
        return "Nothing to try here keeps both the GPUs and the global batch."
    nearest = sorted(possible.values(), key=lambda tried: _distance(tried[1]))[:MOST_SAID]
    said = "; ".join(f"{asked_words(asked)}: {_figures(trial)}" for asked, trial in nearest)
    rest = len(possible) - len(nearest)
    more = f"; {rest} more {'were' if rest > 1 else 'was'} no better" if rest else ""
    return f"Tried, and no better: {said}{more}."


def _distance(trial: Trial) -> tuple[bool, float]:
    """How far it is from being offered: what does not fit by its memory, what fits by its step."""
    after = trial.after
    assert after is not None
    return (not after.fits, after.step.seconds.value if after.fits else after.fullest.needed.value)


def _figures(trial: Trial) -> str:
    """Its step, or what it would need where it does not fit."""
    after = trial.after
    assert after is not None
    if not after.fits:
        needed, capacity = after.fullest.needed.value, after.capacity_bytes
        return f"{held_text(needed)} of {held_text(capacity)}"
    return f"{after.step.seconds.text} a step instead of {trial.before.step.seconds.text}"
