"""Two records side by side: what is only in one, what changed; the same kind of change in many places is one group."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.compare.json_changes import json_changes
from tests.compare.records import PARTS, Key, Record, Records
from tests.compare.text_changes import html_changes, text_changes

NUMBER = re.compile(r"\d[\d,.]*(?:e[+-]?\d+)?")


@dataclass(frozen=True)
class Change:
    """One difference between two answers.

    kind   what sort of difference; `where` tells which, without the numbers that only tell which one of many
    """

    kind: str
    where: str
    old: str
    new: str


@dataclass
class Group:
    """Changes of one kind, wherever they are."""

    kind: str
    where: str
    places: list[tuple[Key, Change]] = field(default_factory=list)

    @property
    def addresses(self) -> list[Key]:
        return list(dict.fromkeys(key for key, _ in self.places))

    def examples(self, most: int) -> list[tuple[Key, Change]]:
        """A few, those that differ most from each other first: one of each pattern of old and new."""
        first = {masked(f"{change.old} {change.new}"): (key, change) for key, change in reversed(self.places)}
        chosen = list(reversed(first.values()))[:most]
        return [*chosen, *(each for each in self.places if each not in chosen)][:most]

    @property
    def patterns(self) -> int:
        """Ways in which old and new differ, numbers aside."""
        return len({masked(f"{change.old} {change.new}") for _, change in self.places})


@dataclass
class Compared:
    """Everything found: the groups, the largest first, and for each part how many answers were compared, same, changed,
    only in the old record and only in the new one."""

    groups: list[Group]
    counts: dict[str, dict[str, int]]


def masked(text: str) -> str:
    """The text without its numbers.

    >>> masked("12.5 GB of 1e+30")
    '# GB of #'
    """
    return NUMBER.sub("#", text)


def compared(old_path: Path, new_path: Path) -> Compared:
    """Compare two files of records."""
    old, new = Records(old_path), Records(new_path)
    groups: dict[tuple[str, str], Group] = {}
    counts: dict[str, dict[str, int]] = {
        part: dict.fromkeys(("compared", "same", "changed", "only_old", "only_new"), 0) for part in PARTS
    }

    def add(key: Key, change: Change) -> None:
        groups.setdefault((change.kind, change.where), Group(change.kind, change.where)).places.append((key, change))

    for key in old.places:
        count = counts[old.parts[key]]
        if key not in new.places:
            count["only_old"] += 1
            add(key, Change("only in the old record", f"{key[0]} {old.routes[key]}", "", ""))
            continue
        count["compared"] += 1
        same = old.digests[key] == new.digests[key]
        count["same" if same else "changed"] += 1
        for change in () if same else changes(old[key], new[key]):
            add(key, change)
    for key in new.places.keys() - old.places.keys():
        counts[new.parts[key]]["only_new"] += 1
    for key in (each for each in new.places if each not in old.places):
        add(key, Change("only in the new record", f"{key[0]} {new.routes[key]}", "", ""))
    return Compared(sorted(groups.values(), key=lambda group: (-len(group.places), group.kind, group.where)), counts)


def changes(old: Record, new: Record) -> Iterator[Change]:
    """Every difference between two answers to one question."""
    for name in ("status", "type", "location"):
        before, after = str(getattr(old, name)), str(getattr(new, name))
        if before != after:
            yield Change(
                name,
                f"{masked(before) if name == 'location' else before} → {masked(after) if name == 'location' else after}",
                before,
                after,
            )
    if old.body != new.body:
        yield from _of_bodies(old, new)
    for before, after in text_changes(old.errors, new.errors):
        yield _of_text("standard error", before, after)


def _of_bodies(old: Record, new: Record) -> Iterator[Change]:
    if "json" in old.type and "json" in new.type:
        try:
            pair = _documents(old.body), _documents(new.body)
        except ValueError:
            pair = None
        if pair is not None:
            found = [Change(f"JSON {kind}", where, before, after) for kind, where, before, after in json_changes(*pair)]
            yield from found or [Change("JSON written differently", "", _short(old.body), _short(new.body))]
            return
    if "html" in old.type or "svg" in old.type:
        found = [_of_text("page", before, after) for before, after in html_changes(old.body, new.body)]
        yield from found or [Change("page", "white space only", "", "")]
        return
    for before, after in text_changes(old.body, new.body):
        yield _of_text("text", before, after)


def _documents(text: str) -> Any:
    """A JSON document, or the list of those that stand on a line each."""
    try:
        return json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line]


def _of_text(kind: str, old: str, new: str) -> Change:
    return Change(kind, f"{masked(old)} → {masked(new)}", old, new)


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:200] + " …"
