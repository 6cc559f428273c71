"""Every fitted or judged factor, with its range and source."""

from dataclasses import dataclass
from functools import lru_cache
from math import log2
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).parent / "calibration.yaml"


@dataclass(frozen=True)
class Factor:
    """One factor: the value used, the range it was seen in, where it comes from."""

    name: str
    value: float
    low: float
    high: float
    source: str


@dataclass(frozen=True)
class Stack:
    """How one family of training software behaves on one family of GPUs; the fields are explained in the catalogue."""

    stack: str
    gpus: tuple[str, ...]
    precisions: tuple[str, ...]
    g: float
    tp: float
    pointwise: float
    jitter: float
    contention: float
    band: float
    source: str
    fused_attention: bool = True
    overlapped: bool = True


@lru_cache(maxsize=1)
def _file() -> dict[str, Any]:
    return yaml.load(FILE.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@lru_cache(maxsize=1)
def factors() -> dict[str, Factor]:
    """All factors by name."""
    return {
        name: Factor(name, **{**given, "value": float(given["value"])}) for name, given in _file()["factors"].items()
    }


def factor(name: str) -> float:
    """The value of a factor, in the unit its name ends in.

    >>> factor("nic_share")
    0.85
    """
    return factors()[name].value


@dataclass(frozen=True)
class Software:
    """A stack by name: what a page calls it, and what does not depend on the GPU."""

    name: str
    title: str
    fused_loss: bool = False


@lru_cache(maxsize=1)
def software() -> dict[str, Software]:
    """The stacks by name.

    >>> software()["fsdp2"].title
    'FSDP2, eager'
    """
    return {name: Software(name, **given) for name, given in _file()["software"].items()}


@lru_cache(maxsize=1)
def stacks() -> tuple[Stack, ...]:
    """All stack presets, in order of preference."""
    return tuple(
        Stack(**{**row, "gpus": tuple(row["gpus"]), "precisions": tuple(row["precisions"])})
        for row in _file()["stacks"]
    )


@lru_cache(maxsize=64)
def stack_for(name: str, gpu: str, precision: str) -> Stack:
    """The preset of a stack on a GPU in a precision: the first that matches.

    >>> stack_for("megatron", "h100", "bf16").g
    1.09
    """
    return next(
        row
        for row in stacks()
        if row.stack == name
        and (not row.gpus or gpu in row.gpus)
        and (not row.precisions or precision in row.precisions)
    )


def moe_band() -> float:
    """Half-width of the range shown for mixtures of experts.

    >>> moe_band()
    0.5
    """
    return _file()["moe_band"]["value"]


def scale_band(gpus: int) -> float:
    """What a run on more GPUs than most that were fitted adds to the range shown: as much for each doubling.   [share]

    >>> scale_band(1024), scale_band(4096)
    (0.0, 0.06)
    """
    band = _file()["scale_band"]
    return band["value"] * max(0.0, log2(gpus / band["beyond_gpus"]))
