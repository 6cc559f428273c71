"""Findings as sticky notes: at first their words alone, and once their changes were tried, a link and what it brings."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from app.plan.form import BY_PATH, FIELDS
from engine.advice import Advice
from engine.findings import Finding, Severity
from engine.layout.layout import Layout

FOLLOWS = ("dp", "micro_batches")  # the form has the GPUs and the global batch, from which these come
State = Mapping[str, str]


@dataclass(frozen=True)
class Note:
    """A finding as a sticky note.

    href      leads to the plan with the change made; empty where none is offered
    gain      what that change brings, in words
    pending   whether there are changes that have not been tried yet
    """

    severity: Severity
    title: str
    why: str
    try_this: str
    href: str = ""
    gain: str = ""
    pending: bool = False


@dataclass(frozen=True)
class Notes:
    """The notes beside a board.

    most      of them that are shown at once; the others fold
    address   where they are had with their changes tried; empty where they are
    """

    all: tuple[Note, ...]
    most: int
    address: str = ""

    @property
    def shown(self) -> tuple[Note, ...]:
        return self.all[: self.most]

    @property
    def more(self) -> tuple[Note, ...]:
        return self.all[self.most :]


def untried(findings: Iterable[Finding], most: int, address: str) -> Notes:
    """The notes as they are painted with the board: what is found, before any change is tried."""
    made = (Note(f.severity, f.title, f.why, f.try_this, pending=bool(f.candidates)) for f in findings)
    return Notes(tuple(made), most, address)


def tried(advice: Iterable[Advice], most: int, href: Callable[[Mapping[str, Any]], str]) -> Notes:
    """The notes with what was tried.

    href     the address of the plan with a change made
    """
    return Notes(tuple(_tried(one, href) for one in advice), most)


def _tried(one: Advice, href: Callable[[Mapping[str, Any]], str]) -> Note:
    found = one.finding
    gain, address = (one.gain.words(), href(one.change)) if one.gain else ("", "")
    return Note(found.severity, found.title, found.why, one.try_this, address, gain)


def changes_of(change: Mapping[str, Any]) -> dict[str, str]:
    """The form's texts that make a change, by the names of its fields.

    >>> changes_of({"tp": 4, "dp": 64, "micro_batches": 8, "hsdp_shard": None, "stack": "megatron"})
    {'tp': '4', 'hsdp_shard': '', 'stack': 'megatron'}
    """
    paths = {name: f"layout.{name}" if name in Layout.model_fields else name for name in change if name not in FOLLOWS}
    return {BY_PATH[path]: FIELDS[BY_PATH[path]].input.text(change[name]) for name, path in paths.items()}
