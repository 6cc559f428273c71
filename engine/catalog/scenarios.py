"""Scenarios to start from, each with where it comes from: the planner, the floor, the lessons and the tests show these."""

from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from engine.language.choice import choose

CATALOG = Path(__file__).parent / "scenarios.yaml"
CARD = "card"  # the question that everything starts from


@dataclass(frozen=True)
class Published:
    """What was printed of a run.

    quantity   name of what was measured: see engine.accounts.published
    value      in base units
    said       as it was printed
    counted    by which MFU convention, where the quantity is a rate of FLOP
    """

    quantity: str
    value: float
    said: str
    counted: str = ""


@dataclass(frozen=True)
class Preset:
    """A scenario of the catalogue.

    source      where it comes from
    document    as the API takes it
    published   what was measured, where it is a run of somebody's
    unsaid      what was true of that run and cannot be said here, or is assumed: a sentence each
    """

    title: str
    source: str
    document: dict[str, Any]
    published: Published | None = None
    unsaid: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def presets() -> dict[str, Preset]:
    """The scenarios of the catalogue by their names, the card first."""
    return {name: _preset(**entry) for name, entry in yaml.safe_load(CATALOG.read_text(encoding="utf-8")).items()}


def _preset(published: dict[str, Any] | None = None, unsaid: list[str] | None = None, **entry: Any) -> Preset:
    return Preset(**entry, published=Published(**published) if published else None, unsaid=tuple(unsaid or ()))


def preset_document(name: str = CARD) -> dict[str, Any]:
    """The document of a scenario of the catalogue, to change at will.

    >>> preset_document()
    {'model': 'llama-3-70b', 'cluster': 'hgx-h100', 'gpus': 1024}
    """
    return deepcopy(choose("preset", name, presets(), "the catalogue's scenarios are {names}").document)
