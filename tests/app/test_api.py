"""The API: the contract's documents, the command line's sentences, and its page."""

import importlib
import json
import pkgutil
import sys
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper
from typing import Any
from urllib.parse import urlencode

import anyio
import pytest
from fastapi.testclient import TestClient
from starlette.types import Message

import engine
from app.api.answer_schema import FormulaDocument, FormulaEntry, ScheduleDocument
from app.cli import main as cli
from app.web.limits import BODY_BYTES
from engine.catalog.scenarios import preset_document
from engine.formulas import holders
from engine.language.formula import FORMULAS
from engine.pipeline.schedules import SCHEDULES
from tests.app.conftest import Meaningless

CARD = preset_document()


def test_what_has_no_meaning_is_422_with_the_sentence_of_the_command_line(
    client: TestClient, meaningless: Meaningless, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text, named = meaningless
    answer = client.post("/api/estimate", content=text, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    document = answer.json()
    assert list(document) == ["error", "refusals"]
    assert all(part in document["error"] for part in named)
    assert all(list(one) == ["field", "value", "rule", "nearest", "code"] for one in document["refusals"])
    assert document["refusals"]
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(text)))
    assert cli.main(["estimate", "-"]) == 2
    assert capsys.readouterr().err == document["error"] + "\n"


def test_a_refusal_names_field_value_rule_and_way_out(client: TestClient) -> None:
    answer = client.post("/api/estimate", json=CARD | {"gpus": 24, "layout": {"tp": 6, "pp": 4, "dp": 1}})
    refusal, *_ = answer.json()["refusals"]
    assert (refusal["field"], refusal["value"], refusal["nearest"]) == ("layout.tp", 6, "4 or 8")
    assert refusal["code"] == "does-not-divide"


def test_every_field_that_is_wrong_is_told(client: TestClient) -> None:
    answer = client.post("/api/estimate", json={"model": "llama", "cluster": "hgx", "gpus": 1024}).json()
    assert [one["field"] for one in answer["refusals"]] == ["model", "cluster"]


def pieces(number: int) -> Iterator[bytes]:
    for _ in range(number):
        yield b" " * 65_536


@pytest.mark.parametrize("body", [b" " * 10 * 2**20, pieces(160)], ids=["with its length", "in pieces"])
def test_ten_megabytes_are_413(client: TestClient, body: bytes | Iterator[bytes]) -> None:
    answer = client.post("/api/estimate", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert answer.json() == {"error": "document: is larger than 1 MB, and no more is read", "refusals": []}


def test_a_body_is_refused_before_it_has_come(client: TestClient) -> None:
    """The application is asked directly, so that reading too much would show."""
    read = []

    async def receive() -> Message:
        read.append(1)
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        assert message["type"] != "http.response.start" or (message["status"] == 413 and not read)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "path": "/api/estimate",
        "query_string": b"",
        "raw_path": b"/api/estimate",
        "scheme": "http",
        "root_path": "",
        "server": ("x", 80),
        "client": ("x", 1),
        "headers": [(b"host", b"localhost"), (b"content-length", b"10485760"), (b"content-type", b"application/json")],
        "app": client.app,
    }
    anyio.run(client.app, scope, receive, send)


def test_after_a_last_piece_that_is_too_much_no_other_is_waited_for(client: TestClient) -> None:
    """Without a length, what is too much shows only when it has come; a server gives nothing after the last piece."""
    asked, sent = [], []

    async def receive() -> Message:
        asked.append(1)
        assert len(asked) == 1
        return {"type": "http.request", "body": b" " * (BODY_BYTES + 1), "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "path": "/api/estimate", "query_string": b"",
        "raw_path": b"/api/estimate", "scheme": "http", "root_path": "", "server": ("x", 80), "client": ("x", 1),
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")], "app": client.app,
    }  # fmt: skip
    anyio.run(client.app, scope, receive, send)
    assert sent[0]["status"] == 413 and not sent[-1]["more_body"]


def test_a_body_of_one_megabyte_is_read(client: TestClient) -> None:
    text = json.dumps(CARD).encode()
    answer = client.post(
        "/api/estimate", content=text + b" " * (BODY_BYTES - len(text)), headers={"content-type": "application/json"}
    )
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "\xe9", "json"]
)
def test_another_content_type_is_415(client: TestClient, kind: str) -> None:
    answer = client.post("/api/estimate", content=json.dumps(CARD), headers={b"content-type": kind.encode("latin-1")})
    assert answer.status_code == 415
    assert "application/json" in answer.json()["error"]


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/ld+json", ""])
def test_json_by_any_of_its_names_is_read(client: TestClient, kind: str) -> None:
    assert client.post("/api/estimate", content=json.dumps(CARD), headers={"content-type": kind}).status_code == 200


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_is_the_same_as_on_the_command_line(
    client: TestClient, name: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    chunks = {"interleaved": 2}.get(name, 1)
    query = {"name": name, "stages": 4, "micro_batches": 16, "chunks": chunks}
    answer = client.get("/api/schedule?" + urlencode(query))
    assert answer.status_code == 200
    ScheduleDocument.model_validate(answer.json(), strict=True)
    cli.main(["schedule", name, "--stages", "4", "--micro-batches", "16", "--chunks", str(chunks)])
    assert json.loads(capsysbinary.readouterr().out) == answer.json()


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("", ("name", "needed")),
        ("name=1f1b&stages=4&micro_batches=x", ("micro_batches = x",)),
        ("name=1f1b&stages=4&stages=8&micro_batches=8", ("stages = 8", "twice")),
        ("name=1f1b&stages=4&micro_batches=8&chunk=2", ("chunk = 2", "unknown key", "chunks")),
        ("name=1f1b&stages=1024&micro_batches=1000000", ("200,000",)),
        ("name=%FF%00&stages=4&micro_batches=8", ("name",)),
    ],
)
def test_a_schedule_without_meaning_is_422(client: TestClient, query: str, named: tuple[str, ...]) -> None:
    answer = client.get(f"/api/schedule?{query}")
    assert answer.status_code == 422
    assert all(part in answer.json()["error"] for part in named)


