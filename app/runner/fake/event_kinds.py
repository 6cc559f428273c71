"""Everything a trace on fake ranks says, listed once. The processes that trace write it, pages and the command line read it.

Names are those of a run where the meaning is the same; a role stands where a run has a rank.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from app.live.events import Event, Family
from app.runner.event_bounds import (
    Allowed,
    Bytes,
    BytesReckoned,
    Count,
    Figure,
    RankNumber,
    Seconds,
    Sentence,
    StepNumber,
    Whole,
    Word,
)
from app.runner.fake.told import Counted, ToldTrace


@dataclass(frozen=True)
class TraceEvent(Event):
    """What a trace says."""


@dataclass(frozen=True)
class RoleEvent(TraceEvent):
    """What is said of one role: its name, and the rank that is traced for it."""

    role: Word
    rank: RankNumber


@dataclass(frozen=True, kw_only=True)
class TraceAccepted(TraceEvent, kind="run.accepted"):
    """The request, and everything that is said before the trace.

    command   that makes this trace again
    at, by    when, in UTC, and who has asked, signed; empty in a recording
    """

    demo: Word
    params: Mapping[Word, Whole | Word]
    ranks: Count
    predicted: ToldTrace
    notes: tuple[Sentence, ...]
    command: Sentence
    versions: Mapping[Word, Word]
    date: Word
    at: Word = ""
    by: Word = ""


@dataclass(frozen=True)
class RoleReady(RoleEvent, kind="rank.ready"):
    """It is being traced. stands_for: so many ranks do the same."""

    stage: Count
    stands_for: Count
    coords: Mapping[Word, Count]


@dataclass(frozen=True)
class RoleState(RoleEvent, kind="state"):
    """Parameters of its stage, and the bytes of training state that its rank holds."""

    parameters: Count
    param_bytes: Bytes
    grad_bytes: Bytes
    opt_bytes: Bytes


@dataclass(frozen=True)
class RoleComm(RoleEvent, kind="comm"):
    """The collectives of a step."""

    step: StepNumber
    comm: tuple[Counted, ...]


@dataclass(frozen=True)
class RoleMemory(RoleEvent, kind="mem"):
    """Most bytes alive at once, what a forward pass leaves behind, and for how long it was traced."""

    step: StepNumber
    peak_bytes: Bytes
    kept_bytes: Bytes
    layer_kept_bytes: BytesReckoned
    seconds: Seconds


@dataclass(frozen=True)
class RoleCheck(RoleEvent, kind="check", always=True):
    """A row of its verdict.

    tolerance   share of the prediction by which the measurement may differ
    engine      what the engine's plain estimate says, where it is another number
    """

    name: Word
    predicted: Figure
    measured: Figure
    unit: Word
    tolerance: Allowed
    ok: bool
    why: Sentence
    engine: Figure | None


@dataclass(frozen=True)
class RoleError(RoleEvent, kind="rank.error", always=True):
    """It could not be traced."""

    message: Sentence


@dataclass(frozen=True, kw_only=True)
class TraceDone(TraceEvent, kind="run.done", last=True):
    """All roles are traced. ok: every row agrees; traced_s: without imports."""

    wall_s: Seconds
    checks: Count
    ok: bool
    traced_s: Seconds


@dataclass(frozen=True, kw_only=True)
class TraceFailed(TraceEvent, kind="run.failed", last=True):
    """A role could not be traced, or no process for it be started. said: PyTorch's own words."""

    message: Sentence
    said: Sentence = ""
    wall_s: Seconds | None = None


@dataclass(frozen=True, kw_only=True)
class TraceCancelled(TraceEvent, kind="run.cancelled", last=True):
    """It was stopped."""

    reason: Sentence


@dataclass(frozen=True, kw_only=True)
class TraceInterrupted(TraceEvent, kind="run.interrupted", last=True):
    """Its server ended in the middle of it, and said nothing: written by the next one."""

    reason: Sentence


TRACE_EVENTS = Family[TraceEvent](
    TraceAccepted,
    RoleReady,
    RoleState,
    RoleComm,
    RoleMemory,
    RoleCheck,
    RoleError,
    TraceDone,
    TraceFailed,
    TraceCancelled,
    TraceInterrupted,
)
