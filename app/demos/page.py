"""Demos: choose one, set its knobs, predict, run it for real, and watch what was measured lie over what was predicted."""

from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sse_starlette import EventSourceResponse

from app.board.figures.rank_lanes import axis_of
from app.demos.board import RunBoard
from app.demos.past import past_runs
from app.demos.served import kept, lines, refused, run_events, runner_of, unkept, unwritten
from app.demos.view import GUESS, DemoPage, RunPage, demo_page, is_live, run_page
from app.live.events import TOO_LARGE
from app.live.served import find, stream
from app.runner.catalog import DEMOS, checked, demo_named
from app.runner.event_kinds import RUN_EVENTS
from app.web.query import labels_of, own_query
from app.web.render import page, part
from app.web.visitors import form_of, known_visitor, narrow, owned, remember, visitor_of
from engine.language.domain import number_in
from engine.language.refusal import Refusal

router = APIRouter(prefix="/demos", default_response_class=HTMLResponse, include_in_schema=False)
GROUPS = (("strategies", "Cut the training"), ("faults", "Break it"))


@router.get("")
def demos(request: Request) -> HTMLResponse:
    """All demos."""
    listed = [
        (
            title,
            [(demo, sorted({axis_of(axis) for axis in demo.axes})) for demo in DEMOS.values() if demo.group == group],
        )
        for group, title in GROUPS
    ]
    past = past_runs(kept(), known_visitor(request), unwritten(request))
    return page(request, "demos/index.html", groups=listed, live=is_live(), past=past)


@router.get("/runs/{run_id}")
def run(request: Request, run_id: str) -> HTMLResponse:
    """One run, live or kept."""
    return page(request, "demos/run.html", view=_seen(request, run_id))


@router.get("/runs/{run_id}/board")
def board(request: Request, run_id: str) -> HTMLResponse:
    """Its figures and verdict alone, at this moment or at `t` seconds of it."""
    return part(request, "demos/_moment.html", view=_seen(request, run_id))


@router.get("/runs/{run_id}/events")
async def events(request: Request, run_id: str) -> EventSourceResponse:
    """The events of a run or a trace as they come; a browser that comes back goes on after the last it has seen."""
    found = find(request.app, run_id)
    if found is None:
        lines(request, run_id)  # or it is not here any more
    return stream(request, found)


@router.get("/runs/{run_id}/events.jsonl")
def kept_events(request: Request, run_id: str) -> Response:
    """Everything it said, as JSON lines."""
    headers = {"Content-Disposition": f'attachment; filename="shardboard-{run_id[:24]}.jsonl"'}
    return Response(lines(request, run_id), media_type="application/x-ndjson", headers=headers)


@router.post("/runs/{run_id}/cancel")
async def cancel(request: Request, run_id: str) -> Response:
    """Stop it. Pressed twice it is stopped once."""
    runner = runner_of(request)
    if found := runner.things.get(run_id):
        owned(request, found.client)
    await runner.cancel(run_id)
    return RedirectResponse(f"/demos/runs/{run_id}" if run_events(request, run_id) else "/demos", 303)


@router.post("/open")
async def opened(request: Request) -> HTMLResponse:
    """The events of a run from elsewhere, as a board. They are drawn and forgotten."""
    form = await form_of(request)
    try:
        board = RunBoard(RUN_EVENTS.read_lines(form.get("events", "").encode()), narrow(request))
        return page(request, "demos/opened.html", run=board, refusal="")
    except Refusal as refusal:
        status = 413 if refusal.code == TOO_LARGE else 422
        return page(request, "demos/opened.html", status=status, run=None, refusal=refusal.sentence)


@router.get("/open")
@router.get("/{demo}/runs")
@router.get("/runs/{run_id}/cancel")
def led_on(demo: str = "", run_id: str = "") -> Response:
    """An address that only a form sends to, opened by hand: to the page that has the form."""
    return RedirectResponse(f"/demos/runs/{run_id}" if run_id else f"/demos/{demo}".rstrip("/"), 303)


@router.get("/{demo}")
def demo(request: Request, demo: str) -> HTMLResponse:
    """One demo, ready to run."""
    return page(request, "demos/demo.html", view=_asked(request, demo), running="")


@router.get("/{demo}/prediction")
def prediction(request: Request, demo: str) -> HTMLResponse:
    """What is predicted for these knobs, alone."""
    return part(request, "demos/_prediction.html", view=_asked(request, demo))


@router.post("/{demo}/runs")
async def start(request: Request, demo: str) -> Response:
    """Run it. A refusal stands on the demo's page, with the way to what it waits for."""
    found, form = demo_named(demo), await form_of(request)
    guess = form.pop(GUESS, "").strip()[:40]
    try:
        if not is_live():
            checked(found, {})  # a recording shows what was recorded, whatever the knobs say
        made = runner_of(request).submit(found, form if is_live() else {}, client=visitor_of(request))
    except Refusal as refusal:
        mine, view = runner_of(request).of_client(visitor_of(request)), demo_page(found, form, refusal)
        return refused(request, "demos/demo.html", refusal, mine, "/demos/runs", view=view)
    answer = RedirectResponse(f"/demos/runs/{made.id}" + (f"?{urlencode({GUESS: guess})}" if guess else ""), 303)
    return remember(request, answer)


def _asked(request: Request, demo: str) -> DemoPage:
    found = demo_named(demo)
    lacks = f"{found.name} has no such knob"
    return demo_page(found, own_query(request, labels_of(found.knobs), lacks, (GUESS,)))


def _moment(text: str) -> float | None:
    value = number_in(text)
    return value if value is not None and 0 <= value < 3600 else None


def _seen(request: Request, run_id: str) -> RunPage:
    query = own_query(request, {"t": "moment of the run", GUESS: "what was guessed"})
    found = run_events(request, run_id)
    guess, at_s = query.get(GUESS, "")[:40], _moment(query.get("t", ""))
    return run_page(run_id, found, at_s, guess, narrow(request), unkept(request, run_id))
