"""What is said to a prediction: the number is read as people write it, and known mistakes are named."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.board.scenes import SCENES
from engine.asking.grade import graded
from engine.asking.question import Question
from engine.asking.reading import amount
from engine.memory.state import state_bytes
from engine.network.collectives import ring_all_reduce_sent_bytes

STATE = Question(
    ask="How much training state?", because="Sixteen bytes each.", answer=state_bytes.explain(N=70e9, zero=0, D=64)
)
CHOICE = Question(ask="Which?", because="So it is.", options=("the first", "the second"), right=1)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("1.12 TB", "bytes", 1.12e12),
        ("1,120 GB", "bytes", 1.12e12),
        ("1120e9", "bytes", 1.12e12),
        ("1 TiB", "bytes", 2**40),
        ("400 Gb", "bytes", 50e9),
        ("400 Gb/s", "bytes/s", 50e9),
        ("12 b", "bytes", 12.0),
        ("46 ms", "s", 0.046),
        ("3 µs", "s", 3e-6),
        ("2 h", "s", 7200.0),
        ("15.8 %", "share of the step", 0.158),
        ("0.158", "share of the step", 0.158),
        ("4.4 M", "GPU-hours", 4.4e6),
        ("180", "days", 180.0),
    ],
)
def test_a_number_is_read_with_its_unit(text: str, unit: str, value: float) -> None:
    assert amount(text, unit) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    ["", "a lot", "9**9**9", "80 GB ; 3", "80 gilbert", "1e999", "--3", "1.2.3", "GB", "∞", "3 GB 4", "１２ GB", "٣"],
)
def test_what_is_no_number_is_not_guessed(text: str) -> None:
    assert amount(text, "bytes") is None
    assert graded(STATE, text or "x").mood == "unread"


@given(st.text(max_size=200))
def test_any_text_gets_a_verdict(text: str) -> None:
    for question in (STATE, CHOICE):
        assert graded(question, text).mood in ("good", "near", "bad", "unread")
    value = amount(text, "bytes")
    assert value is None or math.isfinite(value)


def test_140_gb_is_told_that_gradients_and_optimizer_are_missing() -> None:
    verdict = graded(STATE, "140 GB")
    assert verdict.mood == "bad"
    assert "gradients" in verdict.words and "optimizer" in verdict.words and "1.12 TB" in verdict.words


def test_the_right_number_is_right_in_any_unit() -> None:
    for text in ("1.12 TB", "1120 GB", "1.02 TiB", "1.1e12"):
        assert graded(STATE, text).mood == "good", text


def test_a_choice_says_what_it_is_instead() -> None:
    assert graded(CHOICE, "1").mood == "good"
    assert "the second" in graded(CHOICE, "0").words
    assert graded(CHOICE, "7").mood == "unread"


def test_a_mistake_that_was_attached_to_a_formula_is_recognised() -> None:
    answer = ring_all_reduce_sent_bytes.explain(S=14e9, n=4)
    assert graded(Question("?", "", answer), "42 GB").title == "Grows with the ranks"


@pytest.mark.parametrize("name", SCENES)
def test_the_engines_own_answer_is_right(name: str) -> None:
    scene = SCENES[name]
    question = scene.question(scene.values({}))
    right = str(question.right)
    if not question.options:
        assert question.answer is not None
        right = repr(question.answer.value)
    assert graded(question, right).mood == "good"
