"""Everything a trace on fake ranks says, listed once. The processes that trace write it, pages and the command line read it.

Names are those of a run where the meaning is the same; a role stands where a run has a rank.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from app.live.events import Event, Family
from app.runner.fake.told import Counted, ToldTrace

Number = int | float


@dataclass(frozen=True)
class TraceEvent(Event):
    """What a trace says."""


@dataclass(frozen=True)
class RoleEvent(TraceEvent):
    """What is said of one role: its name, and the rank that is traced for it."""

    role: str
    rank: int


@dataclass(frozen=True, kw_only=True)
class TraceAccepted(TraceEvent, kind="run.accepted"):
    """The request, and everything that is said before the trace.

    command   that makes this trace again
    at, by    when, in UTC, and who has asked, signed; empty in a recording
    """

    demo: str
    params: Mapping[str, int | str]
    ranks: int
    predicted: ToldTrace
    notes: tuple[str, ...]
    command: str
    versions: Mapping[str, str]
    date: str
    at: str = ""
    by: str = ""


@dataclass(frozen=True)
class RoleReady(RoleEvent, kind="rank.ready"):
    """It is being traced. stands_for: so many ranks do the same."""

    stage: int
    stands_for: int
    coords: Mapping[str, int]


@dataclass(frozen=True)
class RoleState(RoleEvent, kind="state"):
    """Parameters of its stage, and the bytes of training state that its rank holds."""

    parameters: int
    param_bytes: int
    grad_bytes: int
    opt_bytes: int


@dataclass(frozen=True)
class RoleComm(RoleEvent, kind="comm"):
    """The collectives of a step."""

    step: int
    comm: tuple[Counted, ...]


@dataclass(frozen=True)
class RoleMemory(RoleEvent, kind="mem"):
    """Most bytes alive at once, what a forward pass leaves behind, and for how long it was traced."""

    step: int
    peak_bytes: int
    kept_bytes: int
    layer_kept_bytes: float
    seconds: float


@dataclass(frozen=True)
class RoleCheck(RoleEvent, kind="check", always=True):
    """A row of its verdict.

    tolerance   share of the prediction by which the measurement may differ
    engine      what the engine's plain estimate says, where it is another number
    """

    name: str
    predicted: Number
    measured: Number
    unit: str
    tolerance: float
    ok: bool
    why: str
    engine: Number | None


@dataclass(frozen=True)
class RoleError(RoleEvent, kind="rank.error", always=True):
    """It could not be traced."""

    message: str


@dataclass(frozen=True, kw_only=True)
class TraceDone(TraceEvent, kind="run.done", last=True):
    """All roles are traced. ok: every row agrees; traced_s: without imports."""

    wall_s: float
    checks: int
    ok: bool
    traced_s: float


@dataclass(frozen=True, kw_only=True)
class TraceFailed(TraceEvent, kind="run.failed", last=True):
    """A role could not be traced, or no process for it be started. said: PyTorch's own words."""

    message: str
    said: str = ""
    wall_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class TraceCancelled(TraceEvent, kind="run.cancelled", last=True):
    """It was stopped."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class TraceInterrupted(TraceEvent, kind="run.interrupted", last=True):
    """Its server ended in the middle of it, and said nothing: written by the next one."""

    reason: str


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
