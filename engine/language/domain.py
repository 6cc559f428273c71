"""Which numbers have a meaning: read from text or JSON, held within bounds, or refused with the nearest that works."""

import math
import re
from dataclasses import dataclass

from engine.language.refusal import Refusal

LONGEST = 80  # characters of a number that are read at all
TINY = 1e-30  # the least that is above 0
GROUPED = re.compile(r"[+-]?\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?:\.\d*)?")  # "1,024", but not "1,5"


def plain_number(text: str) -> str:
    """A number's text without the signs that only group its digits: a number field shows nothing else.

    >>> plain_number(" 1,024 "), plain_number("1_000"), plain_number("1,5")
    ('1024', '1000', '1,5')
    """
    bare = text.strip().replace("_", "")
    return re.sub(r"[,\u00a0\u202f]", "", bare) if GROUPED.fullmatch(bare) else bare


def number_in(given: object) -> float | None:
    """The number that a text or a JSON value writes, a whole one as int; None where it writes none.

    >>> number_in("1,024"), number_in("2.5"), number_in("1e3"), number_in("many"), number_in(True)
    (1024, 2.5, 1000, None, None)
    """
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return None
    try:
        # digits of other scripts would stand empty in a number field
        number = float(plain_number(given[: LONGEST + 1]).encode("ascii")) if isinstance(given, str) else float(given)
    except (ValueError, OverflowError):
        return None
    if isinstance(given, str) and len(given) > LONGEST:
        return None
    return int(number) if math.isfinite(number) and number == int(number) and abs(number) < 1e18 else number


def number_text(number: float) -> str:
    """A number as one would type it; reading it gives the same number back.

    >>> number_text(1048576), number_text(2.0), number_text(0.1), number_text(1.5e13)
    ('1048576', '2', '0.1', '15000000000000')
    """
    if number == number and abs(number) < 1e16 and number == int(number):
        return str(int(number))
    short = f"{number:.12g}"
    return short if float(short) == number else repr(float(number))


@dataclass(frozen=True)
class Domain:
    """Which numbers have a meaning: those from `low` to `high`, both allowed."""

    low: float = -math.inf
    high: float = math.inf
    whole: bool = False

    def nearest(self, value: float) -> float:
        """The value closest to this one that has a meaning."""
        clipped = min(max(value, self.low), self.high)
        return float(round(clipped)) if self.whole and math.isfinite(clipped) else clipped

    def holds(self, value: float) -> bool:
        """Whether a number has a meaning."""
        return math.isfinite(value) and value == self.nearest(value)

    @property
    def rule(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        if not math.isfinite(self.low):
            return kind
        low, high = number_text(self.low), number_text(self.high)
        if self.low == TINY:
            return f"{kind} above 0" + (f", at most {high}" if math.isfinite(self.high) else "")
        return f"{kind} from {low} to {high}" if math.isfinite(self.high) else f"{kind} of at least {low}"

    def number(self, field: str, given: object, needs: str = "needs") -> float:
        """The number that is given, or a Refusal.

        >>> Domain(1, 8, whole=True).number("tp", "4")
        4
        >>> Domain(1, 8, whole=True).number("tp", 9)
        Traceback (most recent call last):
        engine.language.refusal.Refusal: tp = 9: needs a whole number from 1 to 8; the nearest that works: 8
        """
        number = number_in(given)
        if number is None or number != number:
            raise Refusal(field, given, f"{needs} {self.rule}")
        if not self.holds(number):
            near = self.nearest(number)
            raise Refusal(field, given, f"{needs} {self.rule}", number_text(near) if math.isfinite(near) else None)
        return number


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
