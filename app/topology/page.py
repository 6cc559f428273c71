"""The plan against the wires: who stands where, which links that loads, what breaks it. Its state is the URL's query."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from markupsafe import Markup

from app.plan.form import FIELDS, field_of, misnamed, nics, query_of, state_of
from app.topology.board import TopologyBoard
from app.topology.case import VIEW, TopologyCase, address, case_of
from app.topology.imported import state_of_document
from app.topology.layouts import LayoutRow, layout_rows
from app.topology.tries import Try, tries_of
from app.web.json_text import script_json
from app.web.render import page, part
from engine.export import TARGETS, Export, export, read
from engine.language.choice import choose
from engine.language.document import together
from engine.language.refusal import Refusal
from engine.layout.layout import AXES
from engine.layout.simplicity import layout_name
from engine.scenario import scenario_from

router = APIRouter(prefix="/topology", default_response_class=HTMLResponse, include_in_schema=False)
SHOWN = (
    ("machine", ("cluster", "gpus", "nic", "spine")),
    ("ranks", ("rank_order", "tp", "cp", "ep", "pp")),
    ("plan", ("model", "batch", "micro_batch", "schedule", "vp", "zero", "hsdp_shard")),
)
LOOKS = {"you": "you are rank", "lost": "node that is gone", "colour": "colour by"}
MOST_TOLD = 2
MOST_SHOWN = 20_000  # characters of a refused text that are given back to mend
PRESETS: dict[str, dict[str, str]] = {
    "70B on 1,024": {},
    "405B on 16k": {"model": "llama-3-405b", "gpus": "16384", "pp": "16", "cp": "2", "batch": "2048", "schedule": "interleaved",
                    "vp": "8", "gradient_bytes": "2"},
    "131,072 GPUs": {"model": "llama-3-405b", "gpus": "131072", "pp": "16", "cp": "2", "batch": "8192", "schedule": "interleaved",
                     "vp": "8", "gradient_bytes": "2"},
    "NVL72 racks": {"cluster": "gb200-nvl72", "gpus": "1152", "batch": "576"},
    "plain Ethernet": {"cluster": "hgx-h100-roce"},
}  # fmt: skip


@dataclass(frozen=True)
class Topology:
    """The page. `board` is missing where the state has no meaning; `says` then tells why."""

    state: Mapping[str, str]
    view: Mapping[str, str]
    says: Mapping[str, str]
    board: TopologyBoard | None

    @property
    def groups(self) -> Any:
        return [(title, [FIELDS[name] for name in names]) for title, names in SHOWN]

    @property
    def hidden(self) -> dict[str, str]:
        """Fields of the plan that this page does not show, with their values: they travel along."""
        shown = {name for _, names in SHOWN for name in names}
        usual = state_of({})
        return {name: text for name, text in self.state.items() if name not in shown and text != usual[name]}

    @property
    def looks(self) -> Mapping[str, str]:
        return LOOKS

    @property
    def colours(self) -> tuple[tuple[str, str], ...]:
        return (("", "none"), *((axis, axis.upper()) for axis in AXES))

    @property
    def nics(self) -> dict[str, float]:
        """Each cluster's own network, for the form to follow a change of the cluster.   [Gb/s]"""
        return nics()

    @property
    def presets(self) -> Mapping[str, str]:
        return {name: address(state_of(state), VIEW) for name, state in PRESETS.items()}

    @property
    def tries(self) -> tuple[Try, ...]:
        return tries_of(self.board.case) if self.board else ()

    @property
    def exports(self) -> list[Export]:
        return exports_of(self.board.case) if self.board else []

    @property
    def layouts(self) -> list[LayoutRow]:
        return list(layout_rows(self.state))

    @property
    def address(self) -> str:
        return address(self.state, self.view)

    @property
    def plan_query(self) -> str:
        return query_of(self.state)

    @property
    def state_words(self) -> str:
        """What stands above a floor that does not show this state."""
        if self.board:
            return ""
        labels = {name: field.label for name, field in FIELDS.items()} | LOOKS
        told = [f"{labels[name]}: {words}" if name in labels else words for name, words in self.says.items()]
        return f"This floor has no meaning yet. {'; '.join(told[:MOST_TOLD])}."

    @property
    def says_json(self) -> Markup:
        said = {name: {"refusal": words, "remark": ""} for name, words in self.says.items()}
        return script_json({"state": self.state_words, "fields": said})


@router.get("")
def topology(request: Request) -> HTMLResponse:
    """The whole page."""
    return page(request, "topology/page.html", view=topology_of(request))


