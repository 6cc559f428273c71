"""One of a few named options, and yes or no."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from math import inf
from typing import Any

from engine.language.choice import nearest
from engine.language.domain import number_in, number_text
from engine.language.inputs.absent import left_out
from engine.language.refusal import Refusal

Value = int | float | str | bool
Options = tuple[tuple[str, str], ...]
SIDE_BY_SIDE = 3  # options that stand beside each other; more make a list
SHOWN = 40  # characters of a value that is none of the options, where it stands as one more


@dataclass(frozen=True)
class Choice:
    """One of a few named options.

    options   value -> what a person reads
    absent    what leaving it out means, where that is allowed: the first option of its control
    said      the rule in words of its own; `{names}` stands for all there are
    side_by_side  whether the options stand beside each other or in a list; unless said, a few do
    open      whether a text that is none of them is read too: the options are then what is offered, the bounds stand elsewhere

    >>> hidden = Choice("hidden", "hidden size", 128, {64: "64", 128: "128"})
    >>> hidden.read("64"), hidden.place(64), hidden.choices
    (64, 0, (('64', '64'), ('128', '128')))
    """

    name: str
    label: str
    default: Value | None
    options: Mapping[Any, str]
    unit: str = ""
    _: KW_ONLY
    absent: str = ""
    said: str = ""
    side_by_side: bool | None = None
    open: bool = False

    @property
    def kind(self) -> str:
        few = len(self.choices) <= SIDE_BY_SIDE if self.side_by_side is None else self.side_by_side
        return "choice" if few else "select"

    @property
    def choices(self) -> Options:
        """Pairs of text and label, for a control."""
        listed = tuple((_text(value), label) for value, label in self.options.items())
        return (("", self.absent), *listed) if self.absent else listed

    def choices_with(self, text: str) -> Options:
        """The same, and a text that is none of them: the form sends what the address says until a hand changes it."""
        known = any(text == option for option, _ in self.choices)
        return self.choices if known else (*self.choices, (text, text[:SHOWN]))

    @property
    def rule(self) -> str:
        return f"one of {', '.join(map(_text, self.options))}"

    def read(self, given: object) -> Any:
        """The option, None where it may be and is left out, or a Refusal with the one most like it."""
        if self.absent and left_out(given):
            return None
        texts = {_text(value): value for value in self.options}
        text = _text(given)
        if text in texts:
            return texts[text]
        if self.open and text:
            return self._typed(text)
        rule = (self.said or "must be one of {names}").replace("{names}", ", ".join(texts))
        raise Refusal(self.name, given, rule, self._near(text) or None)

    @property
    def _numbers(self) -> bool:
        return all(isinstance(value, int) for value in self.options)

    def _typed(self, text: str) -> Value:
        """A value that is not offered: a number where numbers are, else the text."""
        number = number_in(text) if self._numbers else None
        return text if number is None or number != number else number

    def _near(self, text: str) -> str:
        """The closest of numbers; of words the one most alike."""
        number = number_in(text)
        if number is not None and abs(number) < inf and self._numbers:
            return _text(min(self.options, key=lambda value: abs(value - number)))
        return nearest(text, map(_text, self.options)) or self.text(self.default)

    def place(self, value: Value) -> int:
        """Where an option stands, from 0."""
        return list(self.options).index(value)

    def text(self, value: Value | None) -> str:
        return "" if value is None else _text(value)

    def shown(self, text: str) -> str:
        return text.strip()


@dataclass(frozen=True)
class YesNo:
    """Yes or no; `yes` and `no` are what a person reads.

    >>> YesNo("sequence_parallel", "norms", True, "cut by TP", "whole").read("false")
    False
    """

    name: str
    label: str
    default: bool | None
    yes: str = "yes"
    no: str = "no"
    unit: str = ""
    _: KW_ONLY
    absent: str = ""
    kind = "choice"
    rule = "true or false"

    @property
    def choices(self) -> Options:
        return ((("", self.absent),) if self.absent else ()) + (("true", self.yes), ("false", self.no))

    choices_with = Choice.choices_with

    def read(self, given: object) -> bool | None:
        """Yes or no, None where it may be and is left out, or a Refusal."""
        if self.absent and left_out(given):
            return None
        text = _text(given).lower()
        if text in ("true", "1"):
            return True
        if text in ("false", "0"):
            return False
        raise Refusal(
            self.name, given, f"needs {self.rule}", nearest(text, ("true", "false")) or self.text(self.default) or None
        )

    def text(self, value: bool | None) -> str:
        return "" if value is None else _text(value)

    def shown(self, text: str) -> str:
        return text.strip()


def _text(value: object) -> str:
    """A value as it is typed; of a list, an object or a number beyond all bounds nothing is left to compare."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool):
        return str(value).lower()
    number = number_in(value)
    return "" if number is None else number_text(number)
