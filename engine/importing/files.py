"""Settings of a file under the names of Megatron's options: frameworks that are its relatives are read as it is."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from engine.importing.imported import Imported, Remarks, Taken, imported
from engine.importing.kinds import Kinds
from engine.importing.launched import Launched
from engine.importing.megatron import read_options
from engine.importing.options import Given, Options
from engine.importing.tables import Tables
from engine.language.refusal import Refusal

ON, OFF = ("true", "yes", "on", "1"), ("false", "no", "off", "0", "none", "null", "")
NOT_SAID = (None, "auto", "???", "null", "")


class Translated:
    """A file's settings on their way to options, by the names the file has."""

    def __init__(self, tables: Tables):
        self.tables = tables
        self.options = Options()
        self.launched = Launched(self.options)

    def value(self, name: str) -> Any:
        """A setting's value; None where it is not given or left open."""
        value = self.tables.get(name)
        return None if value is None or (isinstance(value, str) and value in NOT_SAID) else value

    def put(self, option: str, name: str, *values: object) -> None:
        """Sets an option, with the line and the spelling of the setting that decides it."""
        line = self.tables.lines.get(name, 1)
        given = Given(tuple(str(value) for value in values), line, self.tables.called(name))
        self.options.given.setdefault(option, given)

    def rename(self, names: Mapping[str, str]) -> None:
        """Settings whose value is that of an option."""
        for name, option in names.items():
            if (value := self.value(name)) is not None:
                if isinstance(value, dict | list):
                    raise Refusal(self.tables.called(name), value, "needs one value")
                self.put(option, name, int(value) if isinstance(value, float) and value.is_integer() else value)

    def flags(self, names: Mapping[str, str], when: bool = True) -> None:
        """Settings that switch an option on, where they are true (or false)."""
        for name, option in names.items():
            if self.value(name) is not None and self.on(name) is when:
                self.put(option, name)

    def on(self, name: str) -> bool:
        """A setting that is true or false, however it is written."""
        value = self.value(name)
        text = str(value).lower() if value is not None else ""
        if text not in (*ON, *OFF):
            raise Refusal(self.tables.called(name), value, "needs true or false", "true")
        return text in ON

    def whole(self, name: str) -> int | None:
        """A setting as a whole number; None where it is not given."""
        return None if self.value(name) is None else self.tables.whole(name, 1)

    def counts(self, nodes: str, each: str) -> None:
        """Nodes, and GPUs of each; minus one and \"auto\" leave it to the machine."""
        for name in (nodes, each):
            if self.value(name) not in (None, -1) and (number := self.whole(name)):
                self.launched.taken.append(Taken(self.tables.lines.get(name, 1), self.tables.said(name), "gpus"))
                setattr(self.launched, "nodes" if name == nodes else "gpus_per_node", number)

    def read(
        self, source: str, kinds: Kinds, remarks: Remarks, stack: str, changes: Mapping[str, Any] | None = None
    ) -> Imported:
        """The document of what was put, and the file's other settings sorted.

        changes   of the layout, that no option says
        """
        found = read_options(source, self.launched, remarks, stack)
        found.document["layout"] |= changes or {}
        taken = list(self.launched.taken)
        spelled = {given.spelled for given in self.options.given.values()} | {
            each.said.partition(" ")[0] for each in taken
        }
        rest = Tables(
            {name: value for name, value in self.tables.given.items() if self.tables.called(name) not in spelled},
            self.tables.lines,
            self.tables.spelled,
            set(self.tables.asked),
        )
        rest.sort(kinds, taken, remarks)
        return imported(source, found.document, taken, remarks)


def leaves(tables: Tables, renamed: Mapping[str, str], skipped: Iterable[str] = ()) -> Tables:
    """The same settings under the last part of their names, with dashes as underscores: where they are nested tells nothing.

    renamed   dotted names whose last part would be taken for another
    """
    found = Tables({}, {}, {})
    lines: dict[str, int] = {}
    for name, value in tables.given.items():
        dashed = name.replace("-", "_")
        leaf = renamed.get(dashed, dashed if dashed.startswith(tuple(skipped)) else dashed.rpartition(".")[2])
        if leaf not in found.given:
            found.given[leaf], found.spelled[leaf] = value, name
            lines[leaf] = tables.lines.get(name, 1)
    found.lines = lines
    return found


def interpolated(tables: Tables) -> Tables:
    """The same with values that name another setting (${model.x}, ${.x}) put in, once."""
    for name, value in tables.given.items():
        found = re.fullmatch(r"\$\{\.*([\w.]+)\}", value) if isinstance(value, str) else None
        if found:
            wanted = found[1]
            known = next((key for key in tables.given if key == wanted or key.endswith(f".{wanted}")), None)
            other = tables.given.get(known) if known and known != name else None
            tables.given[name] = None if isinstance(other, str) and "${" in other else other
    return tables
