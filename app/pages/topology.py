"""The plan against the wires: who stands where, which links that loads, what breaks it. Its state is the URL's query."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from app.scenario import FIELDS, field_of, query_of, state_of, strangers
from app.topology_board import TopologyBoard
from app.topology_case import VIEW, TopologyCase, address, case_of
from app.web import page, part
from engine.document import together
from engine.formula import nearest
from engine.hardware import cluster_named, cluster_names
from engine.layout import AXES
from engine.refusal import Refusal

router = APIRouter(prefix="/topology", default_response_class=HTMLResponse, include_in_schema=False)
SHOWN = (
    ("machine", ("cluster", "gpus", "nic", "spine")),
    ("ranks", ("rank_order", "tp", "cp", "ep", "pp")),
    ("plan", ("model", "batch", "micro_batch", "schedule", "vp", "zero", "hsdp_shard")),
)
MOST_TOLD = 2
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
    def colours(self) -> tuple[tuple[str, str], ...]:
        return (("", "none"), *((axis, axis.upper()) for axis in AXES if axis != "ep"))

    @property
    def nics(self) -> dict[str, float]:
        """Each cluster's own network, for the form to follow a change of the cluster.   [Gb/s]"""
        return {name: cluster_named(name).nic_gbit_per_s for name in cluster_names()}

    @property
    def presets(self) -> Mapping[str, str]:
        return {name: address(state_of(state), VIEW) for name, state in PRESETS.items()}

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
        labels = {name: field.label for name, field in FIELDS.items()} | {
            "you": "you are rank",
            "lost": "node that is gone",
            "colour": "colour by",
        }
        told = [f"{labels[name]}: {words}" if name in labels else words for name, words in self.says.items()]
        return f"This floor has no meaning yet. {'; '.join(told[:MOST_TOLD])}."

    @property
    def says_json(self) -> Markup:
        said = {name: {"refusal": words, "remark": ""} for name, words in self.says.items()}
        return Markup(orjson.dumps({"state": self.state_words, "fields": said}).decode().replace("<", "\\u003c"))


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


@router.get("/working/{path}")
def working(request: Request, path: str) -> HTMLResponse:
    """How one number of the ledger is computed."""
    case = _case(request)
    terms = {name: term for row in case.rows for name, term in row.terms.items()} | {"waiting": case.waiting}
    if path not in terms:
        raise Refusal("number", path[:80], "no number of this floor has this name", nearest(path, terms))
    template = "plan/_working.html" if "HX-Request" in request.headers else "topology/working.html"
    return page(request, template, term=terms[path], query=case.query)


def _case(request: Request) -> TopologyCase:
    if unknown := strangers(request.query_params.multi_items(), beside=VIEW):
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
