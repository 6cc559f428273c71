"""What ranks measure, part by part: collectives, operations of a pipeline, buckets. Their events hold them; knows no torch."""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Issued:
    """Collectives of one axis, kind and phase in a step."""

    axis: str
    op: str
    phase: str
    n: int
    bytes: int
    t0: float
    t1: float


class IssuedOne(NamedTuple):
    """A single collective; in JSON it is a list, since there may be hundreds."""

    axis: str
    op: str
    phase: str
    bytes: int
    t0: float
    t1: float | None


@dataclass(frozen=True)
class PipeOp:
    """A forward, backward, input or weight gradient of one micro-batch; `stage` counts the parts of the model."""

    kind: str
    stage: int
    mb: int
    t0: float
    t1: float
    overrun: bool = False


@dataclass(frozen=True)
class Bucket:
    """Gradients on the virtual slow link: when they were ready, and from when to when they were under way."""

    bytes: int
    ready: float
    t0: float
    t1: float


@dataclass(frozen=True)
class FlightEntry:
    """A collective as PyTorch's flight recorder knows it: its number in its group, and the function that called it."""

    number: int
    op: str
    sizes: tuple[tuple[int, ...], ...]
    where: str
