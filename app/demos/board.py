"""A run as the page shows it, at any moment: made of nothing but its events, so that a live run, a replay, a recording and
a file from a cluster are the same to it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from app.board.figures.held_bars import RankState, held_bars
from app.board.figures.loss_lines import loss_lines
from app.board.figures.pipeline_timeline import pipeline_timeline
from app.board.figures.rank_lanes import Lane, axis_of, rank_lanes
from app.board.linked import LinkedFigure
from app.demos.rows import VerdictRow, verdict_rows
from app.runner.catalog import checked
from app.runner.demos import pp
from app.runner.pipe_timeline import measured_timeline, pipe_steps
from engine.language.units import seconds_text
from engine.pipeline.timeline import Timeline

Event = Mapping[str, Any]
REFERENCE = "ref"
PARTS = ("param_bytes", "grad_bytes", "opt_bytes")
SAID = {
    "waiting": "waiting",
    "starting": "starting",
    "running": "running",
    "done": "done",
    "failed": "failed",
    "cancelled": "cancelled",
}


@dataclass(frozen=True)
class RunBoard:
    """One run so far.

    events   in order
    narrow   for a narrow window
    """

    events: Sequence[Event]
    narrow: bool = False

    @cached_property
    def by_kind(self) -> Mapping[str, list[Event]]:
        found: dict[str, list[Event]] = defaultdict(list)
        for event in self.events:
            found[event["event"]].append(event)
        return found

    def first(self, kind: str) -> Event:
        """The first event of a kind, or nothing."""
        return self.by_kind[kind][0] if self.by_kind.get(kind) else {}

    @property
    def accepted(self) -> Event:
        return self.first("run.accepted")

    @property
    def started(self) -> Event:
        return self.first("run.started")

    @property
    def ended(self) -> Event:
        return self.first("run.done") or self.first("run.failed") or self.first("run.cancelled")

    @property
    def predicted(self) -> Mapping[str, Any]:
        return self.started.get("predicted") or self.accepted.get("predicted") or {}

    @property
    def params(self) -> Mapping[str, Any]:
        return self.accepted.get("params") or self.started.get("params") or {}

    @property
    def recorded(self) -> bool:
        return bool(self.started.get("recorded"))

    @property
    def state(self) -> str:
        """waiting, starting, running, done, failed or cancelled."""
        if self.ended:
            return str(self.ended["event"]).removeprefix("run.")
        if self.by_kind.get("step"):
            return "running"
        return "starting" if self.started else "waiting"

    @property
    def over(self) -> bool:
        return bool(self.ended)

    @property
    def steps(self) -> int:
        return int(
            self.params.get("steps") or 1 + max((event["step"] for event in self.by_kind.get("step", [])), default=0)
        )

    @property
    def step(self) -> int:
        """Steps that any rank has finished."""
        return 1 + max(
            (event["step"] for event in self.by_kind.get("step", []) if event["rank"] != REFERENCE), default=-1
        )

    @property
    def words(self) -> str:
        """How far it is, in a line."""
        place, cold = int(self.accepted.get("place") or 0), self.started.get("cold")
        if self.state == "waiting":
            return (
                f"waiting: {place} run{'s' if place != 1 else ''} before this one" if place else "waiting for the ranks"
            )
        if self.state == "starting":
            return (
                f"cold start: torch took {seconds_text(self.started.get('start_s') or 0)} to load"
                if cold
                else "ranks are meeting"
            )
        if self.state == "running":
            return f"step {self.step} of {self.steps}"
        wall = f" after {seconds_text(self.ended['wall_s'])}" if self.ended.get("wall_s") else ""
        return f"{'failed, as it was meant to,' if self.as_meant else SAID[self.state]}{wall}" + (
            f", cold start {seconds_text(self.started['start_s'])}" if cold else ""
        )

    @property
    def as_meant(self) -> bool:
        """Whether it failed the way its demo said it would."""
        return self.state == "failed" and bool(self.ended.get("ok"))

    @property
    def cause(self) -> str:
        """Why it failed or was stopped, where it was."""
        return str(self.ended.get("message") or (self.ended.get("reason") if self.state == "cancelled" else "") or "")

    @cached_property
    def losses(self) -> LinkedFigure | None:
        alone: dict[int, float] = {}
        ranks: dict[int, list[float]] = defaultdict(list)
        for event in self.by_kind.get("step", []):
            if event.get("loss") is None:
                continue
            if event["rank"] == REFERENCE:
                alone[event["step"]] = event["loss"]
            else:
                ranks[event["step"]].append(event["loss"])
        if not alone and not ranks:
            return None
        together = {step: sum(found) / len(found) for step, found in ranks.items()}
        return loss_lines(alone, together, self.steps, axis=self.axis, narrow=self.narrow)

    @property
    def axis(self) -> str:
        """The axis whose colour the run takes: that of its first collective."""
        calls = [call["axis"] for event in self.by_kind.get("comm", []) for call in event["calls"]]
        return axis_of(calls[0]) if calls else "dp"

    @cached_property
    def held(self) -> LinkedFigure | None:
        found = sorted(
            (event for event in self.by_kind.get("state", []) if event["rank"] != REFERENCE),
            key=lambda event: event["rank"],
        )
        ranks = [RankState(f"rank {event['rank']}", tuple(float(event[part]) for part in PARTS)) for event in found]
        return held_bars(ranks, self._predicted_totals(len(ranks)), narrow=self.narrow) if ranks else None

    def _predicted_totals(self, ranks: int) -> list[float]:
        parts = [state["bytes"] for state in self.predicted.get("state", ())]
        if len(parts) < len(PARTS):
            return []
        return [
            sum(
                float(
                    part[rank]
                    if isinstance(part, list) and rank < len(part)
                    else part
                    if not isinstance(part, list)
                    else 0
                )
                for part in parts
            )
            for rank in range(ranks)
        ]

    @cached_property
    def lanes(self) -> LinkedFigure | None:
        """The last step whose collectives were listed one by one."""
        listed = [event for event in self.by_kind.get("comm", []) if event.get("each")]
        if not listed or self.pipe:
            return None
        last = max(event["step"] for event in listed)
        steps = {event["rank"]: event for event in self.by_kind.get("step", []) if event["step"] == last}
        calls = {e["rank"]: [(call[0], call[4], call[5]) for call in e["each"]] for e in listed if e["step"] == last}
        for event in self.by_kind.get("buckets", []):  # on a virtual link the buckets are what is under way
            if event["step"] == last:
                calls[event["rank"]] = [("dp", bucket["t0"], bucket["t1"]) for bucket in event["each"]]
        ranks = sorted(calls.keys() & steps.keys())
        zero = min((steps[rank]["t0"] for rank in ranks), default=0.0)
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
        if self.pipe is None or self.accepted.get("demo") != pp.DEMO.name:
            return None
        timeline = pp.expected_timeline(checked(pp.DEMO, self.params))
        return pipeline_timeline(timeline, narrow=self.narrow, in_seconds=False, name="simulated-pipe")

    @property
    def rows(self) -> list[VerdictRow]:
        return verdict_rows(self.predicted, self.by_kind.get("check", []))

    @property
    def notes(self) -> Sequence[str]:
        return self.predicted.get("notes") or ()

    @property
    def troubles(self) -> list[Event]:
        """Errors of ranks, the cause first."""
        return sorted(self.by_kind.get("rank.error", []), key=lambda event: not event.get("root_cause"))

    @property
    def stuck(self) -> list[Mapping[str, Any]]:
        """How far each rank got, by its flight recorder: the one that is behind is the one to look at."""
        found = []
        for event in self.by_kind.get("stuck", []):
            last = event["last"][-1] if event.get("last") else {}
            words = (
                f"collective {last.get('number')}, {str(last.get('op', '')).replace('_', '-')}, in its {last.get('where', '')}"
                if last
                else "nothing"
            )
            found.append({"rank": event["rank"], "words": words, "number": last.get("number") or 0})
        return sorted(found, key=lambda each: each["number"])

    @property
    def exits(self) -> list[Event]:
        return list(self.by_kind.get("rank.exit", []))

    @property
    def faults(self) -> list[Event]:
        return list(self.by_kind.get("fault", []))

    @property
    def ok(self) -> bool | None:
        """Whether everything came out as predicted; None before the verdict."""
        rows = self.rows
        return None if not rows or any(row.ok is None for row in rows) else all(row.ok for row in rows)


PHASES = {"forward": "f", "backward": "b", "optimizer": "optimizer"}


def _lane(rank: int, step: Event, calls: Sequence[tuple[str, float, float | None]], zero: float) -> Lane:
    work = [
        (PHASES[name], span[0] - zero, span[1] - zero)
        for name, span in (step.get("phases") or {}).items()
        if name in PHASES
    ]
    return Lane(
        f"rank {rank}",
        step["t0"] - zero,
        step["t1"] - zero,
        tuple((axis, start - zero, (end or start) - zero) for axis, start, end in calls),
        tuple(work),
    )


def until(events: Sequence[Event], t: float | None) -> list[Event]:
    """The events of a run up to a moment, for a replay.   [s]"""
    if t is None:
        return list(events)
    kept = [event for event in events if event.get("t") is None or event["t"] <= t]
    return [event for event in kept if event["event"] not in LAST or t >= last_moment(events)]


LAST = ("run.done", "run.failed", "run.cancelled", "check")


def last_moment(events: Sequence[Event]) -> float:
    """When the last of its ranks said something.   [s]"""
    return max((float(event["t"]) for event in events if event.get("t") is not None), default=0.0)
