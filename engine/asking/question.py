"""What is asked: a number that the engine knows, or a choice."""

from dataclasses import dataclass

from engine.language.formula import Term


@dataclass(frozen=True)
class Question:
    """Something to answer before one sees it.

    ask       the question
    answer    what the engine says: a Term for a number; for a choice the right option is `right`
    options   of a choice, in the order shown; empty for a number
    because   one or two sentences, once answered
    """

    ask: str
    because: str
    answer: Term | None = None
    options: tuple[str, ...] = ()
    right: int = 0
    tolerance: float = 0.1
