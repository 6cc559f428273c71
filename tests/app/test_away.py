"""Heavy plans leave the server's process, and nobody can tell by the answer."""

import json

import anyio
import pytest
from fastapi.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from app.main import create_app
from app.plan import away
from app.plan.away import AT_ONCE, FULL, HEAVY_OPS, WAITING, Away, operations_of
from engine.catalog.scenarios import preset_document

NAMED = "model=llama-3-405b&gpus=512&tp=8&pp=64&schedule=zb-v&batch=4096&micro_batch=1"
LONG = "model=llama-3-405b&gpus=1024&tp=8&pp=128&schedule={}&batch=99968&micro_batch=1"
DOCUMENT = {"model": "llama-3-405b", "cluster": "hgx-h100", "gpus": 512}
LAYOUT = {"tp": 8, "pp": 64, "dp": 1, "schedule": "zb-v", "micro_batches": 4096}
HEAVY = {
    "board": ("GET", f"/plan/board?{NAMED}", b""),
    "floor": ("GET", f"/topology/board?{NAMED}", b""),
    "chart": ("GET", f"/plan/chart/memory?{NAMED}", b""),
    "knob": ("GET", "/plan/chart/knob?model=llama-3-405b&gpus=1024&batch=2048&schedule=zb-v&knob=pp", b""),
    "document": ("POST", "/api/estimate", json.dumps(DOCUMENT | {"layout": LAYOUT}).encode()),
}
CHEAP = {
    "card": ("GET", "/plan/board", b""),
    "sixteen stages": ("GET", "/plan/board?model=llama-3-405b&gpus=16384&pp=16&cp=2&batch=2048", b""),
    "no number": ("GET", "/plan/board?pp=many&batch=1e99", b""),
    "no schedule": ("GET", "/plan/board?schedule=none", b""),
    "no document": ("POST", "/api/estimate", b"[1, {"),
    "a list": ("POST", "/api/estimate", b'{"layout": [64]}'),
    "the card as a document": ("POST", "/api/estimate", json.dumps(preset_document()).encode()),
}


def scope_of(method: str, address: str) -> Scope:
    path, _, query = address.partition("?")
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(b"host", b"testserver")],
        "server": ("testserver", 80),
        "scheme": "http",
        "http_version": "1.1",
        "root_path": "",
    }


@pytest.mark.parametrize("name", HEAVY)
def test_a_long_pipeline_is_known_to_be_heavy_before_it_is_computed(name: str) -> None:
    method, address, body = HEAVY[name]
    assert operations_of(scope_of(method, address), body) >= HEAVY_OPS


@pytest.mark.parametrize("name", CHEAP)
def test_what_is_short_or_has_no_meaning_stays_here(name: str) -> None:
    method, address, body = CHEAP[name]
    assert operations_of(scope_of(method, address), body) < HEAVY_OPS


def test_another_process_gives_the_same_answer_with_the_same_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    with TestClient(create_app()) as client:
        for name in ("board", "document"):
            method, address, body = HEAVY[name]
            there = client.request(method, address, content=body)
            monkeypatch.setattr(away, "HEAVY_OPS", 10**9)
            here = client.request(method, address, content=body)
            monkeypatch.undo()
            assert there.status_code == here.status_code == 200
            assert there.text == here.text
            assert sorted(there.headers.multi_items()) == sorted(here.headers.multi_items())


async def never(scope: Scope, receive: Receive, send: Send) -> None:
    raise AssertionError("a heavy plan is not answered here")


def test_who_has_left_is_not_computed_for_and_makes_room() -> None:
    sent: list[Message] = []

    async def left() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    async def ask() -> int:
        door = Away(never)
        await door(scope_of("GET", f"/plan/board?{LONG.format('zb-v')}"), left, send)
        return door.limiter.borrowed_tokens

    assert anyio.run(ask) == 0
    assert sent == []


def test_a_line_that_is_full_says_when_to_ask_again() -> None:
    sent: list[Message] = []

    async def stays() -> Message:
        await anyio.sleep_forever()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    async def ask() -> None:
        door = Away(never)
        async with anyio.create_task_group() as group:
            for place in range(AT_ONCE + WAITING):
                group.start_soon(door.limiter.acquire_on_behalf_of, place)
            await anyio.wait_all_tasks_blocked()
            await door(scope_of("POST", "/api/estimate"), read(HEAVY["document"][2], stays), send)
            group.cancel_scope.cancel()

    anyio.run(ask)
    assert sent[0]["status"] == 503
    assert dict(sent[0]["headers"])[b"retry-after"].isdigit()
    assert FULL in sent[1]["body"].decode()


def read(body: bytes, then: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return messages.pop() if messages else await then()

    return receive
