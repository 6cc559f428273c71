"""A prediction against the engine: right, near, or which known mistake it is."""

import math
from dataclasses import dataclass
from typing import Literal

from engine.asking.question import Question
from engine.asking.reading import LONGEST, amount
from engine.language.formula import Term
from engine.language.units import quantity_text

FAR = 1000  # times the right answer: beyond, a ratio says no more


@dataclass(frozen=True)
class Verdict:
    """What is said to a prediction.

    mood    good for right, near for close, bad for wrong, unread where the answer is no number
    words   why, with the engine's own number
    """

    mood: Literal["good", "near", "bad", "unread"]
    title: str
    words: str
    given: str


def graded(question: Question, text: str) -> Verdict:
    """The verdict on an answer as somebody typed or chose it."""
    text = text.strip()[:LONGEST]
    if question.options:
        return _choice(question, text)
    assert question.answer is not None, "a question without options has a number for an answer"
    value = amount(text, question.answer.unit)
    if value is None:
        return Verdict(
            "unread",
            "That is no number",
            f"An answer looks like {question.answer.text}'s kind: a number and a unit.",
            text,
        )
    return _number(question, question.answer, value, text)


def _choice(question: Question, text: str) -> Verdict:
    right = question.options[question.right]
    if not text.isdecimal() or int(text) >= len(question.options):
        return Verdict("unread", "Choose one", f"There are {len(question.options)} answers to choose from.", text)
    if int(text) == question.right:
        return Verdict("good", "Yes", question.because, text)
    return Verdict("bad", "Not that", f"It is: {right}. {question.because}", text)


def _number(question: Question, answer: Term, value: float, text: str) -> Verdict:
    if math.isclose(value, answer.value, rel_tol=question.tolerance):
        return Verdict("good", "Yes", f"The engine says {answer.text}. {question.because}", text)
    wrong = answer.formula.recognise(value, question.tolerance / 2, **answer.numbers)
    if wrong is not None:
        return Verdict(
            "bad", wrong.title[:1].upper() + wrong.title[1:], f"{wrong.why} The engine says {answer.text}.", text
        )
    factor = value / answer.value if answer.value else math.inf
    if 0.5 <= factor <= 2:
        return Verdict("near", "Close", f"The engine says {answer.text}. {question.because}", text)
    return Verdict(
        "bad", "Too much" if factor > 1 else "Too little", f"The engine says {answer.text}. {question.because}", text
    )


def nearness(given: float, right: float, tolerance: float = 0.1) -> str:
    """How near a guess came, in a few words.

    >>> nearness(1.05, 1), nearness(3, 1), nearness(1e6, 1)
    ('Right.', 'That is 3 times of it.', 'That is far more.')
    """
    ratio = given / right if right else math.inf
    if math.isclose(given, right, rel_tol=tolerance):
        return "Right."
    return f"That is {quantity_text(ratio, 'times')} of it." if ratio < FAR else "That is far more."
