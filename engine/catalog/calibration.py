"""Every fitted or judged factor as one value: what a machine is known to do. The catalogue's is read by one function."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import log2
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from engine.language.choice import choose

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


@dataclass(frozen=True, eq=False)
class Calibration:
    """All factors, all presets of software, and how wide a range is shown. Two with the same content are equal.

    stacks            in order of preference
    moe_band          half-width of the range shown for mixtures of experts                        [share]
    scale_band        what each doubling beyond `usual_gpus` adds to the half-width                [share]
    usual_gpus        GPUs up to which most fitted runs reach                                      [count]

    A part of every scenario and of every key under which an answer is kept: another calibration is another question.
    """

    factors: Mapping[str, Factor]
    stacks: tuple[Stack, ...]
    moe_band: float
    scale_band: float
    usual_gpus: int

    @cached_property
    def _content(self) -> tuple[Any, ...]:
        return tuple(self.factors.items()), self.stacks, self.moe_band, self.scale_band, self.usual_gpus

    @cached_property
    def _hash(self) -> int:
        return hash(self._content)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Calibration) and self._content == other._content)

    def factor(self, name: str) -> float:
        """The value of a factor, in the unit its name ends in.

        >>> fitted_calibration().factor("nic_share")
        0.85
        """
        return self.factors[name].value

    def stack_for(self, name: str, gpu: str, precision: str) -> Stack:
        """The preset of a stack on a GPU in a precision: the first that matches.

        >>> fitted_calibration().stack_for("megatron", "h100", "bf16").g
        1.09
        """
        return next(
            row
            for row in self.stacks
            if row.stack == name
            and (not row.gpus or gpu in row.gpus)
            and (not row.precisions or precision in row.precisions)
        )

    def band_beyond(self, gpus: int) -> float:
        """What a run on more GPUs than most that were fitted adds to the range shown: as much for each doubling.   [share]

        >>> fitted_calibration().band_beyond(1024), fitted_calibration().band_beyond(4096)
        (0.0, 0.06)
        """
        return self.scale_band * max(0.0, log2(gpus / self.usual_gpus))

    def changed(self, *, stacks: tuple[Stack, ...] | None = None, **values: float) -> "Calibration":
        """The same with other values of some factors, or with other presets: to fit, to leave one out, to ask what if.

        >>> fitted_calibration().changed(nic_share=0.9).factor("nic_share")
        0.9
        """
        other = {
            name: replace(choose("factor", name, self.factors, "there is no such factor"), value=float(value))
            for name, value in values.items()
        }
        return replace(self, factors=MappingProxyType({**self.factors, **other}), stacks=stacks or self.stacks)


@lru_cache(maxsize=1)
def _file() -> dict[str, Any]:
    return yaml.load(FILE.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@dataclass(frozen=True)
class Software:
    """A stack by name: what a page calls it, and what does not depend on the GPU; the fields are explained in the catalogue."""

    name: str
    title: str
    fused_loss: bool = False
    torch: bool = False


@lru_cache(maxsize=1)
def software() -> dict[str, Software]:
    """The stacks by name.

    >>> software()["fsdp2"].title
    'FSDP2, eager'
    """
    return {name: Software(name, **given) for name, given in _file()["software"].items()}


@lru_cache(maxsize=1)
def fitted_calibration() -> Calibration:
    """The catalogue's. Read where scenarios are made, and by pages that show its factors; all else is given one."""
    found = _file()
    factors = {
        name: Factor(name, **{**given, "value": float(given["value"])}) for name, given in found["factors"].items()
    }
    return Calibration(
        factors=MappingProxyType(factors),
        stacks=tuple(
            Stack(**{**row, "gpus": tuple(row["gpus"]), "precisions": tuple(row["precisions"])})
            for row in found["stacks"]
        ),
        moe_band=found["moe_band"]["value"],
        scale_band=found["scale_band"]["value"],
        usual_gpus=found["scale_band"]["beyond_gpus"],
    )
