"""Every address that the routes of the pages can make: a name that nobody has is 404, a query that nobody reads is passed over."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from app.board.scenes import SCENES
from app.lessons.exercises import exercises
from app.lessons.lesson import lessons
from app.live.events import lines_of
from app.live.kept import Kept
from app.plan.page import CHARTS
from app.runner.catalog import DEMOS
from app.runner.fake.record import recorded, recorded_names
from app.runner.recordings import recorded as recorded_run
from tests.compare.site import Route, filled, routes_of

PROGRAMS = "/api/"  # strict: a program is told of every name that it has wrong
FILES = "/assets/"  # named by the pages alone
RUN, TRACE = "a-kept-run", "a-kept-trace"
# a name of each noun that stands in an address; where two rooms have the noun, by the start of their addresses
KNOWN = {
    "scene": next(iter(SCENES)),
    "stage": lessons()[0].slug,
    "lesson": lessons()[-1].slug,
    "exercise": next(iter(exercises())),
    "demo": next(iter(DEMOS)),
    "trace": recorded_names()[0],
    "formula": "bubble_of_total",
    "chart": CHARTS[0],
    "target": "deepspeed",
    "file": "ds_config.json",
    "frame": "0",
    "/plan number": "step.seconds",
    "/topology number": "waiting",
    "/scenes number": "0",
    "/demos/fake run_id": TRACE,
    "/demos/runs run_id": RUN,
}
NEEDED = {"/working/{formula}": "p=4&m=16"}  # what a page cannot do without
STRANGE = "utm_source=x&utm_source=y&gpuz=3"


def asked(client: TestClient) -> list[Route]:
    """The routes that people open."""
    every = {route.path: route for route in routes_of(client.app) if "GET" in route.methods}
    return [route for path, route in every.items() if not path.startswith((PROGRAMS, FILES))]


def known(route: Route, noun: str) -> str:
    starts = (start for start in KNOWN if start.endswith(f" {noun}") and route.path.startswith(start.split()[0]))
    return KNOWN[next(starts, noun)]


def names(route: Route) -> list[str]:
    return [known(route, noun) for noun in route.parameters]


@pytest.fixture
def client(client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """One that keeps a run and a trace, so that their pages can be asked too."""
    monkeypatch.setattr("app.demos.served.kept", lambda: Kept(tmp_path))
    Kept(tmp_path).begin(RUN, lines_of(recorded_run("ddp"))).end()
    Kept(tmp_path).begin(TRACE, lines_of(recorded(recorded_names()[0]))).end()
    return client


def test_a_name_that_no_page_has_is_404_with_the_nearest(client: TestClient) -> None:
    tried = set[str]()
    for route in asked(client):
        for place, noun in enumerate(route.parameters):
            values = names(route)
            values[place] += "z"
            answer = client.get(filled(route.path, values))
            words = unescape(answer.text)
            assert answer.status_code == 404, (route.path, noun)
            assert noun == "run_id" or (f"{noun} = {values[place]}" in words and "nearest that works" in words), route
            tried.add(noun)
    assert tried == {name.rpartition(" ")[2] for name in KNOWN}


def test_what_is_refused_in_a_query_is_no_missing_page(client: TestClient) -> None:
    """Though a part of the path is spelled alike."""
    for address in (
        "/plan/working/7?tp=7",
        "/plan/document.json?tp=7",
        "/topology/export/deepspeed/7?tp=7",
        "/scenes/pp/frames/0.svg?stages=0",
        "/scenes/pp/working/9?micro=9&stages=9",
    ):
        assert client.get(address).status_code == 422, address


def test_a_query_of_nobody_is_passed_over_and_told_on_every_page(client: TestClient) -> None:
    told = 0
    for route in asked(client):
        address, needed = filled(route.path, names(route)), NEEDED.get(route.path, "")
        plain, strange = (
            client.get(f"{address}?{query}", follow_redirects=False) for query in (needed, f"{needed}&{STRANGE}")
        )
        assert plain.status_code == strange.status_code < 400, address
        if "<html" not in plain.text:
            continue
        words = unescape(strange.text)
        assert re.search(r"utm_source: [^.]+ and passes it over", words) and "gpuz: " in words, address
        assert "passes it over" not in plain.text, address
        told += 1
    assert told > 20


def test_what_a_page_reads_itself_is_refused_where_it_stands_twice(client: TestClient) -> None:
    for address in (
        "/scenes/pp?stages=4&stages=5",
        "/demos/ddp?steps=2&steps=3",
        "/working/bubble_of_total?p=4&p=5&m=8",
    ):
        answer = client.get(address)
        assert answer.status_code == 422 and "is given twice" in answer.text, address


@pytest.mark.parametrize("name", ["", " ", "\0", "\ud800", "x" * 3000])
def test_any_name_may_be_passed_over(client: TestClient, name: str) -> None:
    told = quote(name.encode("utf-8", "surrogatepass"), safe="")
    for page in (
        "/scenes/pp",
        "/present/pp",
        "/demos/ddp",
        "/scenes/pp/build",
        "/plan/working/step.seconds",
        "/lessons",
    ):
        answer = client.get(f"{page}?{told}=1")
        assert answer.status_code == 200 and "passes it over" in answer.text, page
