"""From view models to answers: pages, parts of pages, errors, and the headers that every answer carries."""

from functools import lru_cache
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from math_core import LatexToMathML
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import __version__
from app.board.figures.doodles import silent_rank, tray
from app.board.svg import swatch
from app.settings import settings
from app.web.json_text import error_of, sentence_of
from app.web.query import passed_over
from engine.language import held, units
from engine.language.refusal import Refusal

PLACES = (
    ("Lessons", "/lessons"),
    ("Scenes", "/scenes"),
    ("Plan", "/plan"),
    ("Topology", "/topology"),
    ("Demos", "/demos"),
    ("Present", "/present"),
)  # shown when a route answers there
FOOT = (("API", "/docs"), ("Glossary", "/glossary"), ("Sources", "/sources"), ("Gallery", "/gallery"))
CARRIED = ("/plan", "/topology")  # places that show a plan: links to them keep the one in hand
THEMES = ("auto", "light", "dark")

# The hash is that of the empty string: Plotly adds an empty <style> and fills it by script.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; "
    "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
EMBEDDED = POLICY.replace("frame-ancestors 'none'", "frame-ancestors *")  # of pages that other pages may frame
# No HSTS and no upgrade-insecure-requests: a classroom is often plain http.
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "X-Permitted-Cross-Domain-Policies": "none",
    "X-DNS-Prefetch-Control": "off",
}


class SecurityHeaders:
    """Adds HEADERS to every answer; what is made per request is not stored unless the route says so."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-cache")
                if headers["Content-Security-Policy"] == EMBEDDED:
                    del headers["X-Frame-Options"]  # knows no "anywhere"
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


@lru_cache
def environment() -> Environment:
    """The templates. An unknown name fails; what is not marked safe is escaped."""
    made = Environment(
        loader=FileSystemLoader(settings().templates),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "mathml": mathml,
        "bytes_text": units.bytes_text,
        "seconds_text": units.seconds_text,
        "count_text": units.count_text,
        "digits_text": units.digits_text,
        "share_text": units.share_text,
        "usd_text": units.usd_text,
        "quantity_text": units.quantity_text,
        "one_of": units.one_of,
        "held_text": held.held_text,
        "told_text": held.told_text,
        "other_text": held.other_text,
    }
    made.globals["swatch"] = swatch
    made.globals["board"] = made.get_template("macros.html").module  # in every page and part, without an import
    return made


@lru_cache(2048)
def mathml(latex: str, display: bool = True) -> Markup:
    """A formula as MathML; the LaTeX stays inside for copying.

    >>> "<mfrac>" in mathml(r"\\frac{12}{D}")
    True
    """
    converted = LatexToMathML(annotation=True).convert_with_local_state(latex, displaystyle=display)
    return Markup(converted)


def page(request: Request, template: str, status: int = 200, **view: Any) -> HTMLResponse:
    """A whole page: `template` extends base.html. `view` is what it shows, as a rule one frozen view model."""
    return HTMLResponse(_render(request, template, view), status)


def part(request: Request, template: str, status: int = 200, **view: Any) -> HTMLResponse:
    """A part of a page, for HTMX to swap: `template` is a file that the page includes, named _part.html."""
    return HTMLResponse(_render(request, template, view), status)


def _render(request: Request, template: str, view: dict[str, Any]) -> str:
    theme = request.cookies.get("theme", THEMES[0])
    frame = {
        "request": request,
        "version": __version__,
        "asset": request.app.state.assets.url,
        "places": [place for place in PLACES if place[1] in request.app.state.paths],
        "foot": [place for place in FOOT if place[1] in request.app.state.paths],
        "carried_by": CARRIED,
        "passed_over": passed_over(request),
        "theme": theme if theme in THEMES else THEMES[0],
        "themes": THEMES,
        "tray": tray_drawing(),
    }
    return environment().get_template(template).render(frame | view)


tray_drawing = lru_cache(tray)


def wants_json(request: Request) -> bool:
    """Whether an error should be JSON: below /api it always is."""
    return request.url.path == "/api" or request.url.path.startswith("/api/")


WORDS = {
    404: ("This rank does not answer", "There is no page at this address. It may have been mistyped."),
    405: ("Not in this way", "This address exists, but does not take what was sent to it."),
    422: ("That has no meaning", "Something in the address could not be read."),
    500: ("The pen slipped", "Something went wrong on our side, not yours. It has been written to the log."),
}


def error(request: Request, status: int, detail: str = "", headers: dict[str, str] | None = None) -> Response:
    """An error as a page in the look of the board, or as JSON below /api."""
    title, words = WORDS.get(status, (HTTPStatus(status).phrase, ""))
    if wants_json(request):
        return JSONResponse({"error": detail or words or title, "refusals": []}, status, headers)
    answer = page(request, "error.html", status, title=title, words=detail or words, drawing=silent_rank(status))
    answer.headers.update(headers or {})
    return answer


def handle_errors(app: FastAPI) -> None:
    """Answer every error in our own words."""

    @app.exception_handler(HTTPException)
    def _http(request: Request, problem: HTTPException) -> Response:
        plain = problem.detail == HTTPStatus(problem.status_code).phrase
        headers = dict(problem.headers or {})
        if "Allow" in headers:  # made from a set: sorted, so that the same request gets the same bytes
            headers["Allow"] = ", ".join(sorted(headers["Allow"].split(", ")))
        return error(request, problem.status_code, "" if plain else str(problem.detail), headers)

    @app.exception_handler(Refusal)
    def _refusal(request: Request, refusal: Refusal) -> Response:
        if wants_json(request):
            return JSONResponse(error_of(refusal), 422)
        return error(request, 404 if _names_no_page(request, refusal) else 422, sentence_of(refusal))

    @app.exception_handler(RequestValidationError)
    def _validation(request: Request, problem: RequestValidationError) -> Response:
        """No route asks FastAPI to read a value: inputs of our own say what works. This is for what it asks of itself."""
        first = problem.errors()[0]
        where = ".".join(str(step) for step in first["loc"][1:]) or "request"
        return error(request, 422, sentence_of(Refusal(where, str(first.get("input", "")), "cannot be read")))

    @app.exception_handler(Exception)
    def _unforeseen(request: Request, problem: Exception) -> Response:
        return error(request, 500, headers=HEADERS)  # made outside the middleware, hence the headers here


def _names_no_page(request: Request, refusal: Refusal) -> bool:
    """Whether what was looked up is what the address names: a route calls each part of its path by the noun that it is looked up as."""
    return refusal.value is not None and request.path_params.get(refusal.field) == refusal.value
