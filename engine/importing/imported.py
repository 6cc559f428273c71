"""What a launch text is read as: a scenario document, each setting with its line, and what has to be said about it."""

from dataclasses import dataclass, field
from typing import Any

from engine.catalog.hardware import cluster_named, cluster_names
from engine.catalog.scenarios import preset_document


@dataclass(frozen=True)
class Taken:
    """One setting that was read.

    line    where it stands in the text, counted from 1
    said    the setting as the text has it
    place   what it decides, as a place of the scenario document
    """

    line: int
    said: str
    place: str


@dataclass
class Remarks:
    """What is said beside a scenario while it is read: each is a sentence without its full stop."""

    assumed: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)
    harmless: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Imported:
    """A launch text as a scenario document, ready for scenario_from.

    source     name of the reader
    taken      the settings that were read, each with its line and where it went
    assumed    a sentence for each thing that the text does not say
    warned     a sentence for each setting that acts but cannot be said here, and what it changes
    harmless   settings that change nothing this board reckons with
    unknown    a sentence for each setting that nobody knows here, or whose value the text does not decide
    """

    source: str
    document: dict[str, Any]
    taken: tuple[Taken, ...] = ()
    assumed: tuple[str, ...] = ()
    warned: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Everything that has to be said."""
        return (*self.warned, *self.unknown, *self.assumed)


def imported(source: str, document: dict[str, Any], taken: list[Taken], remarks: Remarks) -> Imported:
    """What was read, its sentences ended."""
    return Imported(
        source,
        document,
        tuple(sorted(taken, key=lambda each: each.line)),
        *(
            tuple(dict.fromkeys(f"{sentence}." for sentence in sentences))
            for sentences in (remarks.assumed, remarks.warned, remarks.harmless, remarks.unknown)
        ),
    )


def assumed_cluster(precision: str = "bf16") -> str:
    """The cluster of a text that names no GPUs: the usual one, or one that has tensor cores for the precision.

    >>> assumed_cluster(), assumed_cluster("mxfp8")
    ('hgx-h100', 'hgx-b200')
    """
    usual = preset_document()["cluster"]
    fit = (name for name in (usual, *cluster_names()) if precision in cluster_named(name).gpu.precisions)
    return next(fit, usual)
