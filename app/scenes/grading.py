"""A prediction against the engine: right, near, or which known mistake it is. The grading of whole answers comes later."""

import math
import re
from dataclasses import dataclass
from typing import Literal

from app.board.scenes.base import Question
from engine.language.formula import Term
from engine.language.units import GB, GIB, KB, KIB, MB, MIB, TB, TIB

LONGEST = 60  # characters of an answer
PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15}
BYTES = {"b": 1.0, "kb": KB, "mb": MB, "gb": GB, "tb": TB, "pb": 1e15, "kib": KIB, "mib": MIB, "gib": GIB, "tib": TIB}
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "min": 60.0, "h": 3600.0, "d": 86400.0, "days": 86400.0}
NUMBER = re.compile(r"^\s*([+-]?[\d.,\s]*\d(?:\.\d*)?(?:[eE][+-]?\d{1,3})?)\s*([a-zA-Zµ%]*)\s*(?:/s)?\s*$")


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


def amount(text: str, unit: str) -> float | None:
    """The number somebody wrote, in the base unit; None if it is none. A bare number is in the base unit.

    >>> amount("21 GB", "bytes"), amount("1,120e9", "bytes"), amount("15.8 %", "share of the step"), amount("x", "bytes")
    (21000000000.0, 1120000000000.0, 0.158, None)
    """
    match = NUMBER.match(text[:LONGEST])
    if not match:
        return None
    try:
        number = float(match[1].replace(",", "").replace(" ", ""))
    except ValueError:
        return None
    scale = _scale(match[2], unit)
    return number * scale if scale is not None and math.isfinite(number * scale) else None


def _scale(written: str, unit: str) -> float | None:
    """What one of the unit written is in the base unit. Bytes know GB from Gb: a lone small b is a bit."""
    kind, lower = unit.partition(" ")[0], written.lower()
    if not written:
        return 1.0
    if kind.startswith("bytes"):
        bits = 8.0 if written.endswith("b") and len(written) <= 2 and written != "b" else 1.0
        return BYTES[lower] / bits if lower in BYTES else None
    if kind == "s":
        return SECONDS.get(lower)
    if kind == "share":
        return 0.01 if written == "%" else None
    return PREFIXES.get(lower)
