"""The formula on the wall is the code: each LaTeX template is read by SymPy and compared with its function."""

import importlib
import math
import pkgutil
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

import engine
from engine.language.domain import domain_of
from engine.language.formula import FORMULAS, Formula, Number, WrongModel, formula
from engine.language.refusal import Refusal
from tests.engine.latex import parsed

for module in pkgutil.walk_packages(engine.__path__, "engine."):
    importlib.import_module(module.name)

CASES = [(made, case) for made in FORMULAS.values() for case in made.templates]
NAMES = [made.name if case is None else f"{made.name}-{case}" for made, case in CASES]
POINTS = 6

each_formula = pytest.mark.parametrize("made", FORMULAS.values(), ids=list(FORMULAS))
each_case = pytest.mark.parametrize(("made", "case"), CASES, ids=NAMES)


def value_of(unit: str, chance: random.Random) -> float:
    """A value of this unit's domain with at most three digits, so that its LaTeX is exact."""
    domain = domain_of(unit)
    if domain.whole:
        return float(chance.randint(int(domain.low), int(min(domain.high, 99))))
    if math.isfinite(domain.high):
        return chance.randint(1, 99) / 100
    return chance.randint(1, 999) * 10.0 ** chance.randint(-1, 12)


def point(made: Formula, case: Any, chance: random.Random) -> dict[str, float]:
    numbers = {name: value_of(parameter.unit, chance) for name, parameter in made.parameters.items()}
    return numbers if made.case is None else {**numbers, made.case: case}


def points(made: Formula, case: Any) -> list[dict[str, float]]:
    chance = random.Random(made.name)
    return [point(made, case, chance) for _ in range(POINTS)]


def read(template: str, parameters: list[str]) -> Callable[[dict[str, float]], float]:
    """The LaTeX as a function of its parameters, as SymPy reads it."""
    symbols = {name: f"x_{{{place}}}" for place, name in enumerate(parameters)}
    expression = parsed(re.sub(r"<(\w+)>", lambda m: symbols[m[1]], template))

    compiled = sympy.lambdify([sympy.Symbol(symbols[name]) for name in parameters], expression, "math")
    return lambda numbers: float(compiled(*(numbers[name] for name in parameters)))


def disagreements(made: Formula, case: Any) -> list[dict[str, float]]:
    """The points at which the LaTeX and the function differ."""
    latex = read(made.templates[case], list(made.parameters))
    return [at for at in points(made, case) if not same(latex(at), float(made(**at)), at)]


def same(one: float, other: float, at: dict[str, float]) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12 * max([1.0, *map(abs, at.values())]))


@each_case
def test_the_latex_is_what_the_function_computes(made: Formula, case: Any) -> None:
    assert disagreements(made, case) == []


def test_a_latex_that_says_something_else_is_noticed() -> None:
    @formula(r"\frac{<p>}{<m> + <p> - 1}", unit="share", source="a misprint")
    def misprinted(p: Number, m: Number) -> Number:
        """Deliberately wrong.   [share]

        p   pipeline stages   [count]
        m   micro-batches     [count]
        """
        return (p - 1) / (m + p - 1)

    try:
        assert len(disagreements(misprinted, None)) == POINTS
    finally:
        del FORMULAS["misprinted"]


@each_case
def test_the_latex_with_values_put_in_is_the_value(made: Formula, case: Any) -> None:
    at = points(made, case)[0]
    assert same(number_in(made.explain(**at).substituted), float(made(**at)), at)


def number_in(text: str) -> float:
    assert "<" not in text
    value = parsed(text.replace("{,}", ""))
    if value in (sympy.true, sympy.false):
        return float(bool(value))
    assert isinstance(value, sympy.Expr)
    return float(value)


def test_a_large_number_keeps_its_own_power_when_it_is_squared() -> None:
    at = {"L": 1, "h": 2e6, "a": 1, "k": 1, "f": 3e6, "V": 1, "tied": 0}
    assert number_in(FORMULAS["dense_parameters"].explain(**at).substituted) == FORMULAS["dense_parameters"](**at)


def test_a_negative_number_stands_in_brackets_after_a_sign() -> None:
    assert number_in(FORMULAS["band_s"].explain(s=4, d=-0.05).substituted) == 3.8
    assert "+ -" not in FORMULAS["band_s"].explain(s=4, d=-0.05).substituted


@each_formula
def test_a_formula_says_what_it_is_and_where_it_comes_from(made: Formula) -> None:
    assert made.title
    assert made.unit
    assert len(made.source) > 3
    for parameter in made.parameters.values():
        assert parameter.meaning
        assert parameter.unit
        assert (
            any(f"<{parameter.name}>" in template for template in made.templates.values())
            or parameter.name == made.case
        )
    assert f">>> {made.name}(" in (made.function.__doc__ or "") or f"{made.name}(" in (made.function.__doc__ or "")


@each_case
def test_an_explanation_has_the_value_of_a_call(made: Formula, case: Any) -> None:
    for at in points(made, case):
        term = made.explain(**at)
        assert term.value == float(made(**at))
        assert "<" not in term.symbolic
        assert term.document().keys() == {"label", "value", "unit", "formula", "substituted", "source"}
        assert term.text


