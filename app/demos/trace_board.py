"""A trace on fake ranks as the page shows it: one column for each role, and what the engine alone would have said."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from app.board.figures.held_bars import RankState, held_bars
from app.board.linked import LinkedFigure
from app.demos.rows import TRACE, knobs_text, value_text
from app.live.events import of_kind
from app.runner.fake.event_kinds import (
    RoleCheck,
    RoleReady,
    RoleState,
    TraceAccepted,
    TraceCancelled,
    TraceDone,
    TraceEvent,
    TraceFailed,
    TraceInterrupted,
)
from engine.language.units import counted, seconds_text


@dataclass(frozen=True)
class TraceCell:
    """One role's value of one row."""

    predicted: str
    measured: str
    engine: str
    ok: bool
    why: str

    @property
    def beside(self) -> str:
        """What was predicted, and what the engine alone would have said where that is another number."""
        said = "as predicted" if self.predicted == self.measured else f"predicted {self.predicted}"
        return said + (f"; engine {self.engine}" if self.engine not in ("", self.measured) else "")


@dataclass(frozen=True)
class TraceRow:
    """One thing that every role was said to show."""

    name: str
    cells: tuple[TraceCell | None, ...]

    why: str


def planner_differs(check: RoleCheck) -> bool:
    """Whether the engine alone would have said another number than the one measured, by more than the row allows."""
    return check.engine is not None and abs(check.engine - check.measured) > check.tolerance * abs(check.engine)


@dataclass(frozen=True)
class TraceBoard:
    """A trace so far.

    events     in order
    narrow     for a narrow window
    recorded   whether it was made before
    """

    events: Sequence[TraceEvent]
    narrow: bool = False
    recorded: bool = False

    @property
    def layers(self) -> int:
        """Layers that each stage traces; 0 for the whole model."""
        return int(self.accepted.params["layers_per_stage"])

    @cached_property
    def accepted(self) -> TraceAccepted:
        """The first event: a trace has said it before anyone looks."""
        return of_kind(self.events, TraceAccepted)[0]

    @cached_property
    def done(self) -> TraceDone | None:
        return next(iter(of_kind(self.events, TraceDone)), None)

    @cached_property
    def over(self) -> bool:
        return self.events[-1].LAST

    @property
    def why_not(self) -> str:
        """Why it ended without being done."""
        last = self.events[-1]
        if isinstance(last, TraceFailed):
            return last.message
        if isinstance(last, TraceInterrupted):
            return f"interrupted: {last.reason}"
        return last.reason if isinstance(last, TraceCancelled) else ""

    @property
    def said(self) -> str:
        """What PyTorch said of why it failed."""
        return last.said if isinstance(last := self.events[-1], TraceFailed) else ""

    @property
    def state(self) -> str:
        """tracing, done or failed."""
        return "tracing" if not self.over else "done" if self.done else "failed"

    @property
    def words(self) -> str:
        """How far it is, in a line."""
        recorded = f" · recorded {self.made}" if self.recorded else ""
        if not self.over:
            return f"tracing {', '.join(role.role for role in self.roles)}".rstrip() + recorded
        if not self.done:
            return f"{self.why_not}{recorded}"
        verdict = "all as predicted for eager PyTorch" if self.done.ok else "not all as predicted"
        planner = f"; the planner's own figure differs in {self.differing}" if self.differing else ""
        return f"{self.done.checks} rows, {verdict}{planner}, in {seconds_text(self.done.wall_s)}{recorded}"

    @cached_property
    def differing(self) -> int:
        """Rows in which what the planner says by itself is not what was measured."""
        return sum(planner_differs(check) for check in of_kind(self.events, RoleCheck))

    @property
    def knobs(self) -> str:
        """What was asked for beside the model, in a line."""
        return knobs_text(TRACE, {name: value for name, value in self.accepted.params.items() if name != "model"})

    @property
    def held_of(self) -> str:
        """What part of the model the traced ranks hold a share of."""
        if not self.layers:
            return "of the whole model"
        return f"of a model with {counted(self.layers, 'layer')} per stage"

    @property
    def ranks(self) -> int:
        return self.accepted.ranks

    @cached_property
    def roles(self) -> list[RoleReady]:
        """Ranks that were traced, in the order of their stages, with how many ranks each stands for."""
        found = {role.role: role for role in of_kind(self.events, RoleReady)}
        return sorted(found.values(), key=lambda role: role.stage)

    @cached_property
    def rows(self) -> list[TraceRow]:
        return self._rows(of_kind(self.events, RoleCheck))

    def _rows(self, checks: Sequence[RoleCheck]) -> list[TraceRow]:
        names = list(dict.fromkeys(check.name for check in checks))
        found = {(check.name, check.role): check for check in checks}
        rows: list[TraceRow] = []
        for name in names:
            cells = tuple(_cell(found.get((name, role.role))) for role in self.roles)
            why = "; ".join(
                dict.fromkeys(reason for cell in cells if cell for reason in cell.why.split("; ") if reason)
            )
            said = any(row.why == why for row in rows[-1:])  # bytes differ for the reason that calls do
            rows.append(TraceRow(name, cells, "" if said else why))
        return rows

    @cached_property
    def held(self) -> LinkedFigure | None:
        states = {state.role: state for state in of_kind(self.events, RoleState)}
        ranks = [
            RankState(name, (float(state.param_bytes), float(state.grad_bytes), float(state.opt_bytes)))
            for role in self.roles
            if (state := states.get(name := role.role))
        ]
        return held_bars(ranks, [], narrow=self.narrow) if ranks else None

    @property
    def command(self) -> str:
        """How to make it again, where it was recorded."""
        return self.accepted.command

    @property
    def made(self) -> str:
        """When and with what it was recorded."""
        return f"{self.accepted.date}, torch {self.accepted.versions.get('torch', '')}"


def _cell(check: RoleCheck | None) -> TraceCell | None:
    if check is None:
        return None
    return TraceCell(
        value_text(check.predicted, check.unit),
        value_text(check.measured, check.unit),
        value_text(check.engine, check.unit) if check.engine is not None else "",
        check.ok,
        check.why,
    )
