"""Closed forms of the pipeline against the simulator, and against the numbers that papers print."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.pipeline import bubble as pipeline
from engine.pipeline import in_flight as held
from engine.pipeline.schedules import SCHEDULES, SHOWN_ONLY
from engine.pipeline.simulator import run, run_schedule

TIMES = st.floats(0.1, 5)
STAGES = st.integers(1, 7)


def test_the_card_wastes_three_slots_of_nineteen() -> None:
    assert pipeline.bubble_of_total(p=4, m=16) == 3 / 19
    assert pipeline.bubble_of_ideal(p=4, m=8) == 0.375  # of ideal; 27.3 % of the step


@given(name=st.sampled_from(["gpipe", "1f1b"]), p=STAGES, m=st.integers(1, 20), f=TIMES, b=TIMES, w=TIMES)
def test_gpipe_and_1f1b_idle_as_the_formula_says(name: str, p: int, m: int, f: float, b: float, w: float) -> None:
    timeline = run(name, p, m, 1, f, b, w)
    assert timeline.bubble_of_total == pytest.approx(pipeline.bubble_of_total(p, m), abs=1e-9)
    assert timeline.bubble_of_ideal == pytest.approx(pipeline.bubble_of_ideal(p, m), abs=1e-9)
    assert timeline.makespan == pytest.approx(m * (f + b + w) + pipeline.bubble_s(p, f, b, w))


@given(p=st.integers(2, 6), groups=st.integers(1, 5), v=st.integers(1, 4), f=TIMES, b=TIMES, w=TIMES)
def test_interleaved_idles_as_the_formula_says(p: int, groups: int, v: int, f: float, b: float, w: float) -> None:
    m = p * groups
    timeline = run("interleaved", p, m, v, f, b, w)
    assert timeline.bubble_of_total == pytest.approx(pipeline.bubble_of_total(p, m, v), abs=1e-9)
    assert timeline.bubble_of_ideal == pytest.approx(pipeline.bubble_of_ideal(p, m, v), abs=1e-9)
    assert timeline.makespan == pytest.approx(m * (f + b + w) + pipeline.bubble_s(p, f, b, w, v))


@given(p=STAGES, more=st.integers(0, 12), f=TIMES, b=TIMES, w=TIMES)
def test_zb_h1_idles_as_the_formula_says_from_p_micro_batches_on(
    p: int, more: int, f: float, b: float, w: float
) -> None:
    m = p + more
    timeline = run("zb-h1", p, m, 1, f, b, w)
    assert timeline.makespan == pytest.approx(m * (f + b + w) + pipeline.zb_h1_bubble_s(p, f, b, w))
    assert timeline.bubble_of_ideal == pytest.approx(pipeline.zb_h1_bubble_of_ideal(p, m, f, b, w), abs=1e-9)


def test_zb_h1_is_the_papers_formula_while_weight_gradients_are_short() -> None:
    assert pipeline.zb_h1_bubble_s(p=5, F=3, B=2, W=1) == 4 * (3 + 2 - 1)


@given(p=STAGES, more=st.integers(0, 8), time=TIMES)
def test_zb_h2_and_zb_v_idle_only_for_their_slant(p: int, more: int, time: float) -> None:
    m = 2 * p - 1 + more
    h2 = run_schedule(SHOWN_ONLY["zb-h2"], p, m, 1, time, time, time)
    assert h2.makespan == pytest.approx(3 * m * time + pipeline.zb_h2_bubble_s(p, time))
    assert run("zb-v", p, m, 1, time, time, time).makespan == pytest.approx(
        3 * m * time + pipeline.zb_v_bubble_s(p, time)
    )


@given(half=st.integers(1, 4), more=st.integers(0, 5), time=TIMES)
def test_dualpipe_idles_as_the_report_says(half: int, more: int, time: float) -> None:
    p, m = 2 * half, 4 * half + 2 * more
    bubble = pipeline.dualpipe_bubble_s(p, FB=3 * time, B=time, W=time)
    assert run("dualpipe", p, m, 1, time, time, time).makespan == pytest.approx(3 * m * time + bubble)


@given(p=STAGES, more=st.integers(0, 8), time=TIMES)
def test_dualpipev_idles_as_its_readme_says(p: int, more: int, time: float) -> None:
    m = 2 * p + more
    bubble = pipeline.dualpipev_bubble_s(p, FB=3 * time, B=time, W=time)
    assert run("dualpipev", p, m, 1, time, time, time).makespan == pytest.approx(3 * m * time + bubble)


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize(("p", "m"), [(2, 4), (4, 8), (4, 16), (6, 12)])
def test_each_schedule_has_its_bubble_and_its_memory_in_closed_form(name: str, p: int, m: int) -> None:
    v = 2 if name == "interleaved" else 1
    timeline = run(name, p, m, v)
    assert timeline.makespan == pytest.approx(3 * m + pipeline.schedule_bubble_s(name, p, 1, 1, 1, v))
    assert timeline.in_flight == pytest.approx([held.in_flight(name, p, m, v, i) for i in range(p)])


@given(name=st.sampled_from(["gpipe", "1f1b", "zb-h1", "zb-v"]), p=STAGES, m=st.integers(1, 20))
def test_few_micro_batches_fill_less_memory(name: str, p: int, m: int) -> None:
    assert run(name, p, m).in_flight == pytest.approx([held.in_flight(name, p, m, 1, i) for i in range(p)])


@given(p=st.integers(2, 6), groups=st.integers(1, 5), v=st.integers(1, 4))
def test_interleaving_costs_memory_as_the_formula_says(p: int, groups: int, v: int) -> None:
    m = p * groups
    expected = [held.in_flight("interleaved", p, m, v, i) for i in range(p)]
    assert run("interleaved", p, m, v).in_flight == pytest.approx(expected)


def test_interleaving_on_the_first_stage_is_korthikantis_factor() -> None:
    p, v = 8, 4
    assert held.in_flight_interleaved(p, m=64, v=v) == pytest.approx(p * (1 + (p - 1) / (p * v)))


def test_formulas_take_arrays() -> None:
    p, m = np.array([2, 4, 8]), np.array([1, 16, 16])
    assert pipeline.bubble_of_total(p, m) == pytest.approx([1 / 2, 3 / 19, 7 / 23])
    assert list(held.in_flight_1f1b(p, m)) == [1, 4, 8]
    assert pipeline.zb_h1_bubble_s(p, np.ones(3), np.ones(3), np.ones(3)) == pytest.approx([1, 3, 7])


WRONG = [
    (pipeline.bubble_of_total, 3 / 8, "idle_over_ideal", {"p": 4, "m": 8, "v": 1}),
    (pipeline.bubble_of_total, 4 / 8, "stages_over_micro_batches", {"p": 4, "m": 8, "v": 1}),
    (pipeline.bubble_of_total, 3 / 11, "not_interleaved", {"p": 4, "m": 8, "v": 2}),
    (pipeline.bubble_of_total, 0.0, "no_bubble", {"p": 4, "m": 8, "v": 1}),
    (pipeline.bubble_of_ideal, 3 / 11, "idle_over_total", {"p": 4, "m": 8, "v": 1}),
    (held.in_flight_1f1b, 8, "all_micro_batches", {"p": 4, "m": 8, "i": 1}),
    (held.in_flight_1f1b, 4, "first_stage_everywhere", {"p": 4, "m": 8, "i": 1}),
    (held.in_flight_interleaved, 4, "as_one_f_one_b", {"p": 4, "m": 8, "v": 2, "i": 0}),
]


@pytest.mark.parametrize(("formula", "answer", "mistake", "numbers"), WRONG, ids=[row[2] for row in WRONG])
def test_a_known_mistake_is_recognised(formula, answer: float, mistake: str, numbers: dict[str, float]) -> None:
    found = formula.recognise(answer, **numbers)
    assert found is not None and found.name == mistake
    assert formula(**numbers) != pytest.approx(answer)
