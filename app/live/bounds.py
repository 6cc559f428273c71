"""What a field of an event may hold, declared with the field: the range of a number, the length of a text,
the few texts that there are.

Seconds = Annotated[float, Within(0, 1_000)]
Word = Annotated[str, AtMost(40)]
Kind = Annotated[str, OneOf(("F", "B"))]

Whoever reads the event refuses what lies outside (reading.py). What is no number at all (NaN) is in no range and is let
through: a loss that has run away is a loss.
"""

from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from engine.language.choice import nearest

OUTSIDE, TOO_LONG = "outside", "longer"  # what is wrong, for whoever makes a sentence of it


@dataclass(frozen=True)
class Within:
    """From `least` to `most`, both of them allowed.

    >>> Within(0, 1_000_000).words, Within(0, 1e38).words
    ('a number from 0 to 1,000,000', 'a number from 0 to 1e+38')
    """

    least: int | float
    most: int | float

    @property
    def words(self) -> str:
        return f"a number from {self.least:,} to {self.most:,}"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._read, handler(source))

    def _read(self, value: int | float) -> int | float:
        if value < self.least or value > self.most:
            closest = self.least if value < self.least else self.most
            raise PydanticCustomError(OUTSIDE, "{words}", {"words": self.words, "closest": closest})
        return value


@dataclass(frozen=True)
class AtMost:
    """A text of so many characters.

    >>> AtMost(80).words
    'a text of at most 80 characters'
    """

    most: int

    @property
    def words(self) -> str:
        return f"a text of at most {self.most:,} characters"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._read, handler(source))

    def _read(self, value: str) -> str:
        if len(value) > self.most:
            closest = f"its first {self.most:,} characters"
            raise PydanticCustomError(TOO_LONG, "{words}", {"words": self.words, "closest": closest})
        return value


@dataclass(frozen=True)
class OneOf:
    """One of a few texts.

    >>> OneOf(("F", "B")).words
    'one of F, B'
    """

    names: tuple[str, ...]

    @property
    def words(self) -> str:
        return f"one of {', '.join(self.names)}"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._read, handler(source))

    def _read(self, value: object) -> object:
        if value not in self.names:
            closest = nearest(value, self.names) or self.names[0]
            raise PydanticCustomError(OUTSIDE, "{words}", {"words": self.words, "closest": closest})
        return value
