"""The demos' recorded runs, and everything else that is sent rather than asked for. No process is started."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

from tests.compare.api import FORM
from tests.compare.bad_values import UNKNOWN
from tests.compare.crawl import Crawl
from tests.compare.site import Site

MOMENTS = ("0", "0.5", "1", "-1", "many", "1e30")
EVENTS = (
    "",
    "no json",
    "[]",
    '{"no": "event"}',
    '{"event": "step"}',
    '{"event": "step", "rank": 0, "step": 0, "loss": 6.2}',
    '{"event": "step", "rank": 0, "step": 0, "t0": 0.0, "t1": 1.0, "loss": 6.2}',
)
LAUNCHES = (
    "",
    "nothing to read",
    "torchrun pretrain_gpt.py --tensor-model-parallel-size 6",
    "[parallelism]\ntensor = 8",
    "--num-layers many --hidden-size -1",
    "x" * 30_000,
)


@contextmanager
def without_pauses() -> Iterator[None]:
    """A recording is shown at the pace it was made at; here at once."""
    sleep = asyncio.sleep

    async def at_once(delay: float, result: Any = None) -> Any:
        return await sleep(0, result)

    asyncio.sleep = at_once
    try:
        yield
    finally:
        asyncio.sleep = sleep


def ask_runs(crawl: Crawl) -> list[str]:
    """The recorded run of every demo, at several moments; the names of the demos that have one."""
    site, shown = crawl.site, []
    with without_pauses():
        for path in sorted(crawl.paths.get("/demos/{demo}", ())):
            name = path.rpartition("/")[2]
            answer = site.ask("POST", f"{path}/runs", "guess=7 MB", FORM, drawn_as=f"RUN-{name}")
            if answer.status == 303:
                shown.append(name)
                ask_run(site, answer.location.partition("?")[0])
    return shown


def ask_run(site: Site, place: str) -> None:
    """One run once it is over: its events end then."""
    site.get(f"{place}/events")
    site.get(place)
    for moment in MOMENTS:
        site.get(f"{place}?t={moment}")
        site.get(f"{place}/board?t={moment}", htmx=True)
    for guess in ("7 MB", "1", "many"):
        site.get(f"{place}?{urlencode({'guess': guess})}")
    events = site.get(f"{place}/events.jsonl").body
    site.ask("POST", "/demos/open", urlencode({"events": events}), FORM)
    site.ask("POST", "/demos/open", urlencode({"events": "\n".join(events.splitlines()[:20])}), FORM)


def ask_refused(crawl: Crawl) -> None:
    """What is sent and refused: from another site, for nobody's run, what cannot be read."""
    site = crawl.site
    for route in site.routes:
        if "POST" in route.methods and "{" in route.path:
            for name in (UNKNOWN, "unknown1"):
                place = route.path.replace("{demo}", name).replace("{run_id}", name)
                site.ask("POST", place, "", FORM)
                site.ask("POST", place, "", FORM, origin="http://elsewhere.example")
    for sent in (
        "",
        "tp=8&pp=4&dp=4",
        "tp=many",
        "tp=0",
        f"tp=8&{UNKNOWN}=1",
        "tp=8&tp=4",
        "&".join(f"a{n}=1" for n in range(50)),
    ):
        site.ask("POST", "/demos/fake/runs", sent, FORM)
    for text in EVENTS:
        site.ask("POST", "/demos/open", urlencode({"events": text}), FORM)
    for text in LAUNCHES:
        site.ask("POST", "/topology/import", urlencode({"text": text}), FORM)
