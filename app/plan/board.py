"""What the planner shows of an estimate: each figure and word is made when the page asks for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from app.board.svg import Figure
from app.plan.figures import memory_figure, pipeline_figure, time_figure
from app.plan.floor_room import beyond_the_floor
from app.plan.form import query_of
from app.plan.notes import Notes, changes_of, tried, untried
from app.plan.presets import run_at
from app.plan.remarks import pipeline_remark, remarks
from app.plan.taken import command_text
from app.plan.terms import shown_terms
from engine.accounts.published import Judged, judge
from engine.advice import advised
from engine.catalog.precision import PRECISIONS
from engine.catalog.scenarios import presets
from engine.estimate import Estimate
from engine.findings import findings_of
from engine.language.formula import Value
from engine.language.units import quantity_text
from engine.lens.napkin import Comparison, comparisons

NOTES_SHOWN = 3


@dataclass(frozen=True)
class Board:
    """The right-hand part of the planner, for a scenario that has a meaning.

    state   of the form
    """

    estimate: Estimate
    state: Mapping[str, str]
    narrow: bool

    @property
    def query(self) -> str:
        return query_of(self.state)

    @property
    def command(self) -> str:
        """The command line that answers the same."""
        return command_text(self.state)

    @property
    def binary(self) -> bool:
        """Whether bytes are shown in GiB."""
        return self.state["units"] != "GB"

    @cached_property
    def terms(self) -> Mapping[str, Value]:
        return shown_terms(self.estimate)

    @property
    def memory(self) -> Figure:
        return memory_figure(self.estimate, self.query, narrow=self.narrow, binary=self.binary)

    @property
    def pipeline(self) -> Figure:
        return pipeline_figure(self.estimate, narrow=self.narrow, quoted=False)

    @property
    def time(self) -> Figure:
        return time_figure(self.estimate, self.query, narrow=self.narrow)

    @property
    def pipeline_remark(self) -> str:
        return pipeline_remark(self.estimate)

    @property
    def notes(self) -> Notes:
        """What is found, before anything is tried."""
        return untried(findings_of(self.estimate), NOTES_SHOWN, f"/plan/advice?{self.query}".rstrip("?"))

    @property
    def tried_notes(self) -> Notes:
        """The same once the changes were tried, which takes as long as ten boards."""
        return tried(advised(self.estimate), NOTES_SHOWN, self.address)

    def address(self, change: Mapping[str, Any]) -> str:
        """The address of the plan with a change made."""
        return f"/plan?{query_of({**self.state, **changes_of(change)})}".rstrip("?")

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        return comparisons(self.estimate)

    @property
    def remarks(self) -> Mapping[str, str]:
        said = remarks(self.estimate, stack_chosen=bool(self.state["stack"]))
        beyond = beyond_the_floor(self.state, self.estimate.scenario)
        return said if beyond is None else {**said, "gpus": f"{said['gpus']}; {beyond.advice}"}

    @property
    def peak_words(self) -> str:
        """What the MFU is a share of: eight-bit products have twice the peak, and nobody can tell from the share alone."""
        scenario = self.estimate.scenario
        peak = quantity_text(scenario.cluster.gpu.peak(scenario.precision), "FLOP/s")
        return f"{peak} ({PRECISIONS[scenario.precision].title})"

    @cached_property
    def published(self) -> Judged | None:
        """What was measured, where this plan is a published run."""
        name = run_at(self.query)
        return judge(presets()[name], self.estimate) if name else None

    @property
    def fullest_words(self) -> str:
        fullest = self.estimate.fullest.stage
        return f"stage {fullest} is the fullest" if len(self.estimate.stages) > 1 else "each GPU"
