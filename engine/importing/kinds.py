"""The settings of one source, sorted by what they do to a plan: said once, as data."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.importing.imported import Remarks


@dataclass(frozen=True)
class Kinds:
    """What is known of a source's settings.

    acts       that are read, each with the place of the scenario that it decides
    warned     that act but have no place here, each with what they change
    harmless   patterns of those that change nothing this board reckons with
    spellings  other names that stand for one of these
    flags      of those that act, the ones that take no value
    off        the value with which a warned one changes nothing; 0 does that to all
    """

    acts: Mapping[str, str]
    warned: Mapping[str, str] = field(default_factory=dict)
    harmless: tuple[str, ...] = ()
    spellings: Mapping[str, str] = field(default_factory=dict)
    off: Mapping[str, str] = field(default_factory=dict)
    flags: frozenset[str] = frozenset()

    def named(self, name: str) -> str:
        """The name under which a setting is known here."""
        return self.spellings.get(name, name)

    def is_harmless(self, name: str) -> bool:
        """Whether a setting changes nothing this board reckons with.

        >>> Kinds({}, harmless=("--log-.*",)).is_harmless("--log-interval")
        True
        """
        return any(re.fullmatch(pattern, name) for pattern in self.harmless)

    def changes(self, name: str, values: tuple[str, ...]) -> str | None:
        """What a warned setting changes with these values; None where it is none, or is switched off.

        >>> Kinds({}, {"--hidden-dropout": "more memory"}).changes("--hidden-dropout", ("0.0",)) is None
        True
        """
        value = values[0] if values else ""
        nothing = re.fullmatch(r"0(\.0*)?|false|none|null", value, re.IGNORECASE) or value == self.off.get(name, None)
        return None if nothing else self.warned.get(name)

    def sort(
        self,
        name: str,
        values: tuple[str, ...],
        where: str,
        remarks: Remarks,
        *,
        unused: bool = False,
        empty: bool = False,
    ) -> None:
        """Says of a setting that was not asked for what it does.

        where    its line and how the text has it
        unused   it is known, and counts only beside other settings
        empty    it is given no value

        >>> said = Remarks()
        >>> Kinds({}, harmless=("--log-.*",)).sort("--log-interval", ("1",), "line 1: --log-interval 1", said)
        >>> said.harmless
        ['line 1: --log-interval 1']
        """
        if change := self.changes(name, values):
            remarks.warned.append(f"{where}: it has no place on this board, and changes the run: {change}")
        elif unused:
            remarks.warned.append(f"{where}: it counts only beside other settings, so it is not used")
        elif empty or name in self.warned or self.is_harmless(name):
            remarks.harmless.append(where)
        else:
            remarks.unknown.append(f"{where}: nobody knows it here, so whatever it changes is not in the plan")
