"""What a launch text is read as: a scenario document, and what has to be said about it."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Imported:
    """A launch text as a scenario document, ready for scenario_from.

    notes   a sentence for each option that has no place here, and for each thing that was assumed
    """

    target: str
    document: dict[str, Any]
    notes: tuple[str, ...]


def assumed_cluster(precision: str = "bf16") -> str:
    """The cluster of a text that names no GPUs: the usual one, or one that has tensor cores for the precision.

    >>> assumed_cluster(), assumed_cluster("mxfp8")
    ('hgx-h100', 'hgx-b200')
    """
    return "hgx-b200" if precision == "mxfp8" else "hgx-h100"
