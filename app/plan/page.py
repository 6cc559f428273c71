"""The planner: sliders in, memory, timeline, time and money out. Its whole state is the URL's query."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup

from app.board.svg import Figure
from app.plan.charts import KNOBS, knob_panel, memory_panel
from app.plan.figures import memory_figure, pipeline_figure, time_figure
from app.plan.form import FIELDS, GROUPS, PRESETS, document_of, field_of, misnamed, nics, query_of, state_of
from app.plan.remarks import pipeline_remark, remarks
from app.plan.terms import shown_terms, term_at
from app.web.json_text import script_json
from app.web.render import page, part
from engine.estimate import Estimate, estimate
from engine.findings import Finding, findings_of
from engine.language.document import together
from engine.language.formula import Value
from engine.language.refusal import Refusal
from engine.lens.napkin import Comparison, comparisons
from engine.scenario import scenario_from

router = APIRouter(prefix="/plan", default_response_class=HTMLResponse, include_in_schema=False)
NOTES_SHOWN = 3
MOST_TOLD = 2  # refusals in the line above the board; all stand beside their fields
NOTE_KINDS = {"error": "salmon", "warning": "salmon", "advice": "yellow", "good": "green"}


@dataclass(frozen=True)
class Note:
    """A finding as a sticky note; `href` leads to the plan with its advice taken."""

    finding: Finding
    kind: str
    href: str | None


@dataclass(frozen=True)
class Says:
    """What stands under a control: why its value is refused, or a remark on it."""

    refusal: str = ""
    remark: str = ""


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

    @property
    def fullest_words(self) -> str:
        fullest = self.estimate.fullest.stage
        return f"stage {fullest} is the fullest" if len(self.estimate.stages) > 1 else "each GPU"


@dataclass(frozen=True)
class Plan:
    """Everything the planner shows. `board` is missing where the state has no meaning; `says` then tells why."""

    state: Mapping[str, str]
    says: Mapping[str, Says]
    board: Board | None

    @property
    def groups(self) -> Any:
        return GROUPS

    @property
    def knobs_options(self) -> list[tuple[str, str]]:
        return [(knob.name, knob.label) for knob in KNOBS]

    @property
    def nics(self) -> dict[str, float]:
        """Each cluster's own network, for the form to follow a change of the cluster.   [Gb/s]"""
        return nics()

    @property
    def presets(self) -> Mapping[str, str]:
        return {name: query_of(state_of(state)) for name, state in PRESETS.items()}

    @property
    def query(self) -> str:
        return query_of(self.state)

    @property
    def state_words(self) -> str:
        """What stands above a board that does not show this state."""
        if self.board:
            return ""
        nowhere = [words.refusal for name, words in self.says.items() if name not in FIELDS]
        marked = [f"{FIELDS[name].label}: {words.refusal}" for name, words in self.says.items() if name in FIELDS]
        return " ".join(nowhere) or f"This plan has no meaning yet. {'; '.join(marked[:MOST_TOLD])}."

    @property
    def says_json(self) -> Markup:
        """What is said beside each control, for a script element."""
        said = {name: {"refusal": words.refusal, "remark": words.remark} for name, words in self.says.items()}
        return script_json({"state": self.state_words, "fields": said})


@router.get("")
def plan(request: Request) -> HTMLResponse:
    """The whole planner."""
    return page(request, "plan/page.html", view=plan_of(request))


@router.get("/board")
def board(request: Request) -> HTMLResponse:
    """The figures and answers alone, and what is said beside each control. What has no meaning leaves the board as it is."""
    view = plan_of(request)
    answer = part(request, "plan/_board.html" if view.board else "plan/_says.html", view=view)
    if view.board is None:
        answer.headers.update({"HX-Retarget": "#plan-says", "HX-Reswap": "outerHTML"})
    return answer


@router.get("/working/{path}")
def working(request: Request, path: str) -> HTMLResponse:
    """How one number is computed: symbols, this case's values, source, and the usual mistakes."""
    state = state_of(request.query_params)
    term = term_at(_estimate(request, state), path)
    template = "plan/_working.html" if "HX-Request" in request.headers else "plan/working.html"
    return page(request, template, term=term, query=query_of(state))


@router.get("/chart/{name}")
def chart(request: Request, name: Literal["memory", "knob"], knob: str = "pp") -> Response:
    """A chart to explore; a state without meaning leaves the one that is there."""
    state = state_of(request.query_params)
    try:
        found = _estimate(request, state)
    except Refusal:
        return Response(status_code=204)
    panel = memory_panel(found) if name == "memory" else knob_panel(state, knob, found.capacity_bytes)
    return part(request, "plan/_chart.html", panel=panel)


def _estimate(request: Request, state: Mapping[str, str]) -> Estimate:
    """The estimate of a state, if the query it came from says nothing that the form does not know."""
    if unknown := misnamed(request.query_params.multi_items()):
        raise together(unknown)
    return estimate(scenario_from(document_of(state)))


def plan_of(request: Request) -> Plan:
    """The planner's view model for a request: its query, and whether the browser asked for narrow figures."""
    state = state_of(request.query_params)
    try:
        found = _estimate(request, state)
    except Refusal as refusal:
        return Plan(state, refused(refusal), None)
    narrow = request.cookies.get("narrow") == "1"
    return Plan(
        state, {name: Says(remark=text) for name, text in remarks(found).items()}, board_of(found, state, narrow)
    )


def refused(refusal: Refusal) -> dict[str, Says]:
    """Each sentence under the control it is about; the first one wins where a field has two."""
    says: dict[str, Says] = {}
    for each in refusal.all:
        name = field_of(each)
        whole = each.value is None or name not in FIELDS
        says.setdefault(name, Says(refusal=each.sentence if whole else each.advice))
    return says


def board_of(found: Estimate, state: Mapping[str, str], narrow: bool) -> Board:
    """The board of an estimate."""
    query, binary = query_of(state), state["units"] != "GB"

    notes = [Note(finding, NOTE_KINDS[finding.severity], _taken(finding, state)) for finding in findings_of(found)]
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
    )


def _taken(finding: Finding, state: Mapping[str, str]) -> str | None:
    """The plan with a finding's advice taken, where its form can express it."""
    if not finding.change or not set(finding.change) <= set(FIELDS):
        return None
    changed = {**state, **{name: str(value).lower() for name, value in finding.change.items()}}
    return f"/plan?{query_of(changed)}"
