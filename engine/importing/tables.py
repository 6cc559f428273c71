"""Files of settings: each setting is asked for once by what it is, and those that nobody asked for can be named."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from engine.importing.imported import Remarks, Taken
from engine.importing.kinds import Kinds
from engine.language.choice import one_of
from engine.language.refusal import Refusal

LARGEST = 10**15
MOST_SETTINGS = 4_000
DEEPEST = 24
DEEP = "is nested deeper than any settings are"
# a dozen dotted names; thousands would take the parser seconds. Possessive (*+), so that it is read once
NAMED_DEEP = re.compile(r"^[ \t]*+\[{0,2}+(?:[ \t]*+[\w\"'-]++[ \t]*+\.){12}", re.MULTILINE)
Lines = Mapping[str, int]


@dataclass
class Tables:
    """Settings by dotted name, with the lines they stand on; `asked` are those that somebody wanted to know."""

    given: dict[str, Any]
    lines: Lines = field(default_factory=dict)
    spelled: dict[str, str] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)

    def known_as(self, kinds: Kinds) -> "Tables":
        """The same with other spellings under the names that are asked for; what is said twice counts by its own name."""
        found = Tables({}, {}, {})
        lines = dict(self.lines)
        for name, value in self.given.items():
            known = kinds.named(name)
            if known == name or known not in self.given:
                found.given[known], found.spelled[known] = value, name
                lines[known] = self.lines.get(name, 1)
        found.lines = lines
        return found

    def __contains__(self, name: str) -> bool:
        return name in self.given

    def called(self, name: str) -> str:
        """A setting's name as the text has it."""
        return self.spelled.get(name, name)

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
            raise Refusal(
                self.called(name), value, f"needs a whole number, at least {least} and at most {LARGEST:g}", near
            )
        return value

    def text(self, name: str, usual: str, choices: tuple[str, ...] = ()) -> str:
        """A setting as text, one of the choices where there are any."""
        value = self.get(name)
        if value is None:
            return usual
        if not isinstance(value, str):
            raise Refusal(self.called(name), value, "needs a text in quotes", usual or None)
        return one_of(self.called(name), value, choices) if choices else value

    def flag(self, name: str) -> bool:
        """A setting as true or false; false where it is not given."""
        value = self.get(name)
        if value is not None and not isinstance(value, bool):
            raise Refusal(self.called(name), value, "needs true or false", "false")
        return bool(value)

    def texts(self, name: str) -> list[str]:
        """A setting as a list of texts; empty where it is not given."""
        value = self.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
            raise Refusal(self.called(name), value, "needs a list of texts", "[]")
        return value

    def said(self, name: str) -> str:
        """A setting as the text has it, cut where a person stops reading."""
        value = self.given[name]
        shown = value if isinstance(value, str) else json.dumps(value, default=str)
        return f"{self.called(name)} = {' '.join(shown.split())}"[:80]

    def sort(self, kinds: Kinds, taken: list[Taken], remarks: Remarks) -> None:
        """Names every setting under what it does: taken, warned of, harmless or unknown."""
        for name, value in self.given.items():
            where = f"line {self.lines.get(name, 1)}: {self.said(name)}"
            if name in self.asked:
                taken.append(Taken(self.lines.get(name, 1), self.said(name), kinds.acts.get(name, "")))
            else:
                kinds.sort(name, (str(value),), where, remarks, empty=value is None)


def tables_of(text: str) -> Tables:
    """The settings of a TOML file under dotted names.

    >>> tables_of("[training]\\nseq_len = 8192").whole("training.seq_len", 2048)
    8192
    """
    if found := NAMED_DEEP.search(text):
        raise Refusal("text", found[0].strip(), DEEP)
    try:
        return Tables(dict(flat(tomllib.loads(text))), lines_of_toml(text))
    except RecursionError:
        raise Refusal("text", None, DEEP) from None
    except ValueError as error:  # a number of thousands of digits is one too
        what = str(error)
        raise Refusal("text", None, f"is no TOML: {what[:1].lower()}{what[1:200]}") from None


def lines_of_toml(text: str) -> dict[str, int]:
    """The line of each setting, as far as it stands at the beginning of one."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if head := re.match(r"\s*\[([\w.-]+)\]", line):
            table = f"{head[1]}."
        elif key := re.match(r"\s*([\w.-]+)\s*=", line):
            found.setdefault(table + key[1], number)
    return found


def tables_of_yaml(text: str) -> Tables:
    """The settings of a YAML file under dotted names. Aliases are refused: they make much out of little.

    >>> tables = tables_of_yaml("parallelism:\\n  tp: 8")
    >>> tables.given, tables.lines["parallelism.tp"]
    ({'parallelism.tp': 8}, 2)
    """
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in _events(text)):
            raise Refusal("text", None, "aliases (*name) are not followed; write the values themselves")
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        value = yaml.safe_load(text)
    except RecursionError:
        raise Refusal("text", None, DEEP) from None
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, OverflowError) as error:
        what = " ".join(str(error).split())[:200]
        raise Refusal("text", None, f"is no YAML: {what}") from None
    if not isinstance(value, dict):
        raise Refusal("text", text.strip()[:40], "holds no settings")
    return Tables(dict(flat(value)), dict(_yaml_lines(node)))


def _events(text: str) -> Iterator[Any]:
    """What stands in a YAML text, and a Refusal where it is too much or too deep to be settings."""
    depth = 0
    for number, event in enumerate(yaml.parse(text, Loader=yaml.SafeLoader)):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise Refusal("text", None, DEEP)
        if number > 5 * MOST_SETTINGS:
            raise Refusal("text", None, f"holds more than {MOST_SETTINGS:,} settings")
        yield event


def _yaml_lines(node: Any, above: str = "") -> Iterator[tuple[str, int]]:
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        name = f"{above}{key.value}"
        yield name, key.start_mark.line + 1
        yield from _yaml_lines(value, f"{name}.")


def tables_of_json(text: str) -> Tables:
    """The settings of a JSON file under dotted names.

    >>> tables_of_json('{"zero_optimization": {"stage": 3}}').given
    {'zero_optimization.stage': 3}
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise Refusal("text", None, DEEP) from None
    except ValueError as error:
        what = str(error)
        raise Refusal("text", None, f"is no JSON: {what[:1].lower()}{what[1:200]}") from None
    if not isinstance(value, dict):
        raise Refusal("text", text.strip()[:40], "holds no settings")
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        for key in re.findall(r'"([^"\\]+)"\s*:', line):
            lines.setdefault(key, number)
    given = dict(flat(value))
    return Tables(given, {name: lines.get(name, lines.get(name.rpartition(".")[2], 1)) for name in given})


def flat(table: Mapping[Any, Any], above: str = "", deep: int = DEEPEST) -> Iterator[tuple[str, Any]]:
    """Settings of tables in tables under dotted names; a list is one setting."""
    if not deep:
        raise Refusal("text", above[:40], DEEP)
    for key, value in table.items():
        if isinstance(value, dict) and value:
            yield from flat(value, f"{above}{key}.", deep - 1)
        else:
            yield f"{above}{key}", value
