"""A number between bounds, whole or real, with the step, scale and reach of its slider."""

from dataclasses import KW_ONLY, dataclass
from math import inf, isfinite
from typing import Any, Literal

from engine.language.domain import Domain, number_in, number_text, plain_number
from engine.language.inputs.absent import left_out
from engine.language.refusal import Refusal


@dataclass(frozen=True)
class Amount:
    """A number one may turn or type.

    low, high  what is allowed, both ends included
    unit       what people count it in
    step       of a slider on a linear scale; a doubling one passes through powers of two
    reach      what its slider spans, where that is less than what is allowed
    absent     what leaving it out means, where that is allowed
    said       the rule in words of its own, where it says more than the bounds
    slider     whether a slider belongs to it

    >>> steps = Amount("steps", "steps", 5, 1, 20)
    >>> steps.read("7"), steps.text(7), steps.rule
    (7, '7', 'a whole number from 1 to 20')
    """

    name: str
    label: str
    default: float | None
    low: float = -inf
    high: float = inf
    unit: str = ""
    _: KW_ONLY
    step: float = 1
    scale: Literal["linear", "doubling"] = "linear"
    whole: bool = True
    reach: tuple[float, float] | None = None
    absent: str = ""
    said: str = ""
    slider: bool = True

    @property
    def kind(self) -> str:
        return "slider" if self.slider else "number"

    @property
    def span(self) -> tuple[float, float]:
        """Both ends of its slider."""
        return self.reach or (self.low, self.high)

    @property
    def domain(self) -> Domain:
        return Domain(self.low, self.high, self.whole)

    @property
    def rule(self) -> str:
        return self.domain.rule

    def read(self, given: object) -> Any:
        """The number, None where it may be and is left out, or a Refusal."""
        if self.absent and left_out(given):
            return None
        number = number_in(given)
        if number is None or number != number:
            raise Refusal(self.name, given, f"needs {self.rule}", self._usual or None)
        if not self.domain.holds(number):
            raise Refusal(self.name, given, self.said or f"needs {self.rule}", self._near(number) or None)
        return number

    def _near(self, number: float) -> str:
        """The closest number that is allowed; of one too small, where the slider begins."""
        near = max(self.domain.nearest(number), self.span[0] if number < self.low else self.low)
        return number_text(near) if isfinite(near) else self._usual

    @property
    def _usual(self) -> str:
        """What works whatever was typed: the default, or where the slider begins."""
        if self.default is not None:
            return number_text(self.default)
        return number_text(self.span[0]) if isfinite(self.span[0]) else ""

    def text(self, value: float | None) -> str:
        return "" if value is None else number_text(value)

    def shown(self, text: str) -> str:
        """What was typed, as a number field can show it again."""
        return plain_number(text)
