"""What every schedule of the family keeps to: whoever adds one has these tests for it without writing any."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.runner.torch_schedules import TORCH_SCHEDULES
from engine.estimate import estimate
from engine.language.refusal import Refusal
from engine.pipeline.schedules import SCHEDULES, SHOWN_ONLY, Schedule, nearest_that
from engine.pipeline.schedules.base import put_in
from engine.pipeline.simulator import run_schedule
from engine.pipeline.timeline import Timeline
from engine.scenario import Scenario, scenario_from
from engine.workings import terms_of
from tests.conftest import Framework

EVERY = {**SCHEDULES, **SHOWN_ONLY}
EACH = st.sampled_from(list(EVERY.values()))
TIMES = st.floats(0.1, 5)
each = pytest.mark.parametrize("name", SCHEDULES)


def chunks_of(schedule: Schedule, chunks: int) -> int:
    return chunks if schedule.takes_chunks else 1


def runs(schedule: Schedule, p: int, m: int, v: int, *times: float) -> Timeline:
    """The timeline, where the schedule runs this shape."""
    try:
        return run_schedule(schedule, p, m, v, *times)
    except Refusal:
        assume(False)
        raise


def scenario_of(name: str, chunks: int = 2) -> Scenario:
    layout = {"pp": 4, "micro_batches": 16, "schedule": name, "vp": chunks_of(SCHEDULES[name], chunks)}
    return scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024, "layout": layout})


@given(schedule=EACH, p=st.integers(1, 8), m=st.integers(1, 24), v=st.integers(1, 4))
def test_a_stage_holds_what_the_closed_form_says(schedule: Schedule, p: int, m: int, v: int) -> None:
    v = chunks_of(schedule, v)
    closed = schedule.with_chunks(v).closed.in_flight
    assume(closed)
    timeline = runs(schedule, p, m, v)
    assert closed is not None
    for stage, held in enumerate(timeline.in_flight):
        assert closed(**put_in(closed, p=p, m=m, v=v, i=stage)) == pytest.approx(held), (p, m, v, stage)


@given(schedule=EACH, p=st.integers(1, 8), m=st.integers(1, 24), v=st.integers(1, 4), f=TIMES, b=TIMES, w=TIMES)
def test_a_step_idles_as_long_as_the_closed_form_says(
    schedule: Schedule, p: int, m: int, v: int, f: float, b: float, w: float
) -> None:
    v = chunks_of(schedule, v)
    closed = schedule.with_chunks(v).closed
    if not closed.any_times:
        f = b = w
    m = max(m, closed.filled_from(p))
    timeline = runs(schedule, p, m, v, f, b, w)
    given = {"p": p, "m": m, "v": v, "F": f, "B": b, "W": w, "FB": f + b + w}
    work = m * (f + b + w)
    for formula, seen in (
        (closed.bubble_s, timeline.makespan - work),
        (closed.bubble_of_total, timeline.bubble_of_total),
        (closed.bubble_of_ideal, timeline.bubble_of_ideal),
    ):
        if formula:
            assert formula(**put_in(formula, **given)) == pytest.approx(seen, abs=1e-9 * work), (formula.name, given)


@each
def test_some_shape_of_it_runs_so_that_its_closed_forms_are_tried(name: str) -> None:
    schedule = SCHEDULES[name]
    timeline = run_schedule(schedule, 4, 16, chunks_of(schedule, 2))
    assert timeline.makespan >= 16 * 3


@each
def test_it_is_estimated_and_every_number_of_its_pipeline_has_a_working(name: str) -> None:
    found = estimate(scenario_of(name))
    terms = terms_of(found)
    assert terms["pipeline.bubble_of_total"].value == pytest.approx(found.alone.bubble_of_total)
    assert terms["pipeline.bubble_of_ideal"].value == pytest.approx(found.alone.bubble_of_ideal)
    held = [terms[f"pipeline.in_flight.{stage}"].value for stage in range(4)]
    assert held == pytest.approx(list(found.alone.in_flight))


@each
def test_what_stands_in_for_it_is_one_that_the_framework_has(name: str) -> None:
    assert nearest_that(lambda schedule: schedule.torch_name, SCHEDULES[name]).torch_name
    assert nearest_that(lambda schedule: schedule.megatron, SCHEDULES[name]).megatron


def test_no_two_have_one_name() -> None:
    assert len({schedule.title for schedule in EVERY.values()}) == len(EVERY)
    known = [schedule.torch_name for schedule in SCHEDULES.values() if schedule.torch_name]
    assert len(set(known)) == len(known), "a text that is read back has to mean one of them"


@pytest.mark.parametrize("torch_name", TORCH_SCHEDULES)
def test_pytorch_has_a_schedule_of_this_name(torch_name: str, framework: Framework) -> None:
    theirs = framework("torch.distributed.pipelining.schedules")
    assert theirs.get_schedule_class(torch_name)


@each
def test_another_name_is_refused_with_the_nearest_and_all_there_are(name: str) -> None:
    with pytest.raises(Refusal) as refused:
        scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 8, "layout": {"schedule": f"{name}x"}})
    assert refused.value.field == "layout.schedule" and refused.value.nearest == name
    assert refused.value.rule == f"must be one of {', '.join(SCHEDULES)}"
