"""Which values a unit allows, and a formula's parameter checked against it."""

import math
from dataclasses import dataclass

from engine.language.refusal import Refusal
from engine.language.units import count_text, quantity_text


@dataclass(frozen=True)
class Domain:
    """Which values of a unit have a meaning."""

    low: float
    high: float = math.inf
    whole: bool = False

    def nearest(self, value: float) -> float:
        """The value closest to this one that has a meaning."""
        clipped = min(max(value, self.low), self.high)
        return float(round(clipped)) if self.whole else clipped

    @property
    def rule(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        limit = f"from {self.low:g} to {self.high:g}" if math.isfinite(self.high) else f"of at least {self.low:g}"
        return f"{kind} {limit}"


TINY = 1e-30
DOMAINS = {
    "count": Domain(1, whole=True),
    "count or none": Domain(0, whole=True),
    "share": Domain(0, 1),
    "share above 0": Domain(TINY, 1),
    "yes or no": Domain(0, 1, whole=True),
    "ZeRO stage": Domain(0, 3, whole=True),
}
ANY_AMOUNT, SOME_AMOUNT = Domain(0), Domain(TINY)


def domain_of(unit: str) -> Domain:
    """The domain of a unit: rates, and amounts marked "above 0", divide something; others may be zero."""
    if unit in DOMAINS:
        return DOMAINS[unit]
    return SOME_AMOUNT if unit.endswith(("/s", "above 0")) else ANY_AMOUNT


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
        domain = domain_of(self.unit)
        number = _as_number(value)
        if number is None:
            raise Refusal(self.name, value, f"{whose} needs {domain.rule}")
        if number != domain.nearest(number):
            raise Refusal(self.name, value, f"{whose} needs {domain.rule}", f"{domain.nearest(number):g}")
        return number


def _as_number(value: object) -> float | None:
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return float(value.strip().lower() == "true")
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
