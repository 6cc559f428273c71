"""A run as the page shows it, at any moment: made of nothing but its events, so that a live run, a replay, a recording and
a file from a cluster are the same to it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite

from app.board.figures.held_bars import RankState, held_bars
from app.board.figures.loss_lines import loss_lines
from app.board.figures.pipeline_timeline import pipeline_timeline
from app.board.figures.rank_lanes import Lane, axis_of, rank_lanes
from app.board.linked import LinkedFigure
from app.demos.rows import VerdictRow, verdict_rows
from app.live.events import of_kind
from app.runner.catalog import checked
from app.runner.demos import pp
from app.runner.event_kinds import (
    REFERENCE,
    Buckets,
    Check,
    Comm,
    Fault,
    Knobs,
    RankError,
    RankName,
    RunAccepted,
    RunCancelled,
    RunDone,
    RunEvent,
    RunFailed,
    RunInterrupted,
    RunStarted,
    State,
    Step,
    Stuck,
)
from app.runner.pipe_timeline import measured_timeline, pipe_steps
from app.runner.told import Told
from engine.language.units import counted, seconds_text
from engine.pipeline.timeline import Timeline

ENDS = RunDone | RunFailed | RunCancelled | RunInterrupted
PARTS = 3  # of the state: parameters, gradients, optimizer


@dataclass(frozen=True)
class RunBoard:
    """One run so far.

    events   in order
    narrow   for a narrow window
    """

    events: Sequence[RunEvent]
    narrow: bool = False

    @cached_property
    def accepted(self) -> RunAccepted | None:
        return next(iter(of_kind(self.events, RunAccepted)), None)

    @cached_property
    def started(self) -> RunStarted | None:
        return next(iter(of_kind(self.events, RunStarted)), None)

    @cached_property
    def ended(self) -> RunDone | RunFailed | RunCancelled | RunInterrupted | None:
        return next((event for event in self.events if isinstance(event, ENDS)), None)

    @cached_property
    def steps_seen(self) -> list[Step]:
        return of_kind(self.events, Step)

    @property
    def demo(self) -> str:
        """Its name, where it is known."""
        return self.accepted.demo if self.accepted else self.started.demo if self.started else ""

    @property
    def predicted(self) -> Told | None:
        return self.started.predicted if self.started else None

    @property
    def params(self) -> Knobs:
        return self.accepted.params if self.accepted else (self.started and self.started.params) or {}

    @property
    def recorded(self) -> bool:
        return bool(self.started and self.started.recorded)

    @property
    def state(self) -> str:
        """waiting, starting, running, done, failed, cancelled or interrupted."""
        if self.ended:
            return self.ended.KIND.removeprefix("run.")
        if self.steps_seen:
            return "running"
        return "starting" if self.started else "waiting"

    @property
    def over(self) -> bool:
        return self.ended is not None

    @property
    def steps(self) -> int:
        """Of the whole run: as many as were asked for, else as many as were seen."""
        asked, seen = self.params.get("steps"), 1 + max((step.step for step in self.steps_seen), default=0)
        return asked if isinstance(asked, int) and asked > 0 else seen

    @property
    def step(self) -> int:
        """Steps that any rank has finished."""
        return 1 + max((step.step for step in self.steps_seen if step.rank != REFERENCE), default=-1)

    @property
    def words(self) -> str:
        """How far it is, in a line."""
        if self.state == "waiting":
            place = self.accepted.place if self.accepted else 0
            before = f"waiting: {counted(place, 'run')} before this one"
            return before if place else "waiting for the ranks"
        start_s = self.started.start_s if self.started and self.started.cold else None  # nobody times torchrun's start
        cold = seconds_text(start_s) if start_s else ""
        if self.state == "starting":
            return f"cold start: torch took {cold} to load" if cold else "ranks are meeting"
        if self.state == "running":
            return f"step {self.step} of {self.steps}"
        if isinstance(self.ended, RunInterrupted):
            return (
                f"interrupted in step {self.step + 1} of {self.steps}" if self.started else "interrupted while waiting"
            )
        wall_s = self.ended.wall_s if self.ended else None
        how = "failed, as it was meant to," if self.as_meant else self.state
        return how + (f" after {seconds_text(wall_s)}" if wall_s else "") + (f", cold start {cold}" if cold else "")

    @property
    def as_meant(self) -> bool:
        """Whether it failed the way its demo said it would."""
        return isinstance(self.ended, RunFailed) and bool(self.ended.ok)

    @property
    def cause(self) -> str:
        """Why it failed or was stopped, where it was."""
        if isinstance(self.ended, RunFailed):
            return self.ended.message
        return self.ended.reason if isinstance(self.ended, RunCancelled | RunInterrupted) else ""

    @property
    def said(self) -> str:
        """What PyTorch said of why it failed."""
        return self.ended.said if isinstance(self.ended, RunFailed) else ""

    @cached_property
    def losses(self) -> LinkedFigure | None:
        alone: dict[int, float] = {}
        ranks: dict[int, list[float]] = defaultdict(list)
        for step in self.steps_seen:
            if step.loss is None or not isfinite(step.loss):
                continue
            if step.rank == REFERENCE:
                alone[step.step] = step.loss
            else:
                ranks[step.step].append(step.loss)
        if not alone and not ranks:
            return None
        together = {step: sum(found) / len(found) for step, found in ranks.items()}
        return loss_lines(alone, together, self.steps, axis=self.axis, narrow=self.narrow)

    @property
    def axis(self) -> str:
        """The axis whose colour the run takes: that of its first collective."""
        return axis_of(next((made.axis for comm in of_kind(self.events, Comm) for made in comm.calls), "dp"))

    @cached_property
    def held(self) -> LinkedFigure | None:
        found = {state.rank: state for state in of_kind(self.events, State) if isinstance(state.rank, int)}
        ranks = [
            RankState(f"rank {rank}", (float(state.param_bytes), float(state.grad_bytes), float(state.opt_bytes)))
            for rank, state in sorted(found.items())
        ]
        return held_bars(ranks, self._predicted_totals(len(ranks)), narrow=self.narrow) if ranks else None

    def _predicted_totals(self, ranks: int) -> list[float]:
        parts = [state.bytes for state in self.predicted.state] if self.predicted else []
        if len(parts) < PARTS:
            return []
        each = [part if isinstance(part, tuple) else (part,) * ranks for part in parts]
        return [float(sum(part[rank] for part in each if rank < len(part))) for rank in range(ranks)]

    @cached_property
    def lanes(self) -> LinkedFigure | None:
        """The last step whose collectives were listed one by one."""
        listed = [comm for comm in of_kind(self.events, Comm) if comm.each]
        if not listed or self.pipe:
            return None
        last = max(comm.step for comm in listed)
        steps = {step.rank: step for step in self.steps_seen if step.step == last}
        calls: dict[RankName, list[Span]] = {
            comm.rank: [(call.axis, call.t0, call.t1) for call in comm.each] for comm in listed if comm.step == last
        }
        for buckets in of_kind(self.events, Buckets):  # on a virtual link the buckets are what is under way
            if buckets.step == last:
                calls[buckets.rank] = [("dp", bucket.t0, bucket.t1) for bucket in buckets.each]
        ranks = sorted(rank for rank in calls.keys() & steps.keys() if isinstance(rank, int))
        zero = min((steps[rank].t0 for rank in ranks), default=0.0)
        lanes = [_lane(rank, steps[rank], calls[rank], zero) for rank in ranks]
        return rank_lanes(lanes, narrow=self.narrow) if lanes else None

    @cached_property
    def measured_pipe(self) -> Timeline | None:
        """The last step of a pipeline, as it really ran."""
        steps = pipe_steps(self.events)
        return measured_timeline(self.events, steps[-1]) if steps else None

    @cached_property
    def pipe(self) -> LinkedFigure | None:
        """The measured timeline, in the figure of the simulator."""
        measured = self.measured_pipe
        return pipeline_timeline(measured, narrow=self.narrow, name="measured-pipe") if measured else None

    @cached_property
    def simulated_pipe(self) -> LinkedFigure | None:
        """The same schedule as the engine simulates it."""
        if self.pipe is None or self.demo != pp.DEMO.name:
            return None
        timeline = pp.expected_timeline(checked(pp.DEMO, self.params))
        return pipeline_timeline(timeline, narrow=self.narrow, in_seconds=False, name="simulated-pipe")

    @property
    def rows(self) -> list[VerdictRow]:
        return verdict_rows(self.predicted, of_kind(self.events, Check))

    @property
    def notes(self) -> Sequence[str]:
        return self.predicted.notes if self.predicted else ()

    @property
    def troubles(self) -> list[RankError]:
        """Errors of ranks, the cause first."""
        return sorted(of_kind(self.events, RankError), key=lambda error: not error.root_cause)

    @property
    def stuck(self) -> list["Reached"]:
        """How far each rank got, by its flight recorder: the one that is behind is the one to look at."""
        return sorted(map(_reached, of_kind(self.events, Stuck)), key=lambda reached: reached.number)

    @property
    def faults(self) -> list[Fault]:
        return of_kind(self.events, Fault)

    @property
    def ok(self) -> bool | None:
        """Whether everything came out as predicted; None before the verdict."""
        rows = self.rows
        return None if not rows or any(row.ok is None for row in rows) else all(row.ok for row in rows)


@dataclass(frozen=True)
class Reached:
    """How far a rank got: the number of its last collective, 0 where it issued none, and that in words."""

    rank: RankName
    number: int
    words: str


def _reached(stuck: Stuck) -> Reached:
    if not stuck.last:
        return Reached(stuck.rank, 0, "nothing")
    last = stuck.last[-1]
    words = f"collective {last.number}, {last.op.replace('_', '-')}, in its {last.where}"
    return Reached(stuck.rank, last.number, words)


Span = tuple[str, float, float | None]  # axis, start and end, if that was seen
PHASES = {"forward": "f", "backward": "b", "optimizer": "optimizer"}


def _lane(rank: int, step: Step, calls: Iterable[Span], zero: float) -> Lane:
    work = [(PHASES[name], start - zero, end - zero) for name, (start, end) in step.phases.items() if name in PHASES]
    spans = tuple((axis, start - zero, (end or start) - zero) for axis, start, end in calls)
    return Lane(f"rank {rank}", step.t0 - zero, step.t1 - zero, spans, tuple(work))


def until(events: Sequence[RunEvent], t: float | None) -> list[RunEvent]:
    """The events of a run up to a moment, for a replay.   [s]"""
    if t is None:
        return list(events)
    kept = [event for event in events if event.moment is None or event.moment <= t]
    ended = t >= last_moment(events)
    return [event for event in kept if ended or not (event.LAST or isinstance(event, Check))]


def last_moment(events: Iterable[RunEvent]) -> float:
    """When the last of its ranks said something.   [s]"""
    return max((event.moment for event in events if event.moment is not None), default=0.0)
