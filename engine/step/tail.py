"""What surrounds the pipeline in a step: gradients that travel beside its last passes, what of them shows, the optimizer."""

from dataclasses import dataclass

from engine.step.step import Step


@dataclass(frozen=True)
class Tail:
    """Moments since the step began, on the timeline that is drawn.   [s]

    passes      end of the last pass
    gradients   start and end of data parallelism on the wires; none if it sends nothing
    travelled   when all that sticks out of the passes is done, and the optimizer begins
    end         of the step
    """

    passes: float
    gradients: tuple[float, float] | None
    travelled: float
    end: float


def tail_of(step: Step) -> Tail:
    """Where data parallelism and the optimizer stand in a step.

    What computation hides travels before the last pass has ended, what it does not after it. FSDP's layers travel all
    through the passes.

    >>> from engine.catalog.scenarios import preset_document
    >>> from engine.estimate import estimate
    >>> from engine.scenario import scenario_from
    >>> made = estimate(scenario_from(preset_document()))
    >>> tail = tail_of(made.step)
    >>> tail.gradients[0] < tail.passes < tail.gradients[1] <= tail.travelled < tail.end
    True
    """
    passes, optimizer = step.timeline.makespan, step.optimizer.value
    traffic = [c for c in step.communication if c.axis == "dp"]
    apart = step.layout.zero < 3
    shown = max(0.0, step.seconds.value - passes - optimizer)
    if step.shown_micro_batches < step.layout.micro_batches:  # a shorter step like it has the same end
        shown = sum(c.exposed.value for c in traffic) if apart else 0.0
    hidden = sum(c.seconds.value - c.exposed.value for c in traffic) if apart else passes
    gradients = (max(0.0, passes - hidden), passes + (shown if apart else 0.0)) if traffic else None
    return Tail(passes, gradients, passes + shown, passes + shown + optimizer)
