"""Spot the wrong calculator: an answer made by a named wrong model of the engine, and what it forgot."""

from functools import cached_property

from pydantic import BaseModel, ConfigDict

from app.lessons.glossary import content
from engine.asking.slips import Slip, slips_of
from engine.formulas import formula_named
from engine.language.choice import choose
from engine.language.formula import Formula, Term


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

    @cached_property
    def choices(self) -> tuple[Slip, ...]:
        """What one may answer: the wrong models that say something else than the engine here, and that all is well."""
        return slips_of(self.term)

    @property
    def found(self) -> Slip:
        """What is wrong with the calculator."""
        slips = {slip.name: slip for slip in self.choices}
        return choose(
            f"exercise {self.key}", self.wrong, slips, f"{self.formula} has no such wrong model that errs here"
        )

    @property
    def shown(self) -> str:
        """The calculator's answer."""
        return self.found.text

    def chosen(self, name: str) -> Slip:
        """The choice of this name, or a Refusal."""
        return choose("answer", name, {slip.name: slip for slip in self.choices}, "choose one of the answers offered")


def exercises() -> dict[str, Exercise]:
    """Every exercise by its key, in the order of the file."""
    return {key: Exercise(key=key, **entry) for key, entry in content("exercises.yaml").items()}


def exercise_named(key: str) -> Exercise:
    """The exercise with this key.

    >>> exercise_named("forgotten-optimizer").shown
    '140 GB'
    """
    return choose("exercise", key, exercises(), "there is no such exercise")
