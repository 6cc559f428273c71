"""One step as the floor plays it: what each stage does when, which stages hand over, when gradients travel. Times as shares of the step."""

from typing import Any

from engine.estimate import Estimate
from engine.language.units import seconds_text
from engine.step.tail import tail_of

MOST_SPANS = 1200  # of all stages together: more say nothing to the eye and weigh much
KINDS = {"F": 0, "B": 1, "I": 1, "W": 2}


def played(estimate: Estimate) -> dict[str, Any]:
    """The step for the browser.

    seconds   of the whole step, as text, and what a second of it is in shares
    stages    for each stage: start, end and kind (0 forward, 1 backward, 2 weight gradients) of what it runs
    gradients start and end of the traffic of data parallelism after the pipeline
    stops     named moments
    """
    step, tail = estimate.step, tail_of(estimate.step)
    timeline, whole = step.timeline, tail.end
    stages: list[list[float]] = [[] for _ in range(step.layout.pp)]
    for interval in timeline.intervals:
        stages[interval.stage] += [_share(interval.start, whole), _share(interval.end, whole), KINDS[interval.kind]]
    if sum(map(len, stages)) > 3 * MOST_SPANS:
        stages = [_merged(spans) for spans in stages]
    starts = [spans[0] for spans in stages if spans]
    ends = [spans[-2] for spans in stages if spans]
    gradients = [_share(moment, whole) for moment in tail.gradients or ()]
    stops = [("fill", 0.0), ("steady", max(starts)), ("drain", min(ends))] if step.layout.pp > 1 else [("passes", 0.0)]
    if gradients:
        stops.append(("gradients", gradients[0]))
    stops.append(("optimizer", _share(tail.travelled, whole)))
    return {
        "seconds": whole,
        "text": seconds_text(whole),
        "stages": stages,
        "gradients": gradients,
        "hop": _share(max(step.send_s, whole / 400), whole),
        "stops": sorted(stops, key=lambda stop: stop[1]),
        "short": step.shown_micro_batches < step.layout.micro_batches,
    }


def _share(seconds: float, whole: float) -> float:
    return round(seconds / whole, 5)


def _merged(spans: list[float]) -> list[float]:
    """Neighbours of one kind that follow each other at once become one."""
    made: list[float] = []
    for at in range(0, len(spans), 3):
        start, end, kind = spans[at : at + 3]
        if made and made[-1] == kind and start - made[-2] < 1e-4:
            made[-2] = end
        else:
            made += [start, end, kind]
    return made
