"""What an export is: files, and a sentence for everything that they cannot say."""

from collections.abc import Callable
from dataclasses import dataclass

from engine.scenario import Scenario


@dataclass(frozen=True)
class File:
    """One text file. `language` is what it is written in: bash, toml, json or yaml."""

    name: str
    text: str
    language: str


@dataclass(frozen=True)
class Export:
    """A scenario as the files of one target.

    left_out   a sentence for each option that the target cannot express, then for each thing the reader must fill in
    """

    target: str
    title: str
    files: tuple[File, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class Target:
    """One framework: how a scenario is written for it, and whether its own options hold a layout."""

    name: str
    title: str
    write: Callable[[Scenario], Export]
    says_layout: bool = True


def gap(field: str, value: object, why: str) -> str:
    """The sentence for an option that a target cannot express.

    >>> gap("layout.zero", 2, "DDP shards nothing")
    'layout.zero = 2: DDP shards nothing.'
    """
    shown = str(value).lower() if isinstance(value, bool) else value
    return f"{field} = {shown}: {why}."
