"""The plan against the wires: who stands where, which links that loads, what breaks it. Its state is the URL's query."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from app.plan.form import FIELDS
from app.plan.frame import Frame, board_part, notes_part
from app.plan.presets import FLOORS
from app.topology.board import TopologyBoard
from app.topology.brought import WHATS, brought_along
from app.topology.case import COLOUR, LOOK, LOST, VIEW, YOU, TopologyCase, case_of
from app.topology.layouts import LayoutTable, layout_table
from app.topology.tries import Try, tries_of
from app.web.render import page, part
from engine.export import TARGETS, Export, export
from engine.language.choice import choose
from engine.language.refusal import Refusal

router = APIRouter(prefix="/topology", default_response_class=HTMLResponse, include_in_schema=False)
SHOWN = (
    ("machine", ("cluster", "gpus", "nic", "spine")),
    ("ranks", ("rank_order", "tp", "cp", "ep", "pp")),
    ("plan", ("model", "batch", "micro_batch", "schedule", "vp", "zero", "hsdp_shard")),
)
MOST_SHOWN = 20_000  # characters of a refused text that are given back to mend


class Topology(Frame[TopologyBoard]):
    """The plan on its floor."""

    path, noun, lacks = "/topology", "floor", "the floor has no such field"
    figures, starts, own = "topology/_figures.html", FLOORS, LOOK
    groups = (
        *((title, tuple(FIELDS[name].input for name in names)) for title, names in SHOWN),
        ("look", (COLOUR, YOU, LOST)),
    )

    @classmethod
    def board_of(cls, state: Mapping[str, str], narrow: bool) -> TopologyBoard:
        return TopologyBoard(_case(state), narrow)

    @property
    def tries(self) -> tuple[Try, ...]:
        return tries_of(self.board.case) if self.board else ()

    @property
    def exports(self) -> list[Export]:
        return exports_of(self.board.case) if self.board else []

    @property
    def sources(self) -> tuple[str, ...]:
        return WHATS

    @property
    def layouts(self) -> LayoutTable:
        return layout_table(self.plan)


@router.get("")
def topology(request: Request) -> HTMLResponse:
    """The whole page."""
    return page(request, "topology/page.html", view=Topology.of(request))


@router.get("/board")
def board(request: Request) -> HTMLResponse:
    """The floor and its ledger alone."""
    return board_part(request, Topology.of(request))


@router.get("/advice")
def advice(request: Request) -> HTMLResponse:
    """What is said about the wires with its changes tried: it takes the place of what was painted with the board."""
    case = _case(Topology.known(request))
    return notes_part(request, TopologyBoard(case, False).tried_notes, case.query, case.with_())


@router.get("/tries")
def tries(request: Request) -> Response:
    """What to try, alone; a state without meaning leaves what is there."""
    try:
        case = _case(Topology.known(request))
    except Refusal:
        return Response(status_code=204)
    return part(request, "topology/_tries.html", tries=tries_of(case))


@router.get("/layouts")
def layouts(request: Request) -> Response:
    """The table of layouts alone; a state without meaning leaves the one that is there."""
    try:
        case = _case(Topology.known(request))
    except Refusal:
        return Response(status_code=204)
    return part(request, "topology/_layouts.html", layouts=layout_table(case.state))


@router.get("/export")
def exports(request: Request) -> Response:
    """The launch texts alone; a state without meaning leaves those that are there."""
    try:
        case = _case(Topology.known(request))
    except Refusal:
        return Response(status_code=204)
    return part(request, "topology/_export.html", exports=exports_of(case), query=case.query)


@router.get("/export/{target}/{file}")
def download(request: Request, target: str, file: str) -> Response:
    """One file of an export, to keep."""
    made = export(_case(Topology.known(request)).estimate.scenario, target)
    texts = {each.name: each.text for each in made.files}
    text = choose("file", file, texts, f"{made.title} has {{names}}")
    return PlainTextResponse(text, headers={"Content-Disposition": f'attachment; filename="{file}"'})


@router.get("/import")
def led_on() -> Response:
    """An address that only a form sends to, opened by hand: to the page that has the form."""
    return RedirectResponse("/topology", 303)


@router.post("/import")
async def imported(request: Request) -> HTMLResponse:
    """What a pasted text says, as a plan. Nothing in it is run."""
    body = (await request.body()).decode("utf-8", "replace")
    text = dict(parse_qsl(body, keep_blank_values=True)).get("text", "")
    try:
        brought, refusals = brought_along(text), ()
        plan = brought.query
    except Refusal as refusal:
        brought, refusals = None, refusal.sentences
        plan = Topology.plan_in(request)
    return page(
        request,
        "topology/imported.html",
        refusals=refusals,
        text="" if brought else text[:MOST_SHOWN],
        brought=brought,
        plan=plan,
        sources=WHATS,
    )


@router.get("/panel")
def panel(request: Request) -> HTMLResponse:
    """The floor as the planner shows it, or the sentence that says why there is none."""
    view = Topology.of(request)
    return part(request, "topology/_panel.html", floor=view.board, words=view.state_words)


@router.get("/working/{number}")
def working(request: Request, number: str) -> HTMLResponse:
    """How one number of the ledger is computed."""
    case = _case(Topology.known(request))
    terms = {name: term for row in case.rows for name, term in row.terms.items()} | {"waiting": case.waiting}
    term = choose("number", number, terms, "no number of this floor has this name")
    template = "plan/_working.html" if "HX-Request" in request.headers else "topology/working.html"
    return page(request, template, term=term, query=case.query)


def exports_of(case: TopologyCase) -> list[Export]:
    """The plan for every framework there is."""
    return [export(case.estimate.scenario, target) for target in TARGETS]


def _case(state: Mapping[str, str]) -> TopologyCase:
    return case_of({name: state[name] for name in FIELDS}, {name: state[name] for name in VIEW})
