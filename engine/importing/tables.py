"""A pasted TOML file: each setting is asked for once by what it is, and those that nobody asked for can be named."""

import re
import tomllib
from dataclasses import dataclass, field
from typing import Any

from engine.language.choice import one_of
from engine.language.refusal import Refusal

LARGEST = 10**15
# a dozen dotted names; thousands would take the parser seconds. Possessive (*+), so that it is read once
NAMED_DEEP = re.compile(r"^[ \t]*+\[{0,2}+(?:[ \t]*+[\w\"'-]++[ \t]*+\.){12}", re.MULTILINE)


@dataclass
class Tables:
    """Settings by dotted name; `asked` are those that somebody wanted to know."""

    given: dict[str, Any]
    asked: set[str] = field(default_factory=set)

    def get(self, name: str) -> Any:
        self.asked.add(name)
        return self.given.get(name)

    def whole(self, name: str, usual: int, least: int = 1) -> int:
        """A setting as a whole number; the usual one where it is not given."""
        value = self.get(name)
        if value is None:
            return usual
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST:
            near = (
                str(min(max(value, least), LARGEST))
                if isinstance(value, int) and not isinstance(value, bool)
                else str(usual)
            )
            raise Refusal(name, value, f"needs a whole number, at least {least} and at most {LARGEST:g}", near)
        return value

    def text(self, name: str, usual: str, choices: tuple[str, ...] = ()) -> str:
        """A setting as text, one of the choices where there are any."""
        value = self.get(name)
        if value is None:
            return usual
        if not isinstance(value, str):
            raise Refusal(name, value, "needs a text in quotes", usual or None)
        return one_of(name, value, choices) if choices else value

    def flag(self, name: str) -> bool:
        """A setting as true or false; false where it is not given."""
        value = self.get(name)
        if value is not None and not isinstance(value, bool):
            raise Refusal(name, value, "needs true or false", "false")
        return bool(value)

    def texts(self, name: str) -> list[str]:
        """A setting as a list of texts; empty where it is not given."""
        value = self.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
            raise Refusal(name, value, "needs a list of texts", "[]")
        return value

    def unasked(self) -> list[tuple[str, Any]]:
        """Settings that nobody asked for."""
        return [(name, value) for name, value in self.given.items() if name not in self.asked]


def tables_of(text: str) -> Tables:
    """The settings of a TOML file under dotted names.

    >>> tables_of("[training]\\nseq_len = 8192").whole("training.seq_len", 2048)
    8192
    """
    if found := NAMED_DEEP.search(text):
        raise Refusal("text", found[0].strip(), "is nested deeper than any settings are")
    try:
        return Tables(dict(_flat(tomllib.loads(text))))
    except RecursionError:
        raise Refusal("text", None, "is nested deeper than any settings are") from None
    except ValueError as error:  # a number of thousands of digits is one too
        what = str(error)
        raise Refusal("text", None, f"is no TOML: {what[:1].lower()}{what[1:200]}") from None


def _flat(table: dict[str, Any], above: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        found += _flat(value, f"{above}{key}.") if isinstance(value, dict) else [(f"{above}{key}", value)]
    return found
