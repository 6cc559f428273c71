"""One parameter of a formula: an input whose bounds are what its unit allows."""

from dataclasses import dataclass

from engine.language.domain import DOMAINS, domain_of
from engine.language.inputs import YesNo
from engine.language.refusal import Refusal
from engine.language.units import count_text, quantity_text

YES_OR_NO = "yes or no"


@dataclass(frozen=True)
class Parameter:
    """One parameter of a formula: its name in code, its symbol in LaTeX, what it means and its unit."""

    name: str
    symbol: str
    meaning: str
    unit: str
    default: float | None

    def text(self, number: float) -> str:
        """A value of this parameter with its unit, as a person writes it."""
        unit = self.unit.removesuffix(" above 0")
        return count_text(number, 4) if unit in DOMAINS and unit != "share" else quantity_text(number, unit)

    def check(self, value: object, whose: str) -> float:
        """The value as a number of this parameter's domain, or a Refusal."""
        domain, needs = domain_of(self.unit), f"{whose} needs"
        if self.unit == YES_OR_NO and isinstance(value, str | bool):
            try:
                return float(YesNo(self.name, self.meaning, None).read(value) or 0)
            except Refusal:
                raise Refusal(self.name, value, f"{needs} {domain.rule}") from None
        return float(domain.number(self.name, value, needs))
