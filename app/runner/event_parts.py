"""What ranks measure, part by part: collectives, operations of a pipeline, buckets. Their events hold them; knows no torch."""

from dataclasses import dataclass
from typing import NamedTuple

from app.runner.event_bounds import Bytes, Count, Moment, OpKind, Word


@dataclass(frozen=True)
class Issued:
    """Collectives of one axis, kind and phase in a step."""

    axis: Word
    op: Word
    phase: Word
    n: Count
    bytes: Bytes
    t0: Moment
    t1: Moment


class IssuedOne(NamedTuple):
    """A single collective; in JSON it is a list, since there may be hundreds."""

    axis: Word
    op: Word
    phase: Word
    bytes: Bytes
    t0: Moment
    t1: Moment | None


@dataclass(frozen=True)
class PipeOp:
    """A forward, backward, input or weight gradient of one micro-batch; `stage` counts the parts of the model."""

    kind: OpKind
    stage: Count
    mb: Count
    t0: Moment
    t1: Moment
    overrun: bool = False


@dataclass(frozen=True)
class Bucket:
    """Gradients on the virtual slow link: when they were ready, and from when to when they were under way."""

    bytes: Bytes
    ready: Moment
    t0: Moment
    t1: Moment


@dataclass(frozen=True)
class FlightEntry:
    """A collective as PyTorch's flight recorder knows it: its number in its group, and the function that called it."""

    number: Count
    op: Word
    sizes: tuple[tuple[Count, ...], ...]
    where: Word
