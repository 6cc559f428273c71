"""Spot the wrong calculator: an answer made by a named wrong model of the engine, and what it forgot."""

from dataclasses import dataclass
from functools import cached_property
from math import isclose

from pydantic import BaseModel, ConfigDict

from app.lessons.glossary import content
from engine.formulas import formula_named
from engine.language.choice import choose, nearest
from engine.language.formula import Formula, Term, WrongModel
from engine.language.refusal import Refusal
from engine.language.units import quantity_text

RIGHT = "right"  # the answer that nothing is wrong


@dataclass(frozen=True)
class Choice:
    """One thing that could be wrong, and what a calculator with that mistake would have said."""

    name: str
    title: str
    why: str
    value: float
    text: str
    is_it: bool


class Exercise(BaseModel):
    """One exercise.

    formula     of the engine
    arguments   the case
    wrong       the wrong model whose answer is shown, or "right"
    ask         the scene, in Markdown with calls
    why         what is said once it is answered, likewise
    """

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))

    key: str
    title: str
    formula: str
    arguments: dict[str, float]
    wrong: str
    ask: str
    why: str

    @property
    def made(self) -> Formula:
        return formula_named(self.formula)

    @property
    def term(self) -> Term:
        """What is right."""
        return self.made.answer(self.arguments)

    @property
    def shown(self) -> str:
        """The calculator's answer."""
        return next(choice.text for choice in self.choices if choice.is_it)

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What one may answer: the wrong models that say something else than the engine here, and that all is well."""
        term, numbers = self.term, self.term.numbers
        made = [self._choice(wrong, float(wrong.function(**numbers))) for wrong in self.made.wrongs]
        told = sorted((c for c in made if not isclose(c.value, term.value)), key=lambda c: c.title.lower())
        right = Choice(
            RIGHT, "nothing, it is right", "This is what the engine says.", term.value, term.text, self.wrong == RIGHT
        )
        if not any(choice.is_it for choice in (*told, right)):
            raise Refusal(
                f"exercise {self.key}",
                self.wrong,
                f"{self.formula} has no such wrong model that errs here",
                nearest(self.wrong, [w.name for w in self.made.wrongs]),
            )
        return (*told, right)

    def _choice(self, wrong: WrongModel, value: float) -> Choice:
        return Choice(
            wrong.name, wrong.title, wrong.why, value, quantity_text(value, self.made.unit), wrong.name == self.wrong
        )

    def chosen(self, name: str) -> Choice:
        """The choice of this name, or a Refusal."""
        found = {choice.name: choice for choice in self.choices}
        return choose("answer", name, found, "choose one of the answers offered")


def exercises() -> dict[str, Exercise]:
    """Every exercise by its key, in the order of the file."""
    return {key: Exercise(key=key, **entry) for key, entry in content("exercises.yaml").items()}


def exercise_named(key: str) -> Exercise:
    """The exercise with this key.

    >>> exercise_named("forgotten-optimizer").shown
    '140 GB'
    """
    return choose("exercise", key, exercises(), "there is no such exercise")
