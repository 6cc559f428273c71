"""The record of everything that is answered: what it normalises, what it finds, what it calls a change."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from tests.compare.bad_values import bad_documents, leaves, with_value
from tests.compare.crawl import QUERIES_OF_A_PATH, Crawl
from tests.compare.differ import Compared, compared
from tests.compare.documents import Lot, mended
from tests.compare.json_changes import json_changes
from tests.compare.normal import Normaliser
from tests.compare.page_reader import read_page
from tests.compare.records import Record, Records, written
from tests.compare.report import document_of, text_of
from tests.compare.site import Site
from tests.compare.text_changes import MOST_PLACES, html_changes, text_changes

FRONT = """
<a href="/things/one#top">one</a> <a href="http://elsewhere.example/">elsewhere</a> <a href="mailto:a@b">write</a>
<p data-next="/things/two?x=1"></p> <a href="/endless?n=0">on</a> <a href="/old">moved</a>
<script type="application/json">{"more": "/things/three", "about": "not /things/four"}</script>
<form action="/plan" hx-get="/plan/board">
  <select name="model"><option value="small">S</option><option value="large" selected>L</option></select>
  <input type="radio" name="zero" value="0"><input type="radio" name="zero" value="1" checked>
  <input type="number" name="gpus" min="1" max="8" value="4"><input type="hidden" name="from" value="front">
  <input type="text" name="note"><button>go</button>