@router.get("/board")
def board(request: Request) -> HTMLResponse:
    """The floor and its ledger alone. What has no meaning leaves the floor as it is."""
    view = topology_of(request)
    answer = part(request, "topology/_board.html" if view.board else "topology/_says.html", view=view)
    if view.board is None:
        answer.headers.update({"HX-Retarget": "#plan-says", "HX-Reswap": "outerHTML"})
    return answer


@router.get("/tries")
def tries(request: Request) -> Response:
    """What to try, alone; a state without meaning leaves what is there."""
    try:
        case = _case(request)
    except Refusal:
        return Response(status_code=204)
    return part(request, "topology/_tries.html", tries=tries_of(case))


@router.get("/layouts")
def layouts(request: Request) -> Response:
    """The table of layouts alone; a state without meaning leaves the one that is there."""
    try:
        case = _case(request)
    except Refusal:
        return Response(status_code=204)
    return part(request, "topology/_layouts.html", layouts=list(layout_rows(case.state)))


@router.get("/export")
def exports(request: Request) -> Response:
    """The launch texts alone; a state without meaning leaves those that are there."""
    try:
        case = _case(request)
    except Refusal:
        return Response(status_code=204)
    return part(request, "topology/_export.html", exports=exports_of(case), query=case.query)


@router.get("/export/{target}/{name}")
def download(request: Request, target: str, name: str) -> Response:
    """One file of an export, to keep."""
    made = export(_case(request).estimate.scenario, target)
    files = {file.name: file for file in made.files}
    file = choose("file", name, files, f"{made.title} has {{names}}")
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return PlainTextResponse(file.text, headers=disposition)


@router.post("/import")
async def imported(request: Request) -> HTMLResponse:
    """What a pasted launch text says, as a plan. Nothing in it is run."""
    body = (await request.body()).decode("utf-8", "replace")
    text = dict(parse_qsl(body, keep_blank_values=True)).get("text", "")
    try:
        found = read(text)
        state, unsaid = state_of_document(found.document)
    except Refusal as refusal:
        return page(
            request, "topology/imported.html", refusals=[each.sentence for each in refusal.all], text=text[:MOST_SHOWN]
        )
    return page(
        request,
        "topology/imported.html",
        refusals=[],
        text="",
        title=TARGETS[found.target].title,
        notes=[*unsaid, *found.notes],
        href=address(state, VIEW),
        plan=f"/plan?{query_of(state)}",
        name=layout_name(scenario_from(found.document).layout),
    )


@router.get("/panel")
def panel(request: Request) -> HTMLResponse:
    """The floor as the planner shows it, or the sentence that says why there is none."""
    view = topology_of(request)
    return part(request, "topology/_panel.html", floor=view.board, words=view.state_words)


@router.get("/working/{path}")
def working(request: Request, path: str) -> HTMLResponse:
    """How one number of the ledger is computed."""
    case = _case(request)
    terms = {name: term for row in case.rows for name, term in row.terms.items()} | {"waiting": case.waiting}
    term = choose("number", path, terms, "no number of this floor has this name")
    template = "plan/_working.html" if "HX-Request" in request.headers else "topology/working.html"
    return page(request, template, term=term, query=case.query)


def exports_of(case: TopologyCase) -> list[Export]:
    """The plan for every framework there is."""
    return [export(case.estimate.scenario, target) for target in TARGETS]


def _case(request: Request) -> TopologyCase:
    if unknown := misnamed(request.query_params.multi_items(), beside=VIEW):
        raise together(unknown)
    return case_of(state_of(request.query_params), _view(request))


def _view(request: Request) -> dict[str, str]:
    return {name: request.query_params.get(name, "").strip() for name in VIEW}


def topology_of(request: Request) -> Topology:
    """The page's view model for a request."""
    state, view = state_of(request.query_params), _view(request)
    try:
        case = _case(request)
    except Refusal as refusal:
        return Topology(state, view, _said(refusal), None)
    return Topology(state, view, {}, TopologyBoard(case, request.cookies.get("narrow") == "1"))


def _said(refusal: Refusal) -> dict[str, str]:
    """Each sentence under the control it is about; the first one wins where a field has two."""
    says: dict[str, str] = {}
    for each in refusal.all:
        name = each.field if each.field in VIEW else field_of(each)
        whole = each.value is None or name not in (*FIELDS, *VIEW)
        says.setdefault(name, each.sentence if whole else each.advice)
    return says
