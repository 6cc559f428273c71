"""A timeline short enough to draw: the whole step, or a shorter one like it whose middle would only repeat."""

from engine.schedules import schedule_named
from engine.simulator import simulate
from engine.step import Step
from engine.timeline import Timeline

MOST_OPS = 20_000  # operations simulated for a drawing: about 25 ms


def drawable(step: Step) -> tuple[Timeline, int]:
    """A timeline of the step, and the micro-batches that the step really has.

    The timeline has fewer of them when the step is long: pipeline_timeline then leaves out its middle and says so.

    >>> from engine.estimate import estimate
    >>> from engine.scenario import scenario_from
    >>> card = estimate(scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024}))
    >>> timeline, micro_batches = drawable(card.step)
    >>> len(timeline.intervals), micro_batches
    (128, 16)
    """
    layout = step.layout
    schedule = schedule_named(layout.schedule)
    placement = schedule.placement(layout.pp, layout.vp)
    chunks = len(placement.places[0])
    kinds = 3 if schedule.splits_backward else 2
    if kinds * layout.pp * chunks * layout.micro_batches <= MOST_OPS:
        return step.timeline, layout.micro_batches
    period = layout.pp * placement.pipes  # orders repeat at least as often: see engine.steady
    few = max(6 * period, MOST_OPS // (kinds * layout.pp * chunks) // period * period) + layout.micro_batches % period
    if few >= layout.micro_batches:
        return step.timeline, layout.micro_batches
    ops = schedule.ops(layout.pp, few, layout.vp)
    return simulate(ops, placement, step.durations, step.send_s, step.overlapped), layout.micro_batches
