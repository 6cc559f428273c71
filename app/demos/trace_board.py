"""A trace on fake ranks as the page shows it: one column for each role, and what the engine alone would have said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from app.board.figures.held_bars import RankState, held_bars
from app.board.linked import LinkedFigure
from app.demos.rows import knobs_text, value_text
from engine.language.units import seconds_text

Event = Mapping[str, Any]
PARTS = ("param_bytes", "grad_bytes", "opt_bytes")
WHOLE = "whole model: "


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


@dataclass(frozen=True)
class TraceBoard:
    """A trace so far.

    events     in order
    narrow     for a narrow window
    recorded   whether it was made before
    """

    events: Sequence[Event]
    narrow: bool = False
    recorded: bool = False

    @property
    def layers(self) -> int:
        """Layers that each stage traces; 0 for the whole model."""
        return int((self.accepted.get("params") or {}).get("layers_per_stage") or 0)

    def of(self, kind: str) -> list[Event]:
        return [event for event in self.events if event["event"] == kind]

    @property
    def accepted(self) -> Event:
        return next(iter(self.of("run.accepted")), {})

    @property
    def ended(self) -> Event:
        return next(
            (event for event in self.events if event["event"] in ("run.done", "run.failed", "run.cancelled")), {}
        )

    @property
    def state(self) -> str:
        """tracing, done or failed."""
        if not self.ended:
            return "tracing"
        return "done" if self.ended["event"] == "run.done" else "failed"

    @property
    def words(self) -> str:
        """How far it is, in a line."""
        recorded = f" · recorded {self.made}" if self.recorded else ""
        if self.state == "tracing":
            return f"tracing {', '.join(role['role'] for role in self.roles)}".rstrip() + recorded
        if self.state == "failed":
            return f"{self.ended.get('message') or self.ended['reason']}{recorded}"
        verdict = "all as predicted" if self.ended["ok"] else "not all as predicted"
        return f"{self.ended['checks']} rows, {verdict}, in {seconds_text(self.ended['wall_s'])}{recorded}"

    @property
    def knobs(self) -> str:
        """What was asked for beside the model, in a line."""
        params = self.accepted.get("params") or {}
        return knobs_text({name: value for name, value in params.items() if name != "model"})

    @property
    def held_of(self) -> str:
        """What part of the model the traced ranks hold a share of."""
        if not self.layers:
            return "of the whole model"
        return f"of a model with {self.layers} layer{'s' if self.layers != 1 else ''} a stage"

    @property
    def ranks(self) -> int:
        return int(self.accepted.get("ranks") or 0)

    @cached_property
    def roles(self) -> list[Mapping[str, Any]]:
        """Ranks that were traced, in the order of their stages, with how many ranks each stands for."""
        found = {event["role"]: event for event in self.of("rank.ready")}
        return sorted(found.values(), key=lambda event: event["stage"])

    @cached_property
    def rows(self) -> list[TraceRow]:
        return self._rows([event for event in self.of("check") if event.get("role")])

    @cached_property
    def whole(self) -> list[Event]:
        """Rows about the whole model rather than one role."""
        return [
            {
                **event,
                "name": str(event["name"]).removeprefix(WHOLE),
                "predicted_text": value_text(event["predicted"], event["unit"]),
                "measured_text": value_text(event["measured"], event["unit"]),
            }
            for event in self.of("check")
            if not event.get("role")
        ]

    def _rows(self, checks: Sequence[Event]) -> list[TraceRow]:
        names = list(dict.fromkeys(str(check["name"]) for check in checks))
        found = {(str(check["name"]), check["role"]): check for check in checks}
        rows: list[TraceRow] = []
        for name in names:
            cells = tuple(_cell(found.get((name, role["role"]))) for role in self.roles)
            why = "; ".join(
                dict.fromkeys(reason for cell in cells if cell for reason in cell.why.split("; ") if reason)
            )
            said = any(row.why == why for row in rows[-1:])  # bytes differ for the reason that calls do
            rows.append(TraceRow(name, cells, "" if said else why))
        return rows

    @cached_property
    def held(self) -> LinkedFigure | None:
        states = {event["role"]: event for event in self.of("state")}
        ranks = [
            RankState(role["role"], tuple(float(states[role["role"]][part]) for part in PARTS))
            for role in self.roles
            if role["role"] in states
        ]
        return held_bars(ranks, [], narrow=self.narrow) if ranks else None

    @property
    def command(self) -> str:
        """How to make it again, where it was recorded."""
        return str(self.accepted.get("command") or "")

    @property
    def made(self) -> str:
        """When and with what it was recorded."""
        versions = self.accepted.get("versions") or {}
        return f"{self.accepted.get('date', '')}, torch {versions.get('torch', '')}" if self.command else ""


def _cell(check: Event | None) -> TraceCell | None:
    if check is None:
        return None
    unit, engine = str(check["unit"]), check.get("engine")
    return TraceCell(
        value_text(check["predicted"], unit),
        value_text(check["measured"], unit),
        value_text(engine, unit) if engine is not None else "",
        bool(check["ok"]),
        str(check.get("why") or ""),
    )
