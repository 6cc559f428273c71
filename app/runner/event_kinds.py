"""Everything a run says, listed once: its own events, and those of its ranks.

Ranks write them (worker.py), the zygote passes them on, the server judges them (verdict.py, root_cause.py), pages and the
command line read them; recorded runs and the file that torchrun's ranks leave are lines of the same.
Times are in seconds since the run started; the ranks of one machine share one clock.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from app.live.events import Event, Family
from app.runner.event_bounds import (
    Allowed,
    Bytes,
    Count,
    Figure,
    Loss,
    Milliseconds,
    Moment,
    RankNumber,
    Seconds,
    Sentence,
    StepNumber,
    Whole,
    Word,
)
from app.runner.event_parts import Bucket, FlightEntry, Issued, IssuedOne, PipeOp
from app.runner.told import Told

RankName = RankNumber | Word  # a number, REFERENCE or AGENT
REFERENCE = "ref"  # the rank that trains the same model alone, to compare with
AGENT = "agent"  # the process that starts ranks, and starts them again, where a demo has one
Compared = Figure | Sentence | None | tuple[Figure, ...]  # of a row of the verdict: of all ranks, or of each
Knobs = Mapping[Word, Whole | Word]


@dataclass(frozen=True, kw_only=True)
class RunEvent(Event):
    """What every event of a run has.

    run        its name; empty in a recording
    recorded   whether it is shown from a recording
    """

    run: Word = ""
    recorded: bool = False

    @property
    def moment(self) -> float | None:
        """When it was said, where that is known: its `t`."""
        return getattr(self, "t", None)


@dataclass(frozen=True)
class RankEvent(RunEvent):
    """What a rank says, or what is said of one."""

    t: Moment
    rank: RankName


# The run


@dataclass(frozen=True)
class RunAccepted(RunEvent, kind="run.accepted"):
    """It is in the queue, so many runs before it.

    at   when, in UTC
    by   who has asked, signed: nobody's cookie can be made of it
    """

    demo: Word
    params: Knobs
    place: Count
    at: Word = ""
    by: Word = ""


@dataclass(frozen=True, kw_only=True)
class RunStarted(RunEvent, kind="run.started"):
    """Its ranks are being started.

    cold           whether torch had to be imported first, start_s: and how long that took
    demo, params   where no RunAccepted was said before: on a cluster
    date           where it is a recording
    """

    ranks: Count
    seed: Whole
    versions: Mapping[Word, Word]
    cold: bool
    predicted: Told
    start_s: Seconds | None = None
    demo: Word = ""
    params: Knobs | None = None
    date: Word = ""


@dataclass(frozen=True)
class Check(RunEvent, kind="check", always=True):
    """A row of the verdict. tolerance is absolute, in the unit; 0 is exact."""

    name: Word
    label: Sentence
    predicted: Compared
    measured: Compared
    unit: Word
    tolerance: Allowed
    ok: bool
    why: Sentence


@dataclass(frozen=True, kw_only=True)
class RunDone(RunEvent, kind="run.done", last=True):
    """Its ranks have ended; ok: and every row of the verdict holds."""

    reason: Sentence
    wall_s: Seconds
    ok: bool


@dataclass(frozen=True, kw_only=True)
class RunFailed(RunEvent, kind="run.failed", last=True):
    """A rank has failed, or what starts them; ok: and its demo had said so. said: PyTorch's own words."""

    rank: RankName | None
    message: Sentence
    root_cause: RankName | None
    said: Sentence = ""
    wall_s: Seconds | None = None
    ok: bool | None = None


@dataclass(frozen=True, kw_only=True)
class RunCancelled(RunEvent, kind="run.cancelled", last=True):
    """It was stopped."""

    reason: Sentence
    wall_s: Seconds | None = None


@dataclass(frozen=True, kw_only=True)
class RunInterrupted(RunEvent, kind="run.interrupted", last=True):
    """Its server ended in the middle of it, and said nothing: written by the next one."""

    reason: Sentence


