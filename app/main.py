"""The application: uvicorn app.main:create_app --factory"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.routing import Route
from starlette_compress import CompressMiddleware, remove_compress_type

from app import __version__
from app.api import page as api
from app.builder import page as builder
from app.demos import page as demos
from app.demos import traces_page as traces
from app.demos.served import end_interrupted
from app.home import page as home
from app.lessons import page as lessons
from app.live.served import close_all
from app.plan import page as plan
from app.plan.away import Away
from app.present import page as present
from app.scenes import page as scenes
from app.settings import settings
from app.topology import page as topology
from app.web import assets, render
from app.web.hosts import LOOPBACK, Hosts
from app.web.limits import BodyLimit
from app.working import page as working

ROOMS = (
    home,
    lessons,
    builder,
    scenes,
    present,
    plan,
    topology,
    traces,
    demos,
    api,
    working,
)  # each page has a `router`


@asynccontextmanager
async def life(app: FastAPI) -> AsyncIterator[None]:
    """From start to stop: what a server that died had under way is told, whatever processes the demos start end with this one."""
    end_interrupted()
    yield
    await close_all(app)


def create_app(bound: str = LOOPBACK[0]) -> FastAPI:
    """The whole program as one ASGI application.

    bound   the address or name it is served on, which decides the names it answers to
    """
    app = FastAPI(
        title="Shardboard",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=life,
    )
    app.state.assets = assets.build(settings())
    for module in (assets, *ROOMS):
        for route in module.router.routes:
            if isinstance(route, Route) and not route.include_in_schema and route.methods and "GET" in route.methods:
                route.methods.add("HEAD")  # pages answer it as well: link checkers ask so
        app.include_router(module.router)
    app.state.paths = frozenset(path for module in ROOMS for path in paths_of(module.router))
    remove_compress_type("text/event-stream")  # one message at a time has nothing to gain
    app.add_middleware(Away)
    app.add_middleware(CompressMiddleware)
    app.add_middleware(BodyLimit)
    app.add_middleware(Hosts, bound=bound, more=settings().hosts)
    app.add_middleware(render.SecurityHeaders)
    render.handle_errors(app)
    return app


def paths_of(router: object) -> set[str]:
    """The addresses a router answers."""
    return {route.path for route in getattr(router, "routes", ()) if isinstance(route, Route)}
