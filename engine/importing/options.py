"""The options of a command line: each is asked for once by what it is, and those that nobody asked for can be named."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from engine.importing.imported import Remarks, Taken
from engine.importing.kinds import Kinds
from engine.importing.shell.values import Said
from engine.language.choice import one_of
from engine.language.refusal import Refusal

OPTION = re.compile(r"--[A-Za-z][\w.-]*\Z")
DIGITS = re.compile(r"[0-9]{1,15}\Z")
HOLDER = re.compile(
    r"\$\{?(@|\*|\w*(ARGS?|OPTS?|OPTIONS?|FLAGS?|PARAMS)\b)", re.IGNORECASE
)  # variables that hold options by their name
LONGEST_SHOWN = 80  # characters of a setting that are said back


@dataclass(frozen=True)
class Given:
    """The words after an option, the line it stands on, how the text spells it, and why its value is not known."""

    values: tuple[str, ...] = ()
    line: int = 1
    spelled: str = ""
    unknown: str = ""

    @property
    def said(self) -> str:
        """The option as the text has it, cut where a person stops reading."""
        return " ".join([self.spelled, *self.values])[:LONGEST_SHOWN]


@dataclass
class Options:
    """Options by the name they are known under; `asked` are those that somebody wanted to know."""

    given: dict[str, Given] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)

    def __contains__(self, name: str) -> bool:
        return name in self.given

    def spelled(self, name: str) -> str:
        """An option's name as the text has it."""
        return self.given[name].spelled if name in self.given else name

    def values(self, name: str) -> tuple[str, ...]:
        """All that is given to an option; a Refusal where the text does not decide it."""
        self.asked.add(name)
        given = self.given.get(name, Given())
        if given.unknown:
            raise Refusal(given.spelled, " ".join(given.values), f"line {given.line}: {given.unknown}")
        return given.values

    def flag(self, name: str) -> bool:
        """Whether an option without value is given."""
        if values := self.values(name):
            raise Refusal(self.spelled(name), " ".join(values), "takes no value; leave it out, or the option with it")
        return name in self.given

    def text(self, name: str, choices: Iterable[str] = ()) -> str | None:
        """The value of an option, one of the choices where there are any; None where it is not given."""
        values = self.values(name)
        if name not in self.given:
            return None
        choices, (value, *more) = tuple(choices), values or (None,)
        if value is None:
            raise Refusal(self.spelled(name), None, f"needs a value{': ' + ', '.join(choices) if choices else ''}")
        if more:
            raise Refusal(self.spelled(name), " ".join(values), "takes one value", value)
        return one_of(self.spelled(name), value, choices) if choices else value

    def whole(self, name: str, least: int = 1) -> int | None:
        """The value of an option as a whole number; None where it is not given."""
        value = self.text(name)
        return None if value is None else whole_of(self.spelled(name), value, least)

    def sort(self, kinds: Kinds, taken: list[Taken], remarks: Remarks) -> None:
        """Names every option under what it does: taken, warned of, harmless or unknown."""
        for name, given in self.given.items():
            where = f"line {given.line}: {given.said}"
            if name in self.asked:
                taken.append(Taken(given.line, given.said, kinds.acts.get(name, "")))
            else:
                kinds.sort(name, given.values, where, remarks, unused=name in kinds.acts)


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


def options_of(words: Sequence[Said], kinds: Kinds, remarks: Remarks) -> Options:
    """The options in these words: `--name value …` or `--name=value`, each under the name it is known by.

    >>> said = [Said("--micro_batch_size", 3), Said("2", 3)]
    >>> options_of(said, Kinds({"--micro-batch-size": ""}), Remarks()).given["--micro-batch-size"].values
    ('2',)
    """
    given: dict[str, Given] = {}
    name = ""
    for word in _apart(words):
        head, equals, value = word.text.partition("=")
        if OPTION.match(head):
            name = _known(head, kinds)
            new = Given((value,) if equals else (), word.line, head, word.unknown)
            if name in given and name in kinds.acts and not word.unknown:
                raise Refusal(head, value or None, f"line {word.line}: is given twice; leave one out")
            given[name] = new
        elif word.unknown and (not name or given[name].values or name in kinds.flags or HOLDER.match(word.text)):
            remarks.unknown.append(f"line {word.line}: {word.unknown}; options that it may hold are not read")
        elif not name:
            raise Refusal("argument", word.text, "options begin with --, such as --tensor-model-parallel-size 8")
        else:
            old = given[name]
            given[name] = Given((*old.values, word.text), old.line, old.spelled, old.unknown or word.unknown)
    return Options(given)


def _known(head: str, kinds: Kinds) -> str:
    """The name under which an option is known: argparse takes underscores only where they are written, forks and people do not."""
    names = [kinds.named(name) for name in (head, "--" + head[2:].replace("_", "-"))]
    acting = (name for name in names if name in kinds.acts or name in kinds.warned)
    return next(acting, next((name for name in names if kinds.is_harmless(name)), head))


def _apart(words: Sequence[Said]) -> Iterable[Said]:
    """A quoted option with its value in one word is taken apart."""
    for word in words:
        if word.text.startswith("--") and " " in word.text and "=" not in word.text.split()[0]:
            yield from (Said(piece, word.line, word.unknown) for piece in word.text.split())
        else:
            yield word
