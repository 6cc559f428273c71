"""Spot the wrong calculator: each exercise has one right answer, and its words have no figure typed by hand."""

from math import isclose

import pytest

from app.lessons.exercises import Exercise, exercises
from app.lessons.lesson import posed, uses
from engine.asking.slips import RIGHT
from engine.language.refusal import Refusal
from tests.content.test_lessons import typed_digits

EXERCISES = exercises()
each_exercise = pytest.mark.parametrize("given", EXERCISES.values(), ids=list(EXERCISES))


@each_exercise
def test_an_exercise_has_one_right_answer_among_several(given: Exercise) -> None:
    assert given.found.name == given.wrong
    assert len(given.choices) >= 3
    assert given.choices[-1].name == RIGHT


@each_exercise
def test_each_mistake_gives_another_answer(given: Exercise) -> None:
    texts = [choice.text for choice in given.choices]
    assert len(set(texts)) == len(texts)
    values = [choice.value for choice in given.choices]
    assert not any(isclose(a, b, rel_tol=0.01) for at, a in enumerate(values) for b in values[:at])


@each_exercise
def test_the_right_answer_is_the_engines(given: Exercise) -> None:
    assert given.choices[-1].value == given.term.value
    assert (given.shown == given.term.text) == (given.wrong == RIGHT)


@each_exercise
def test_the_words_of_an_exercise_can_be_shown_and_hold_no_figure(given: Exercise) -> None:
    view = posed(given.key)
    assert view.ask and view.why
    assert typed_digits(f"{given.title} {given.ask.partition('{{')[0]} {given.why.partition('{{')[0]}") == []
    assert given.ask.endswith(".") and given.why.endswith(".")


def test_there_are_enough_of_them_and_lessons_pose_some() -> None:
    assert len(EXERCISES) >= 8
    assert len(uses("exercise")) >= 2
    assert set(uses("exercise")) <= set(EXERCISES)


def test_an_exercise_without_such_a_wrong_model_is_refused() -> None:
    one = next(iter(EXERCISES.values()))
    with pytest.raises(Refusal, match="no such wrong model"):
        _ = one.model_copy(update={"wrong": "nobody"}).found


def test_an_answer_that_nobody_offered_is_refused() -> None:
    with pytest.raises(Refusal, match="choose one of the answers offered"):
        next(iter(EXERCISES.values())).chosen("forty-two")
