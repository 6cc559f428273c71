"""A prediction as the start of a run tells it: plain records that JSON can hold. predict.py makes them."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ToldTerm:
    """A value with its working: formula and values as LaTeX."""

    label: str
    value: float
    unit: str
    formula: str
    substituted: str
    source: str


@dataclass(frozen=True, kw_only=True)
class ToldState(ToldTerm):
    """Bytes that each rank will hold of one part of the training state; several where ranks differ."""

    part: str
    bytes: int | tuple[int, ...]
    why: str


@dataclass(frozen=True, kw_only=True)
class ToldCalls:
    """Collectives of one kind that each rank will issue in a step; `on` these ranks only, where not all do."""

    axis: str
    op: str
    n: int
    bytes: int
    ranks: int
    when: str
    why: str
    on: tuple[int, ...] | None


@dataclass(frozen=True)
class ToldFailure:
    """How a fault demo will end."""

    says: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Told:
    """A prediction in words and numbers."""

    loss_tolerance: float
    state: tuple[ToldState, ...]
    calls: tuple[ToldCalls, ...]
    wire_bytes: float | None
    terms: tuple[ToldTerm, ...]
    notes: tuple[str, ...]
    fails: ToldFailure | None
