"""The planner: sliders in, memory, timeline, time and money out. Its whole state is the URL's query."""

from collections.abc import Mapping

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from starlette.datastructures import QueryParams

from app.plan.board import Board
from app.plan.charts import KNOBS, knob_panel, memory_panel
from app.plan.form import BESIDE, GROUPS, document_of, query_of
from app.plan.frame import Frame, board_part, notes_part
from app.plan.pins import PARTS, RESULTS, Pins
from app.plan.presets import PLANS, RUNS, preset_queries
from app.plan.taken import document_text, numbers_text
from app.plan.terms import LOST_TO_KERNELS, is_held, term_at
from app.web.query import ignored
from app.web.render import page, part
from engine.accounts.kernel_list import kernel_list
from engine.accounts.published import judgements
from engine.estimate import Estimate, estimate
from engine.language.choice import one_of
from engine.language.refusal import Refusal
from engine.scenario import scenario_from

CHARTS = ("memory", "knob")
router = APIRouter(prefix="/plan", default_response_class=HTMLResponse, include_in_schema=False)


class Plan(Frame[Board]):
    """The planner."""

    path, noun, lacks = "/plan", "plan", "the planner has no such field"
    figures, starts, runs = "plan/_figures.html", PLANS, RUNS
    groups = tuple((title, tuple(field.input for field in fields)) for title, fields in GROUPS)
    passing = BESIDE

    @classmethod
    def board_of(cls, state: Mapping[str, str], narrow: bool) -> Board:
        return Board(_estimate(state), state, narrow)

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


@router.get("/published")
def published(request: Request) -> HTMLResponse:
    """Every published run of the catalogue, beside its prediction."""
    plan = Plan.plan_in(request)
    return page(request, "plan/published.html", rows=judgements(), queries=preset_queries(RUNS), plan=plan)


@router.get("/pins")
def pins(request: Request) -> HTMLResponse:
    """Pinned plans side by side."""
    given = request.query_params.multi_items()
    request.state.ignored = ignored(given, {}, beside=PARTS)
    return page(request, "plan/pins.html", view=Pins.of(given), results=RESULTS)


@router.get("/document.json")
def document(request: Request) -> Response:
    """The plan as POST /api/estimate takes it."""
    state = Plan.known(request)
    _estimate(state)  # or the sentence that says why there is none
    return _kept(document_text(state), "plan.json", "application/json")


@router.get("/numbers.csv")
def numbers(request: Request) -> Response:
    """Every number of the answer, with its unit and source."""
    return _kept(numbers_text(_estimate(Plan.known(request))), "plan.csv", "text/csv; charset=utf-8")


def _kept(text: str, name: str, kind: str) -> Response:
    return Response(text, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


@router.get("/advice")
def advice(request: Request) -> HTMLResponse:
    """The notes of a plan with their changes tried: they take the place of those that were painted with the board."""
    state = Plan.known(request)
    board, plan = Board(_estimate(state), state, False), query_of(state)
    return notes_part(request, board.tried_notes, plan, f"/plan?{plan}")


@router.post("/pasted")
async def pasted(request: Request) -> HTMLResponse:
    """The board for a form with a pasted file, which is reduced before it enters an address."""
    return board_part(request, Plan.of(request, QueryParams(await request.body())))


@router.get("/working/{number}")
def working(request: Request, number: str) -> HTMLResponse:
    """How one number is computed: symbols, this case's values, source, and the usual mistakes."""
    state = Plan.known(request)
    found = _estimate(state)
    term = term_at(found, number)
    kernels = kernel_list(found) if number == LOST_TO_KERNELS else ()
    template = "plan/_working.html" if "HX-Request" in request.headers else "plan/working.html"
    return page(request, template, term=term, query=query_of(state), kernels=kernels, held=is_held(number))


@router.get("/chart/{chart}")
def chart(request: Request, chart: str, knob: str = "pp") -> Response:
    """A chart to explore; a state without meaning leaves the one that is there."""
    one_of("chart", chart, CHARTS)
    try:
        state = Plan.known(request)
        found = _estimate(state)
    except Refusal:
        return Response(status_code=204)
    panel = memory_panel(found) if chart == "memory" else knob_panel(state, knob, found.capacity_bytes)
    return part(request, "plan/_chart.html", panel=panel)


def _estimate(state: Mapping[str, str]) -> Estimate:
    return estimate(scenario_from(document_of(state)))
