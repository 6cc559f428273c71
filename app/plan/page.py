"""The planner: sliders in, memory, timeline, time and money out. Its whole state is the URL's query."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from app.board.svg import Figure
from app.plan.charts import KNOBS, knob_panel, memory_panel
from app.plan.figures import memory_figure, pipeline_figure, time_figure
from app.plan.form import BESIDE, FIELDS, GROUPS, document_of, query_of
from app.plan.frame import Frame, board_part
from app.plan.presets import PLANS
from app.plan.remarks import pipeline_remark, remarks
from app.plan.terms import shown_terms, term_at
from app.web.render import page, part
from engine.estimate import Estimate, estimate
from engine.findings import Finding, findings_of
from engine.language.formula import Value
from engine.language.refusal import Refusal
from engine.lens.napkin import Comparison, comparisons
from engine.scenario import scenario_from

router = APIRouter(prefix="/plan", default_response_class=HTMLResponse, include_in_schema=False)
NOTES_SHOWN = 3


@dataclass(frozen=True)
class Note:
    """A finding as a sticky note; `href` leads to the plan with its advice taken."""

    finding: Finding
    href: str | None


@dataclass(frozen=True)
class Board:
    """The right-hand part of the planner, for a scenario that has a meaning."""

    estimate: Estimate
    query: str
    terms: Mapping[str, Value]
    memory: Figure
    pipeline: Figure
    pipeline_remark: str
    time: Figure
    binary: bool
    notes: tuple[Note, ...]
    more_notes: tuple[Note, ...]
    comparisons: tuple[Comparison, ...]
    remarks: Mapping[str, str]

    @property
    def fullest_words(self) -> str:
        fullest = self.estimate.fullest.stage
        return f"stage {fullest} is the fullest" if len(self.estimate.stages) > 1 else "each GPU"


class Plan(Frame[Board]):
    """The planner."""

    path, noun, figures, starts = "/plan", "plan", "plan/_figures.html", PLANS
    groups = tuple((title, tuple(field.input for field in fields)) for title, fields in GROUPS)
    passing = BESIDE

    @classmethod
    def board_of(cls, state: Mapping[str, str], narrow: bool) -> Board:
        return board_of(_estimate(state), state, narrow)

    @property
    def knobs_options(self) -> list[tuple[str, str]]:
        return [(knob.name, knob.label) for knob in KNOBS]


@router.get("")
def plan(request: Request) -> HTMLResponse:
    """The whole planner."""
    return page(request, "plan/page.html", view=Plan.of(request))


@router.get("/board")
def board(request: Request) -> HTMLResponse:
    """The figures and answers alone."""
    return board_part(request, Plan.of(request))


@router.get("/working/{path}")
def working(request: Request, path: str) -> HTMLResponse:
    """How one number is computed: symbols, this case's values, source, and the usual mistakes."""
    state = Plan.known(request)
    term = term_at(_estimate(state), path)
    template = "plan/_working.html" if "HX-Request" in request.headers else "plan/working.html"
    return page(request, template, term=term, query=query_of(state))


@router.get("/chart/{name}")
def chart(request: Request, name: Literal["memory", "knob"], knob: str = "pp") -> Response:
    """A chart to explore; a state without meaning leaves the one that is there."""
    try:
        state = Plan.known(request)
        found = _estimate(state)
    except Refusal:
        return Response(status_code=204)
    panel = memory_panel(found) if name == "memory" else knob_panel(state, knob, found.capacity_bytes)
    return part(request, "plan/_chart.html", panel=panel)


def _estimate(state: Mapping[str, str]) -> Estimate:
    return estimate(scenario_from(document_of(state)))


def board_of(found: Estimate, state: Mapping[str, str], narrow: bool) -> Board:
    """The board of an estimate."""
    query, binary = query_of(state), state["units"] != "GB"
    notes = [Note(finding, _taken(finding, state)) for finding in findings_of(found)]
    return Board(
        estimate=found,
        query=query,
        terms=shown_terms(found),
        memory=memory_figure(found, query, narrow=narrow, binary=binary),
        pipeline_remark=pipeline_remark(found),
        pipeline=pipeline_figure(found, narrow=narrow, quoted=False),
        time=time_figure(found, query, narrow=narrow),
        binary=binary,
        notes=tuple(notes[:NOTES_SHOWN]),
        more_notes=tuple(notes[NOTES_SHOWN:]),
        comparisons=comparisons(found),
        remarks=remarks(found),
    )


def _taken(finding: Finding, state: Mapping[str, str]) -> str | None:
    """The plan with a finding's advice taken, where its form can express it."""
    if not finding.change or not set(finding.change) <= set(FIELDS):
        return None
    changed = {**state, **{name: str(value).lower() for name, value in finding.change.items()}}
    return f"/plan?{query_of(changed)}"
