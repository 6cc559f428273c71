"""The options of a command line: each is asked for once by what it is, and those that nobody asked for can be named."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.language.choice import one_of
from engine.language.refusal import Refusal

OPTION = re.compile(r"--[A-Za-z][\w.-]*\Z")
DIGITS = re.compile(r"[0-9]{1,15}\Z")


@dataclass
class Options:
    """Options by name with the words after each; `asked` are those that somebody wanted to know."""

    given: dict[str, tuple[str, ...]]
    asked: set[str] = field(default_factory=set)

    def __contains__(self, name: str) -> bool:
        return name in self.given

    def flag(self, name: str) -> bool:
        """Whether an option without value is given."""
        self.asked.add(name)
        if values := self.given.get(name):
            raise Refusal(name, " ".join(values), "takes no value; leave it out, or the option with it")
        return name in self.given

    def text(self, name: str, choices: Iterable[str] = ()) -> str | None:
        """The value of an option, one of the choices where there are any; None where it is not given."""
        self.asked.add(name)
        if name not in self.given:
            return None
        choices, (value, *more) = tuple(choices), self.given[name] or (None,)
        if value is None:
            raise Refusal(name, None, f"needs a value{': ' + ', '.join(choices) if choices else ''}")
        if more:
            raise Refusal(name, " ".join(self.given[name]), "takes one value", value)
        return one_of(name, value, choices) if choices else value

    def whole(self, name: str, least: int = 1) -> int | None:
        """The value of an option as a whole number; None where it is not given."""
        value = self.text(name)
        return None if value is None else whole_of(name, value, least)

    def unasked(self) -> list[tuple[str, str]]:
        """Options that nobody asked for, each with its value as text."""
        return [(name, " ".join(values)) for name, values in self.given.items() if name not in self.asked]


def whole_of(name: str, value: str, least: int = 1) -> int:
    """The number in a text, or a Refusal.

    >>> whole_of("--num-layers", "80")
    80
    >>> whole_of("--num-layers", "eight")
    Traceback (most recent call last):
    engine.language.refusal.Refusal: --num-layers = eight: needs a whole number, at least 1 and of at most 15 digits
    """
    if not DIGITS.match(value) or int(value) < least:
        near = str(least) if re.match(r"-?[0-9]{1,15}\Z", value) else None
        raise Refusal(name, value, f"needs a whole number, at least {least} and of at most 15 digits", near)
    return int(value)


def options_of(words: list[str]) -> Options:
    """The options in these words: `--name value …` or `--name=value`.

    >>> options_of(["--bf16", "--lr=1e-4", "--recompute-modules", "core_attn", "mlp"]).given
    {'--bf16': (), '--lr': ('1e-4',), '--recompute-modules': ('core_attn', 'mlp')}
    """
    given: dict[str, tuple[str, ...]] = {}
    name = ""
    for word in words:
        head, equals, value = word.partition("=")
        if OPTION.match(head):
            name = head
            if name in given:
                raise Refusal(name, value or None, "is given twice; leave one out")
            given[name] = (value,) if equals else ()
        elif not name:
            raise Refusal("argument", word, "options begin with --, such as --tensor-model-parallel-size 8")
        else:
            given[name] += (word,)
    return Options(given)
