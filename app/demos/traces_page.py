"""1,024 ranks without a GPU: the real framework on fake ranks, traced from the page, and traces that were recorded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from app.demos.plan_traced import PlanTraced, plan_traced
from app.demos.served import refused, trace_events, traces_of, unkept
from app.demos.trace_board import TraceBoard
from app.demos.view import is_live
from app.runner.fake.record import recorded, recorded_names
from app.runner.fake.request import INPUTS, fake_request
from app.web.beside import Said, dealt
from app.web.query import labels_of, own_query
from app.web.render import page, part
from app.web.visitors import form_of, narrow, owned, remember, visitor_of
from engine.language.inputs import Input, texts_of
from engine.language.refusal import Refusal

router = APIRouter(prefix="/demos/fake", default_response_class=HTMLResponse, include_in_schema=False)
PLAN = "plan"  # in the address: the query of the plan that is traced, to lead back to it
PLACE = "/demos/fake/runs"


@dataclass(frozen=True)
class TracePage:
    """The form of a trace.

    plan   that is traced; None where nobody came from one
    """

    values: Mapping[str, str]
    said: Said
    ranks: int
    live: bool
    plan: PlanTraced | None = None

    @property
    def inputs(self) -> Sequence[Input]:
        return INPUTS

    @property
    def kept(self) -> Sequence[str]:
        return recorded_names()


@router.get("")
def fake(request: Request) -> HTMLResponse:
    """The form, and what is recorded."""
    given = own_query(request, labels_of(INPUTS), "a trace has no such field", (PLAN,))
    return page(request, "demos/fake.html", view=_form(given), running="")


@router.get("/recorded/{trace}")
def kept(request: Request, trace: str) -> HTMLResponse:
    """A trace of a whole model that was made before, marked as recorded."""
    return page(
        request,
        "demos/trace.html",
        trace=TraceBoard(recorded(trace), narrow(request), recorded=True),
        id="",
        over=True,
        unkept="",
        plan=_plan(request),
    )


@router.post("/runs")
async def start(request: Request) -> Response:
    """Trace it. A refusal stands on the form."""
    form = await form_of(request)
    try:
        if not is_live():
            raise Refusal("demo", None, "no processes are started here; recorded traces are shown instead", code="off")
        asked = {name: text for name, text in form.items() if name != PLAN}
        made = traces_of(request).submit(fake_request(asked), visitor_of(request))
    except Refusal as refusal:
        mine, view = traces_of(request).of_client(visitor_of(request)), _form(form, refusal)
        return refused(request, "demos/fake.html", refusal, mine, PLACE, view=view)
    return remember(request, RedirectResponse(f"{PLACE}/{made.id}{_along(form)}", 303))


@router.get("/runs/{run_id}")
def trace(request: Request, run_id: str) -> HTMLResponse:
    """One trace, live or kept."""
    board = TraceBoard(trace_events(request, run_id), narrow(request))
    view = {"trace": board, "id": run_id, "over": board.over, "unkept": unkept(request, run_id)}
    return page(request, "demos/trace.html", **view, plan=_plan(request))


@router.get("/runs/{run_id}/board")
def board(request: Request, run_id: str) -> HTMLResponse:
    """Its tables alone, at this moment."""
    made = TraceBoard(trace_events(request, run_id), narrow(request))
    return part(request, "demos/_trace.html", trace=made, unkept=unkept(request, run_id))


@router.post("/runs/{run_id}/cancel")
async def cancel(request: Request, run_id: str) -> Response:
    """Stop it. Pressed twice it is stopped once."""
    traces = traces_of(request)
    if found := traces.things.get(run_id):
        owned(request, found.client)
    await traces.cancel(run_id)
    return RedirectResponse(f"{PLACE}/{run_id}", 303)


@router.get("/runs")
@router.get("/runs/{run_id}/cancel")
def led_on(run_id: str = "") -> Response:
    """An address that only a form sends to, opened by hand: to the page that has the form."""
    return RedirectResponse(f"{PLACE}/{run_id}" if run_id else "/demos/fake", 303)


def _form(given: Mapping[str, str], refusal: Refusal | None = None) -> TracePage:
    """The form as it is asked for. A plan fills it; what is said beside the plan wins."""
    plan = plan_traced(given[PLAN]) if PLAN in given else None
    own = {**(plan.values if plan else {}), **{name: text for name, text in given.items() if name != PLAN}}
    if plan and own.get("model") == plan.values.get("model"):
        refusal = refusal or plan.refusal
    values, ranks = texts_of(INPUTS, own), 0
    try:
        ranks = 0 if refusal else fake_request(own).ranks
    except Refusal as found:
        refusal = found
    return TracePage(values, dealt(refusal, values), ranks, is_live(), plan)


def _plan(request: Request) -> str | None:
    """The query of the plan that is traced, if somebody came from one."""
    given = own_query(request, {}, beside=(PLAN,))
    return plan_traced(given[PLAN]).query if PLAN in given else None


def _along(form: Mapping[str, str]) -> str:
    return f"?{urlencode({PLAN: form[PLAN]})}" if PLAN in form else ""
