"""Operations unfolded into layer events add up to the parts of the step that they come from."""

import pytest

from engine.estimate import Estimate, estimate
from engine.layout.stages import stages_of
from engine.pipeline.schedules import SCHEDULES
from engine.scenario import scenario_from
from engine.step.chunk import chunk_time
from engine.step.events import Event, Operation, events, events_s
from tests.engine.plans import plans

PLANS = plans(40, seed=11)


def made(document: dict) -> Estimate:
    return estimate(scenario_from(document))


def seconds(found: tuple[Event, ...], *kinds: str) -> float:
    return sum(event.seconds for event in found if event.kind in kinds)


@pytest.mark.parametrize("document", PLANS, ids=range(len(PLANS)))
def test_operations_take_the_time_that_the_step_gives_them(document: dict) -> None:
    plan = made(document)
    layout, durations = plan.scenario.layout, plan.step.durations
    splits = SCHEDULES[layout.schedule].splits_backward
    for stage in stages_of(plan.scenario.model, layout):
        for at, chunk in enumerate(stage.chunks):
            forward, inputs, weights = (
                rows[stage.index][at]
                for rows in (durations.forward, durations.backward_input, durations.backward_weight)
            )
            wanted: dict[Operation, float] = {"F": forward, "B": inputs + weights}
            if splits:
                wanted |= {"I": inputs, "W": weights}
            for operation, length in wanted.items():
                assert events_s(events(plan.traffic, chunk, operation)) == pytest.approx(length), (stage, operation)


@pytest.mark.parametrize("document", PLANS, ids=range(len(PLANS)))
def test_events_add_up_to_the_parts_of_the_step(document: dict) -> None:
    plan = made(document)
    step, layout = plan.step, plan.scenario.layout
    stage = stages_of(plan.scenario.model, layout)[step.stage]
    runs = step.compute.value / sum(chunk_time(plan.traffic, chunk).work.total for chunk in stage.chunks)
    found = tuple(event for chunk in stage.chunks for way in ("F", "B") for event in events(plan.traffic, chunk, way))
    assert runs * seconds(found, "compute") == pytest.approx(step.compute.value)
    for axis in ("tp", "cp", "ep"):
        of_axis = [event for event in found if event.axis == axis]
        issued = [c for c in step.communication if c.axis == axis]
        assert runs * seconds(tuple(of_axis), "waits") == pytest.approx(sum(c.exposed.value for c in issued)), axis
        assert runs * seconds(tuple(of_axis), "waits", "beside") == pytest.approx(
            sum(c.seconds.value for c in issued)
        ), axis
        assert runs * sum(event.n_bytes for event in of_axis) == pytest.approx(
            sum(c.sent_in_step.value for c in issued)
        ), axis


@pytest.mark.parametrize("document", PLANS[:10], ids=range(10))
def test_computation_never_overlaps_itself_nor_what_it_waits_for(document: dict) -> None:
    plan = made(document)
    for stage in stages_of(plan.scenario.model, plan.scenario.layout):
        now = 0.0
        for event in events(plan.traffic, stage.chunks[0], "B"):
            if event.kind != "beside":
                assert event.start == pytest.approx(now)
                now = event.end