# Its ranks


@dataclass(frozen=True)
class RankReady(RankEvent, kind="rank.ready"):
    """It has built its training. coords: its place on each axis."""

    coords: Mapping[Word, Count]
    device: Word


@dataclass(frozen=True)
class Step(RankEvent, kind="step"):
    """A step of the training; loss is None on ranks that see none. phases: from when to when each went."""

    step: StepNumber
    loss: Loss | None
    ms: Milliseconds
    t0: Moment
    t1: Moment
    tokens: Count
    phases: Mapping[Word, tuple[Moment, Moment]]


@dataclass(frozen=True)
class State(RankEvent, kind="state"):
    """Bytes of training state that it really holds, and the shapes of its first matrices."""

    param_bytes: Bytes
    grad_bytes: Bytes
    opt_bytes: Bytes
    shapes: Mapping[Word, tuple[Count, ...]]


@dataclass(frozen=True)
class Comm(RankEvent, kind="comm"):
    """The collectives that it issued in a step; in the last step also one by one."""

    step: StepNumber
    calls: tuple[Issued, ...]
    each: tuple[IssuedOne, ...] = ()


@dataclass(frozen=True)
class Wire(RankEvent, kind="wire"):
    """Bytes that it handed to TCP in a step, counted by the kernel."""

    step: StepNumber
    bytes_sent: Bytes


@dataclass(frozen=True)
class Measure(RankEvent, kind="measure"):
    """A number of the demo's own: a `Measurable` or a judge of the prediction makes a row of the verdict of it."""

    name: Word
    value: Figure | tuple[Whole, ...]
    step: StepNumber | None = None


@dataclass(frozen=True)
class Pipe(RankEvent, kind="pipe"):
    """What a stage of a pipeline did in a step; queued_s: for so long it wanted a processor that others had."""

    step: StepNumber
    ops: tuple[PipeOp, ...]
    queued_s: Seconds | None


@dataclass(frozen=True)
class Buckets(RankEvent, kind="buckets"):
    """What passed the virtual slow link in a step."""

    step: StepNumber
    each: tuple[Bucket, ...]


@dataclass(frozen=True)
class Fault(RankEvent, kind="fault"):
    """What it does wrong now, on purpose."""

    what: Sentence


@dataclass(frozen=True)
class Stuck(RankEvent, kind="stuck"):
    """How far it got: its last collectives, the newest last."""

    last: tuple[FlightEntry, ...]


@dataclass(frozen=True)
class Restart(RankEvent, kind="restart"):
    """It was started again, for the so-many-eth time, and goes on with step `first`."""

    attempt: Count
    first: StepNumber


@dataclass(frozen=True)
class RankError(RunEvent, kind="rank.error", always=True):
    """It failed; or nobody did, and the log of the run is full.

    root_cause   whether this is why the run failed, once that is judged
    """

    t: Moment | None
    rank: RankName | None
    type: Word
    message: Sentence
    root_cause: bool | None = None


@dataclass(frozen=True)
class RankExit(RankEvent, kind="rank.exit"):
    """Its process has ended. by_us: it was killed by the one that started it; said: the end of its standard error."""

    code: Whole
    signal: Word | None
    by_us: bool
    cpu_s: Seconds
    said: Sentence


@dataclass(frozen=True)
class Dropped(RunEvent, kind="dropped"):
    """An event that was too long to pass on."""

    t: Moment | None
    rank: RankName | None
    kind: Word
    bytes: Bytes


RUN_EVENTS = Family[RunEvent](
    RunAccepted, RunStarted, Check, RunDone, RunFailed, RunCancelled, RunInterrupted,
    RankReady, Step, State, Comm, Wire, Measure, Pipe, Buckets, Fault, Stuck, Restart, RankError, RankExit, Dropped,
)  # fmt: skip
