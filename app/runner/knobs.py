"""The knobs of a demo: a bounded whole number, or one of a few named choices. A client can send nothing else."""

from dataclasses import dataclass

from engine.language.choice import nearest
from engine.language.refusal import Refusal

Value = int | str
LONGEST = 40  # characters of a value that is read at all


@dataclass(frozen=True)
class Whole:
    """A whole number between two bounds, both allowed."""

    name: str
    label: str
    default: int
    low: int
    high: int
    unit: str = ""

    def read(self, given: object) -> int:
        """The number, or a Refusal.

        >>> Whole("steps", "steps", 5, 1, 20).read("7")
        7
        """
        text = str(given).strip() if isinstance(given, int | float | str) and not isinstance(given, bool) else ""
        text = text.removesuffix(".0")
        if len(text) > LONGEST or not text.removeprefix("-").isdecimal() or not text.isascii():
            raise Refusal(self.name, given, f"needs {self.rule}", str(self.default))
        number = int(text)
        if not self.low <= number <= self.high:
            raise Refusal(self.name, number, f"needs {self.rule}", str(min(max(number, self.low), self.high)))
        return number

    @property
    def rule(self) -> str:
        return f"a whole number from {self.low} to {self.high}"


@dataclass(frozen=True)
class Choice:
    """One of a few values.

    options   value -> what a person reads
    """

    name: str
    label: str
    default: Value
    options: dict[Value, str]
    unit: str = ""

    def read(self, given: object) -> Value:
        """The value, or a Refusal with the one most like it.

        >>> Choice("hidden", "hidden size", 128, {64: "64", 128: "128"}).read("64")
        64
        """
        found = {str(value): value for value in self.options}
        text = str(given).strip()[:LONGEST] if isinstance(given, int | str) and not isinstance(given, bool) else ""
        if text not in found:
            raise Refusal(self.name, given, f"needs {self.rule}", nearest(text, found) or str(self.default))
        return found[text]

    @property
    def rule(self) -> str:
        return f"one of {', '.join(map(str, self.options))}"


Knob = Whole | Choice

HIDDEN = Choice("hidden", "hidden size", 128, {64: "64", 128: "128", 256: "256"})
LAYERS = Whole("layers", "layers", 4, 1, 8)
HEADS = Choice("heads", "attention heads", 8, {4: "4", 8: "8"})
SEQUENCE = Whole("sequence", "sequence", 64, 8, 256, "tokens")
BATCH = Whole("batch", "global batch", 8, 1, 32, "sequences")
STEPS = Whole("steps", "steps", 5, 1, 20)
MODEL = (HIDDEN, LAYERS, HEADS, SEQUENCE, BATCH, STEPS)  # what every demo that trains the small GPT takes


def ranks_knob(default: int = 4, high: int = 8) -> Whole:
    """How many processes a demo starts."""
    return Whole("ranks", "ranks", default, 2, high)
