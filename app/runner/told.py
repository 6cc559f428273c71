"""A prediction as the start of a run tells it: plain records that JSON can hold. predict.py makes them."""

from dataclasses import dataclass

from app.runner.event_bounds import Allowed, Bytes, BytesReckoned, Count, Figure, RankNumber, Sentence, Word


@dataclass(frozen=True, kw_only=True)
class ToldTerm:
    """A value with its working: formula and values as LaTeX."""

    label: Sentence
    value: Figure
    unit: Word
    formula: Sentence
    substituted: Sentence
    source: Sentence


@dataclass(frozen=True, kw_only=True)
class ToldState(ToldTerm):
    """Bytes that each rank will hold of one part of the training state; several where ranks differ."""

    part: Word
    bytes: Bytes | tuple[Bytes, ...]
    why: Sentence


@dataclass(frozen=True, kw_only=True)
class ToldCalls:
    """Collectives of one kind that each rank will issue in a step; `on` these ranks only, where not all do."""

    axis: Word
    op: Word
    n: Count
    bytes: Bytes
    ranks: Count
    when: Word
    why: Sentence
    on: tuple[RankNumber, ...] | None


@dataclass(frozen=True)
class ToldFailure:
    """How a fault demo will end."""

    says: Sentence
    why: Sentence


@dataclass(frozen=True, kw_only=True)
class Told:
    """A prediction in words and numbers."""

    loss_tolerance: Allowed
    state: tuple[ToldState, ...]
    calls: tuple[ToldCalls, ...]
    wire_bytes: BytesReckoned | None
    terms: tuple[ToldTerm, ...]
    notes: tuple[Sentence, ...]
    fails: ToldFailure | None
