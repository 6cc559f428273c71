"""The engine for programs: JSON in, JSON out, the same documents and sentences as the command line; and the page about it."""

from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, HTTPException, Path, Request
from fastapi.responses import HTMLResponse, Response
from starlette.requests import ClientDisconnect

from app.api.answer_schema import ErrorDocument, EstimateDocument, FormulaDocument, FormulaEntry, ScheduleDocument
from app.api.guide import EXAMPLE, Tried, guide_of
from app.api.request_schema import query_parameters, scenario_schema
from app.web.json_text import text_of, value_of
from app.web.limits import BODY_BYTES
from app.web.render import page, part
from engine.answer import estimate_answer
from engine.formulas import formula_answer, formulas_answer
from engine.language.refusal import Refusal
from engine.pipeline.schedule_answer import ScheduleQuestion, schedule_answer

router = APIRouter()

NO_ANSWER: dict[int | str, dict[str, Any]] = {
    422: {"model": ErrorDocument, "description": "What was sent has no meaning, or is no JSON."}
}
TOO_MUCH: dict[int | str, dict[str, Any]] = {
    413: {"model": ErrorDocument, "description": "More than 1 MB was sent."},
    415: {"model": ErrorDocument, "description": "What was sent is not said to be JSON."},
}
SCENARIO = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": scenario_schema(), "example": EXAMPLE}},
    }
}
VALUES = {
    "name": "values",
    "in": "query",
    "style": "form",
    "explode": True,
    "description": "a value for each parameter: p=4&m=16",
    "schema": {"type": "object", "additionalProperties": {"type": "number"}},
    "example": {"p": 4, "m": 16},
}


class Json(Response):
    """A document as JSON."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return text_of(content)


async def body_text(request: Request) -> bytes:
    """The body of a request that says it is JSON, or says nothing."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("", "application/json") and not kind.endswith("+json"):
        raise HTTPException(415, f"content-type = {kind[:60]}: a scenario is sent as application/json")
    return await whole_body(request)


async def whole_body(request: Request) -> bytes:
    """The body of a request, within the limit."""
    try:
        return await request.body()
    except ClientDisconnect:
        raise HTTPException(400, "the request broke off before its end") from None


def query_values(request: Request) -> dict[str, object]:
    """The fields of a query; one that stands there twice is refused."""
    pairs = request.query_params.multi_items()
    given: dict[str, object] = {}
    for name, value in pairs:
        if name in given:
            raise Refusal(name, value, "is given twice", code="duplicate-key")
        given[name] = value
    return given


BodyText = Annotated[bytes, Depends(body_text)]
QueryValues = Annotated[dict[str, object], Depends(query_values)]


@router.post("/api/estimate", response_model=EstimateDocument, responses=NO_ANSWER | TOO_MUCH, openapi_extra=SCENARIO)
def estimate(text: BodyText) -> Response:
    """Memory, traffic, step time, MFU, days and dollars of a scenario, each number with its working."""
    return Json(estimate_answer(value_of(text, BODY_BYTES)))


@router.get(
    "/api/schedule",
    response_model=ScheduleDocument,
    responses=NO_ANSWER,
    openapi_extra={"parameters": query_parameters(ScheduleQuestion)},
)
def schedule(given: QueryValues) -> Response:
    """The exact timeline of a pipeline schedule whose stages are equal."""
    return Json(schedule_answer(given))


@router.get("/api/formulas", response_model=list[FormulaEntry])
def formulas() -> Response:
    """Every formula: what it gives, what it takes, its source."""
    return Json(formulas_answer())


@router.get(
    "/api/formulas/{name}", response_model=FormulaDocument, responses=NO_ANSWER, openapi_extra={"parameters": [VALUES]}
)
def formula(name: Annotated[str, Path(description="which formula: see /api/formulas")], given: QueryValues) -> Response:
    """One formula, for values given in the query, with its working."""
    return Json(formula_answer(name, given))


@router.get("/openapi.json", include_in_schema=False)
def openapi(request: Request) -> Response:
    """The description of all this for programs."""
    return Json(request.app.openapi())


@router.get("/docs", include_in_schema=False)
def docs(request: Request) -> HTMLResponse:
    """The description for people."""
    return _docs(request, None)


@router.post("/docs", include_in_schema=False)
def try_it(request: Request, body: Annotated[bytes, Depends(whole_body)]) -> HTMLResponse:
    """The page's form: a scenario is answered on the page itself."""
    fields = parse_qs(body.decode("utf-8", "replace"))
    return _docs(request, Tried.of(fields.get("document", [""])[0]))


def _docs(request: Request, tried: Tried | None) -> HTMLResponse:
    status = 422 if tried and tried.refusal else 200
    if tried and request.headers.get("hx-request"):
        return part(request, "api/_tried.html", tried=tried)
    guide = guide_of(request.app.openapi(), str(request.base_url).rstrip("/"))
    return page(request, "api/page.html", status, guide=guide, tried=tried)
