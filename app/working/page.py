"""The working of any formula for any arguments: a page of its own, or the slip that a number opens."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.web.query import own_query
from app.web.render import page, part
from engine.formulas import formula_named

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)


@router.get("/working/{formula}")
def working(request: Request, formula: str) -> HTMLResponse:
    """How a formula comes to its value: symbols, this case's values, source, and the usual mistakes."""
    found = formula_named(formula)
    labels = {parameter.name: parameter.meaning for parameter in found.parameters.values()}
    term = found.answer(own_query(request, labels, f"{found.name} takes no such value"))
    if "HX-Request" in request.headers:
        return part(request, "working/_slip.html", term=term)
    return page(request, "working/page.html", term=term)
