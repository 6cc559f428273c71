"""1,024 ranks without a GPU: the real framework on fake ranks, traced from the page, and traces that were recorded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from app.demos.served import refused, trace_events, traces_of, unkept
from app.demos.trace_board import TraceBoard
from app.demos.view import is_live
from app.runner.fake.record import recorded, recorded_names
from app.runner.fake.request import DP, INPUTS, LAYERS, MICRO_BATCHES, MODEL, PP, TP, fake_request
from app.web.beside import Said, dealt
from app.web.render import page, part
from app.web.visitors import form_of, narrow, once, owned, remember, visitor_of
from engine.language.inputs import Input, texts_of
from engine.language.refusal import Refusal

router = APIRouter(prefix="/demos/fake", default_response_class=HTMLResponse, include_in_schema=False)
PLACE = "/demos/fake/runs"
SHOWN = (MODEL, TP, PP, DP, LAYERS, MICRO_BATCHES)


@dataclass(frozen=True)
class TracePage:
    """The form of a trace and, once there is one, its board."""

    values: Mapping[str, str]
    said: Said
    ranks: int
    live: bool

    @property
    def inputs(self) -> Sequence[Input]:
        return SHOWN

    @property
    def kept(self) -> Sequence[str]:
        return recorded_names()


@router.get("")
def fake(request: Request) -> HTMLResponse:
    """The form, and what is recorded."""
    return page(request, "demos/fake.html", view=_form(once(request.query_params.multi_items())), running="")


@router.get("/recorded/{name}")
def kept(request: Request, name: str) -> HTMLResponse:
    """A trace of a whole model that was made before, marked as recorded."""
    if name not in recorded_names():
        raise HTTPException(404, f"There are {', '.join(recorded_names())}.")
    return page(
        request,
        "demos/trace.html",
        trace=TraceBoard(recorded(name), narrow(request), recorded=True),
        id="",
        over=True,
        unkept="",
    )


@router.post("/runs")
async def start(request: Request) -> Response:
    """Trace it. A refusal stands on the form."""
    form = await form_of(request)
    try:
        if not is_live():
            raise Refusal("demo", None, "no processes are started here; recorded traces are shown instead", code="off")
        made = traces_of(request).submit(fake_request(form), visitor_of(request))
    except Refusal as refusal:
        mine, view = traces_of(request).of_client(visitor_of(request)), _form(form, refusal)
        return refused(request, "demos/fake.html", refusal, mine, PLACE, view=view)
    return remember(request, RedirectResponse(f"{PLACE}/{made.id}", 303))


@router.get("/runs/{run_id}")
def trace(request: Request, run_id: str) -> HTMLResponse:
    """One trace, live or kept."""
    board = TraceBoard(trace_events(request, run_id), narrow(request))
    return page(request, "demos/trace.html", trace=board, id=run_id, over=board.over, unkept=unkept(request, run_id))


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
    values = texts_of(INPUTS, given)
    ranks = 0
    try:
        ranks = fake_request(given).ranks
    except Refusal as found:
        refusal = refusal or found
    return TracePage(values, dealt(refusal, values), ranks, is_live())
