"""Closed forms of the pipeline against the numbers that papers print; against the simulator: test_every_schedule.py."""

import numpy as np
import pytest

from engine.language.formula import Formula
from engine.pipeline import bubble as pipeline
from engine.pipeline import in_flight as held


def test_the_card_wastes_three_slots_of_nineteen() -> None:
    assert pipeline.bubble_of_total(p=4, m=16) == 3 / 19
    assert pipeline.bubble_of_ideal(p=4, m=8) == 0.375  # of ideal; 27.3 % of the step


def test_zb_h1_is_the_papers_formula_while_weight_gradients_are_short() -> None:
    assert pipeline.zb_h1_bubble_s(p=5, F=3, B=2, W=1) == 4 * (3 + 2 - 1)


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
def test_a_known_mistake_is_recognised(
    formula: Formula, answer: float, mistake: str, numbers: dict[str, float]
) -> None:
    found = formula.recognise(answer, **numbers)
    assert found is not None and found.name == mistake
    assert formula(**numbers) != pytest.approx(answer)