def test_a_formula_is_answered_with_its_working(client: TestClient) -> None:
    document = client.get("/api/formulas/bubble_of_total?p=4&m=16").json()
    FormulaDocument.model_validate(document, strict=True)
    assert document["value"] == pytest.approx(3 / 19)
    assert document["substituted"] == r"\frac{4-1}{1 \cdot 16+4-1}"


@pytest.mark.parametrize(
    "path",
    ["nope", "bubble_of_total", "bubble_of_total?p=4&m=0", "bubble_of_total?p=4&m=nan", "bubble_of_total?p=4&m=2&m=3"],
)
def test_a_formula_without_meaning_is_422(client: TestClient, path: str) -> None:
    answer = client.get(f"/api/formulas/{path}")
    assert answer.status_code == 422 and answer.json()["error"] and answer.json()["refusals"]


def test_all_formulas_are_listed_once_and_in_order(client: TestClient) -> None:
    listed = client.get("/api/formulas").json()
    names = [FormulaEntry.model_validate(one, strict=True).name for one in listed]
    assert names == sorted(set(names)) and {"state_bytes", "young_interval_s", "lora_parameters"} <= set(names)
    assert all(parameter["meaning"] and parameter["unit"] for one in listed for parameter in one["parameters"])


def test_every_formula_is_found_where_it_is_written() -> None:
    for module in pkgutil.walk_packages(engine.__path__, "engine."):
        importlib.import_module(module.name)
    written = {name: made.function.__module__ for name, made in FORMULAS.items()}
    assert holders() == {name: module for name, module in written.items() if module.startswith("engine.")}


def test_an_unknown_address_below_api_is_404_in_json(client: TestClient) -> None:
    answer = client.get("/api/nothing")
    assert (answer.status_code, list(answer.json())) == (404, ["error", "refusals"])


def test_the_wrong_method_is_405_in_json(client: TestClient) -> None:
    answer = client.get("/api/estimate")
    assert (answer.status_code, list(answer.json())) == (405, ["error", "refusals"])


def test_every_field_of_the_api_says_what_it_means(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    body = paths["/api/estimate"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    missing = [path for path, field in described(body) if not field.get("description")]
    assert missing == []
    assert "$ref" not in json.dumps(body)


def described(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, field in schema.get("properties", {}).items():
        yield f"{path}{name}", field
        for option in (field, *field.get("anyOf", [])):
            yield from described(option, f"{path}{name}.")


def test_the_page_shows_every_route_and_field(client: TestClient) -> None:
    page = client.get("/docs")
    assert page.status_code == 200
    for shown in (
        "/api/estimate",
        "/api/schedule",
        "/api/formulas/{name}",
        "layout.micro_batches",
        "communication[].exposed_seconds",
        "memory.stages[].weights_bytes",
        "curl -s http://testserver/api/estimate",
        "default 8,192",
    ):
        assert shown in page.text, shown
    assert "<script>" not in page.text and "style=" not in page.text
    assert 'href="/docs" aria-current="page"' in page.text


def test_the_pages_form_is_answered_without_a_script(client: TestClient) -> None:
    page = client.post("/docs", data={"document": json.dumps(CARD)})
    assert page.status_code == 200
    assert "one step" in page.text
    assert "&#34;bubble_of_total&#34;: 0.15789473684210525" in page.text
    assert page.text.count("<html") == 1


def test_the_pages_form_is_answered_in_part_for_htmx(client: TestClient) -> None:
    answer = client.post("/docs", data={"document": json.dumps(CARD)}, headers={"hx-request": "true"})
    assert answer.status_code == 200 and "<html" not in answer.text and "one step" in answer.text


@pytest.mark.parametrize("typed", ["", "{", json.dumps(CARD | {"gpus": 0}), "<script>alert(1)</script>", "\x00"])
def test_what_is_typed_without_meaning_stays_and_is_told(client: TestClient, typed: str) -> None:
    page = client.post("/docs", data={"document": typed})
    assert page.status_code == 422
    assert 'class="refusal"' in page.text and "<script>alert" not in page.text


@pytest.mark.parametrize("body", [b"", b"document", b"a=1&" * 200, b"document=%ff%fe", b"\xff" * 100])
def test_a_form_of_nonsense_is_no_fault_of_ours(client: TestClient, body: bytes | Iterator[bytes]) -> None:
    answer = client.post("/docs", content=body, headers={"content-type": "application/x-www-form-urlencoded"})
    assert answer.status_code == 422
