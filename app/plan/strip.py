"""The answer in one line, which stays in view while a control is turned."""

from dataclasses import dataclass

from engine.estimate import Estimate
from engine.language.units import share_text, within_text


@dataclass(frozen=True)
class Reading:
    """One number of the strip.

    path   of its working
    mood   "bad" where it rules the plan out
    """

    label: str
    text: str
    path: str
    mood: str = ""


def strip_of(estimate: Estimate, *, binary: bool) -> tuple[Reading, ...]:
    """Step, MFU, memory, days and dollars of a plan.

    binary   bytes in GiB rather than GB

    >>> from engine.estimate import estimate
    >>> from engine.scenario import scenario_from
    >>> card = estimate(scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024}))
    >>> [reading.text for reading in strip_of(card, binary=True)]
    ['4.91 s', '37.9 %', '39 of 79.1 GiB', '203.3 days', '$12.5 M']
    """
    fullest, training = estimate.fullest, estimate.training
    held = within_text(fullest.needed.value, estimate.capacity_bytes, binary)
    return (
        Reading("one step", estimate.step.seconds.text, "step.seconds"),
        Reading("MFU", share_text(estimate.mfu.causal.value), "mfu.causal"),
        Reading(
            "fits" if estimate.fits else "does not fit",
            held,
            f"needed.{fullest.stage}",
            "" if estimate.fits else "bad",
        ),
        Reading("in all", training.days.text, "training.days"),
        Reading("price", training.usd.text, "training.usd"),
    )
