"""Who asks: one visitor from another, a form's fields out of a body."""

import secrets
from collections.abc import Iterable
from urllib.parse import parse_qsl

from fastapi import HTTPException, Request
from fastapi.responses import Response

from engine.language.refusal import Refusal

VISITOR, MONTH_S = "visitor", 30 * 24 * 3600


def known_visitor(request: Request) -> str:
    """The name that whoever asks has brought along, if any."""
    known = request.cookies.get(VISITOR, "")
    return known if len(known) <= 40 else ""


def visitor_of(request: Request) -> str:
    """A name for whoever asks, kept in a cookie from the first run on."""
    if known := known_visitor(request):
        return known
    if not hasattr(request.state, "visitor"):
        request.state.visitor = secrets.token_urlsafe(9)
    return request.state.visitor


def remember(request: Request, answer: Response) -> Response:
    """The same answer, with the visitor's name to bring along next time."""
    answer.set_cookie(VISITOR, visitor_of(request), httponly=True, samesite="lax", max_age=MONTH_S)
    return answer


async def form_of(request: Request) -> dict[str, str]:
    """Fields of a form that was sent."""
    body = (await request.body()).decode("utf-8", "replace")
    try:
        return once(parse_qsl(body, keep_blank_values=True, max_num_fields=40))
    except ValueError as problem:
        if isinstance(problem, Refusal):
            raise
        raise HTTPException(422, "A form has at most 40 fields.") from None


def once(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Fields with their values; one that is given twice is refused."""
    found: dict[str, str] = {}
    for name, value in pairs:
        if name in found:
            raise Refusal(name[:40], None, "is given twice", code="duplicate-key")
        found[name] = value
    return found


def owned(request: Request, client: str) -> None:
    """Refuses to stop what somebody else has started."""
    if client != visitor_of(request):
        raise HTTPException(403, "Only who has started a run may stop it.")


def narrow(request: Request) -> bool:
    """Whether the browser asked for narrow figures."""
    return request.cookies.get("narrow") == "1"