@each_case
def test_arrays_go_in_and_come_out(made: Formula, case: Any) -> None:
    if not made.parameters:
        return  # a constant
    rows = points(made, case)
    columns = {name: np.array([at[name] for at in rows]) for name in made.parameters if name != made.case}
    answer = made(**columns, **({made.case: case} if made.case else {}))
    assert answer.shape == (POINTS,)
    assert answer == pytest.approx([float(made(**at)) for at in rows], rel=1e-12)


WRONG = [(made, wrong) for made in FORMULAS.values() for wrong in made.wrongs]


@pytest.mark.parametrize(("made", "wrong"), WRONG, ids=[f"{made.name}-{wrong.name}" for made, wrong in WRONG])
def test_a_wrong_model_is_wrong_somewhere_and_says_why(made: Formula, wrong: WrongModel) -> None:
    assert wrong.title
    assert wrong.why.endswith(".")
    chance = random.Random(0)
    ats = [point(made, case, chance) for case in made.templates for _ in range(POINTS)]
    assert any(not math.isclose(float(wrong.function(**at)), float(made(**at)), rel_tol=1e-6) for at in ats)


@each_formula
def test_two_wrong_models_of_a_formula_do_not_answer_alike(made: Formula) -> None:
    chance = random.Random(1)
    ats = [point(made, case, chance) for case in made.templates for _ in range(POINTS)]
    answers = {wrong.name: [round(float(wrong.function(**at)), 9) for at in ats] for wrong in made.wrongs}
    assert len({tuple(row) for row in answers.values()}) == len(answers)


def test_a_known_mistake_is_recognised() -> None:
    bubble = FORMULAS["bubble_of_total"]
    found = bubble.recognise(0.375, p=4, m=8, v=1)
    assert found is not None
    assert found.title == "(p-1)/m taken as the wasted share"
    assert bubble.recognise(0.9, p=4, m=8, v=1) is None


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"p": 4}, "m: bubble_of_total needs m"),
        ({"p": 4, "m": 16, "vv": 2}, "vv = 2: bubble_of_total takes p, m, v; the nearest that works: v"),
        ({"p": "four", "m": 16}, "p = four: bubble_of_total needs a whole number of at least 1"),
        ({"p": 4, "m": "1e400"}, "m = 1e400: bubble_of_total needs a whole number"),
        ({"p": 4, "m": 10**400}, "bubble_of_total needs a whole number"),
        ({"p": -4, "m": 16}, "p = -4: bubble_of_total needs a whole number of at least 1; the nearest that works: 1"),
        ({"p": 0, "m": 16}, "p = 0: bubble_of_total needs a whole number of at least 1; the nearest that works: 1"),
        ({"p": 4.4, "m": 16}, "p = 4.4: bubble_of_total needs a whole number of at least 1; the nearest that works: 4"),
        ({"p": 4, "m": float("nan")}, "m = nan: bubble_of_total needs a whole number"),
        ({"p": 4, "m": float("inf")}, "m = inf: bubble_of_total needs a whole number"),
        ({"p": None, "m": 16}, "p: bubble_of_total needs a whole number"),
        ({"p": [4], "m": {}}, "p = [4]: bubble_of_total needs a whole number"),
    ],
)
def test_what_has_no_meaning_is_refused_in_one_sentence(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(Refusal) as refused:
        FORMULAS["bubble_of_total"].answer(given)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_share_above_one_and_a_price_below_nothing_are_refused() -> None:
    with pytest.raises(Refusal, match="a number above 0, at most 1; the nearest that works: 1"):
        FORMULAS["gpu_hours"].answer({"flop": 6.3e24, "peak_flop_per_s": 989e12, "mfu": 40})
    with pytest.raises(Refusal, match="of at least 0; the nearest that works: 0"):
        FORMULAS["run_usd"].answer({"gpu_hours": 1, "usd_per_gpu_hour": -2.5})


def test_a_result_too_large_for_a_number_is_refused_rather_than_infinite() -> None:
    with pytest.raises(Refusal, match="too large to be written as a number"):
        FORMULAS["training_flop"].answer({"N": "1e200", "T": "1e200"})


@each_formula
def test_no_formula_answers_with_anything_but_a_number_or_a_refusal(made: Formula) -> None:
    for value in (0, 1, -1, 1e308, 5e-324, "1", True, 7.5):
        try:
            term = made.answer(dict.fromkeys(made.parameters, value))
        except Refusal as refusal:
            assert refusal.sentence
        else:
            assert math.isfinite(term.value)
            assert term.text
            assert term.document()["substituted"]


def test_terms_open_into_terms() -> None:
    hours = FORMULAS["gpu_hours"].explain(
        flop=FORMULAS["training_flop"].explain(N=70e9, T=15e12), peak_flop_per_s=989e12, mfu=0.4
    )
    inner: Any = hours.arguments["flop"]
    assert inner.value == 6.3e24
    assert hours.value == pytest.approx(4.42e6, rel=1e-2)