</form>
<select id="knob" name="knob"><option value="tp"></select> <div hx-get="/chart" hx-include="#knob"></div>
<form method="post" action="/change"><input type="radio" name="never" value="asked"></form>
"""


def answer(request: Request) -> Response:
    path, query = request.url.path, dict(request.query_params)
    if path == "/":
        return HTMLResponse(FRONT)
    if path == "/endless":
        return HTMLResponse(f'<a href="/endless?n={int(query["n"]) + 1}">on</a>' if "n" in query else "")
    if path == "/old":
        return RedirectResponse("/things/new", 301)
    if path.startswith("/things/one/frames/"):
        return Response(status_code=200 if path[-1] in "012" else 404)
    return HTMLResponse(f"{path} {sorted(query.items())} {request.cookies}")


@pytest.fixture
def crawl() -> Crawl:
    deep = Mount("/things", routes=[Route("/{name}", answer), Route("/{name}/frames/{at}", answer)])
    plain = [Route(path, answer) for path in ("/", "/endless", "/old", "/plan", "/plan/board", "/chart")]
    app = Starlette(routes=[*plain, deep, Route("/change", answer, methods=["POST"])])
    made = Crawl(Site(app, TestClient(app)))
    made.run()
    return made


def test_the_tool_takes_one_name_from_the_program() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (Path(__file__).parent / "compare").glob("*.py")]
    taken = [
        line.strip()
        for text in texts
        for line in text.splitlines()
        if re.match(r"\s*(from|import) (app|engine)\b", line)
    ]
    assert [line.partition("  #")[0] for line in taken] == ["from app.main import create_app"]


def asked(crawl: Crawl, htmx: bool = False) -> set[str]:
    return {address for _, address, part, _ in crawl.site.records if part == htmx}


def test_a_crawl_follows_links_data_addresses_scripts_and_redirects(crawl: Crawl) -> None:
    assert {"/", "/things/one", "/things/two?x=1", "/things/three", "/old", "/things/new"} <= asked(crawl)
    assert not any("four" in address or "elsewhere" in address for address in asked(crawl))


def test_a_crawl_asks_every_choice_of_a_form_one_at_a_time(crawl: Crawl) -> None:
    choices = ("model=small", "model=large", "zero=0", "zero=1", "gpus=1", "gpus=8")
    assert {f"/plan?from=front&{choice}" for choice in choices} | {"/plan"} == {
        a for a in asked(crawl) if a.startswith("/plan") and "board" not in a
    }
    boards = {address for address in asked(crawl, htmx=True) if "board" in address}
    assert boards == {"/plan/board", *(f"/plan/board?from=front&{choice}" for choice in choices[1::2])}
    assert "/chart?knob=tp" in asked(crawl, htmx=True)
    assert not any("never" in address for address in asked(crawl))


def test_a_crawl_counts_the_places_that_no_page_links_to(crawl: Crawl) -> None:
    assert {a for a in asked(crawl) if "frames" in a and "one" in a} == {f"/things/one/frames/{n}" for n in range(4)}


def test_a_crawl_ends_where_links_do_not(crawl: Crawl) -> None:
    assert len([a for a in asked(crawl) if a.startswith("/endless?")]) == QUERIES_OF_A_PATH
    assert crawl.refused["/endless"] == 1


def test_no_cookie_is_sent_and_a_question_is_asked_once(crawl: Crawl) -> None:
    first = crawl.site.get("/plan")
    assert first.body == "/plan [] {}"
    assert crawl.site.get("/plan") is first


def test_a_control_of_a_form_elsewhere_in_the_page_belongs_to_it() -> None:
    page = read_page('<form id="f" action="?a=1"></form><select name="x" form="f"><option value="1"></select>', "/p")
    assert [(form.path, form.fields[0].name, form.fields[0].values) for form in page.forms] == [("/p?a=1", "x", ("1",))]


def test_only_hashes_of_assets_pings_and_learnt_names_are_replaced() -> None:
    text = Normaliser()
    text.learn("AbC-123_xyz0", "RUN-x")
    same = 'a.1234567890.txt 4eb7993c63 "2031-01-01" AbC-123_xyz1 board.1a2b.css'
    assert text(same) == same
    assert text("/assets/main-x.0123456789.js") == "/assets/main-x.HASH.js"
    assert text.real("/assets/main-x.HASH.js?x") == "/assets/main-x.0123456789.js?x"
    assert text("/runs/AbC-123_xyz0/board") == "/runs/RUN-x/board"
    assert text.real("/runs/RUN-x/board") == "/runs/AbC-123_xyz0/board"
    assert text.real("/runs/RUN-xy") == "/runs/RUN-xy"
    assert text("data: 1\n\n: ping - 2031-01-01 00:00:00\n\ndata: 2\n\n") == "data: 1\n\ndata: 2\n\n"


def test_json_changes_name_the_path_and_both_values() -> None:
    old = {"stages": [{"bytes": 1.0}, {"bytes": 2.0}], "terms": {"stages.0.x": {"source": "a"}}, "gone": 1}
    new = {"stages": [{"bytes": 1.0}, {"bytes": 2.5}], "terms": {"stages.0.x": {"source": "b"}}, "come": []}
    assert list(json_changes(old, new)) == [
        ("value", "stages.*.bytes", "2.0", "2.5"),
        ("value", "terms.stages.*.x.source", '"a"', '"b"'),
        ("removed", "gone", "1", ""),
        ("added", "come", "", "[]"),
    ]


def test_one_more_item_of_a_list_is_one_change() -> None:
    assert list(json_changes([1, 2, 3], [1, 9, 2, 3])) == [("added", "*", "", "9")]


def test_what_equals_but_is_written_otherwise_is_a_change() -> None:
    assert list(json_changes({"a": 1, "b": 2}, {"b": 2, "a": 1})) == [("order of names", "", "a, b", "b, a")]
    assert list(json_changes([1, True], [1.0, 1])) == [("value", "*", "1", "1.0"), ("value", "*", "true", "1")]


def test_pages_are_compared_by_tags_and_texts() -> None:
    assert list(html_changes("<p>a</p>\n<p>b</p>", "<p>a</p>  <p>b</p>")) == []
    assert list(html_changes('<p class="x">a</p>', '<p class="y">a</p>')) == [('<p class="x">', '<p class="y">')]
    assert list(text_changes("a", "a\n")) == [("a", "a")]
    many = "".join(f"<p>{n}</p>" for n in range(100))
    assert len(list(html_changes(many, many.replace("<p>", "<b>")))) == MOST_PLACES + 1


def page(address: str, body: str, **more: object) -> Record:
    made = Record("address", "/p/{x}", "GET", address, status=200, type="text/html", body=body)
    return replace(made, **more)


def compare(tmp_path: Path, old: list[Record], new: list[Record]) -> Compared:
    for name, records in (("old", old), ("new", new)):
        written(tmp_path / name, records)
    return compared(tmp_path / "old", tmp_path / "new")


def test_the_same_kind_of_change_is_one_group(tmp_path: Path) -> None:
    old = [page(f"/p/{n}", f"<p>{n} GPUs</p>") for n in range(50)] + [page("/p/x", "<p>same</p>"), page("/p/old", "")]
    new = [page(f"/p/{n}", f"<p>{n} chips</p>") for n in range(50)] + [page("/p/x", "<p>same</p>"), page("/p/new", "")]
    found = compare(tmp_path, old, new)
    assert [(group.kind, len(group.places)) for group in found.groups] == [
        ("page", 50),
        ("only in the new record", 1),
        ("only in the old record", 1),
    ]
    assert found.counts["address"] == {"compared": 51, "same": 1, "changed": 50, "only_old": 1, "only_new": 1}
    assert "50 times, in 50 answers" in text_of(found, 2)
    assert len(document_of(found)["groups"][0]["places"]) == 50


def test_examples_are_those_that_differ_from_each_other(tmp_path: Path) -> None:
    def answers(word: str) -> list[Record]:
        texts = [json.dumps({"source": f"{word if n < 9 else 'quite another ' + word} {n}"}) for n in range(10)]
        return [page(f"/p/{n}", text, type="application/json") for n, text in enumerate(texts)]

    (group,) = compare(tmp_path, answers("a"), answers("b")).groups
    assert (group.kind, group.where, len(group.places), group.patterns) == ("JSON value", "source", 10, 2)
    assert {key[1] for key, _ in group.examples(2)} == {"/p/0", "/p/9"}


@pytest.mark.parametrize(
    ("changed", "kind", "where"),
    [
        ({"status": 422}, "status", "200 → 422"),
        ({"type": "text/plain"}, "type", "text/html → text/plain"),
        ({"location": "/q/7"}, "location", " → /q/#"),
        ({"errors": "no"}, "standard error", " → no"),
        ({"body": "<p>a</p> "}, "page", "white space only"),
    ],
)
def test_everything_about_an_answer_is_compared(tmp_path: Path, changed: dict, kind: str, where: str) -> None:
    (group,) = compare(tmp_path, [page("/p", "<p>a</p>")], [replace(page("/p", "<p>a</p>"), **changed)]).groups
    assert (group.kind, group.where) == (kind, where)


def test_lines_of_json_are_compared_value_by_value(tmp_path: Path) -> None:
    old, new = (page("/p", f'{{"a": 1}}\n{{"b": {value}}}\n', type="application/x-ndjson") for value in (2, 3))
    (group,) = compare(tmp_path, [old], [new]).groups
    assert (group.kind, group.where) == ("JSON value", "*.b")


def test_equal_records_have_no_groups(tmp_path: Path) -> None:
    records = [page("/p", "<p>\u2028a</p>"), page("/p", "b", sent="x"), page("/p", "c", htmx=True)]
    assert compare(tmp_path, records, list(reversed(records))).groups == []
    assert len(Records(tmp_path / "old").places) == 3


def test_each_field_of_a_schema_is_spoilt() -> None:
    inner = {"properties": {"pp": {"type": "integer", "minimum": 1}}}
    schema = {"properties": {"name": {"anyOf": [{"enum": ["a"]}, inner]}, "layout": inner}}
    assert [path for path, _ in leaves(schema)] == [("name", "pp"), ("name",), ("layout", "pp")]
    spoilt = set(bad_documents(schema, {"name": "a"}))
    assert {json.dumps({"name": "a", "layout": {"pp": -1}}), json.dumps({"name": {"pp": "many"}}), "{}"} <= spoilt
    assert with_value({"a": {"b": 1}}, ("a", "c"), 2) == {"a": {"b": 1, "c": 2}}


def test_one_more_name_changes_few_choices() -> None:
    lots = [Lot(f"{n}") for n in range(200)]
    moved = [lot for lot in lots if lot.of("model", ["a", "b", "c"]) != lot.of("model", ["a", "b", "new", "c"])]
    assert {lot.of("model", ["a", "b", "new", "c"]) for lot in moved} == {"new"}
    assert 20 < len(moved) < 90


def test_a_refused_scenario_is_mended_where_it_was_refused() -> None:
    drawn = {"gpus": 9, "layout": {"tp": 2, "pp": 2, "dp": 2, "cp": 1, "ep": 3}, "precision": "fp8"}
    made = mended(drawn, ["layout.ep", "gpus"])
    assert made == {"gpus": 8, "layout": {"tp": 2, "pp": 2, "dp": 2, "cp": 1, "ep": 1}, "precision": "fp8"}
    assert mended(drawn, ["model"]) is None
