"""The application: uvicorn app.main:create_app --factory"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.routing import Route
from starlette_compress import CompressMiddleware, remove_compress_type

from app import assets, web
from app.limits import BodyLimit
from app.pages import api, build, demos, home, lessons, plan, present, scenes, topology, traces, working
from app.settings import settings

PAGES = (
    home,
    lessons,
    build,
    scenes,
    present,
    plan,
    topology,
    traces,
    demos,
    api,
    working,
)  # each has a `router`; add a page here


@asynccontextmanager
async def life(app: FastAPI) -> AsyncIterator[None]:
    """From start to stop: whatever processes the demos have started end with the server."""
    yield
    for name in ("runner", "traces"):
        if made := getattr(app.state, name, None):
            await made.close()


def create_app() -> FastAPI:
    """The whole program as one ASGI application."""
    app = FastAPI(title="Shardboard", docs_url=None, redoc_url=None, openapi_url="/api/openapi.json", lifespan=life)
    app.state.assets = assets.build(settings())
    for module in (assets, *PAGES):
        for route in module.router.routes:
            if isinstance(route, Route) and not route.include_in_schema and route.methods and "GET" in route.methods:
                route.methods.add("HEAD")  # pages answer it as well: link checkers ask so
        app.include_router(module.router)
    app.state.paths = frozenset(path for module in PAGES for path in paths_of(module.router))
    remove_compress_type("text/event-stream")  # one message at a time has nothing to gain
    app.add_middleware(CompressMiddleware)
    app.add_middleware(BodyLimit)
    app.add_middleware(web.SecurityHeaders)
    web.handle_errors(app)
    return app


def paths_of(router: object) -> set[str]:
    """The addresses a router answers."""
    return {route.path for route in getattr(router, "routes", ()) if isinstance(route, Route)}
