"""The notes of the planner and the floor: painted with their words, then with what was tried, each link to the plan it names."""

import html
import re
from urllib.parse import parse_qsl, urlsplit

import pytest
from fastapi.testclient import TestClient

from app.plan.board import Board
from app.plan.form import document_of, query_of, state_of
from app.plan.imported import state_of_document
from app.plan.notes import changes_of
from engine.advice import advised
from engine.estimate import Estimate, estimate
from engine.scenario import scenario_from
from tests.engine.plans import Plan, plans

HTMX = {"HX-Request": "true"}
PAGES = ("/plan", "/topology")
CROSSED = "rank_order=dp-tp-cp-ep-pp"  # TP over nodes: a note on both pages, with a change that helps


def of_address(address: str) -> Estimate:
    """What the form makes of an address."""
    return estimate(scenario_from(document_of(state_of(dict(parse_qsl(urlsplit(address).query))))))


def offers(text: str) -> dict[str, str]:
    """The links of notes, each with what it says to bring."""
    found = re.findall(r'<a class="note-action" href="([^"]+)">try it</a>:? ?([^<]*)</p>', text)
    return {html.unescape(address): gain for address, gain in found}


@pytest.mark.parametrize("path", PAGES)
def test_a_board_is_painted_before_anything_is_tried(client: TestClient, path: str) -> None:
    for address in (f"{path}?{CROSSED}", f"{path}/board?{CROSSED}"):
        board = client.get(address).text
        assert not offers(board) and "trying…" in board
        asks = re.search(r'id="plan-notes"\s+hx-get="([^"]+)"', board)
        assert asks
        assert offers(client.get(html.unescape(asks[1]), headers=HTMX).text)


@pytest.mark.parametrize("path", PAGES)
def test_tried_notes_say_what_their_link_brings(client: TestClient, path: str) -> None:
    part = client.get(f"{path}/advice?{CROSSED}", headers=HTMX).text
    assert "<html" not in part and "trying" not in part and "hx-get" not in part
    before = of_address(f"{path}?{CROSSED}")
    for address, gain in offers(part).items():
        after = of_address(address)
        assert address.startswith(path)
        assert after.step.seconds.value < before.step.seconds.value and "faster" in gain
        points = 100 * (after.mfu.causal.value - before.mfu.causal.value)
        assert f"MFU {points:+.1f} points" in gain


@pytest.mark.parametrize("path", PAGES)
def test_without_a_script_a_link_opens_the_notes_on_a_page_that_leads_back(client: TestClient, path: str) -> None:
    board = client.get(f"{path}?{CROSSED}").text
    link = re.search(r'<noscript><a class="note-action" href="([^"]+)"', board)
    assert link
    page = client.get(html.unescape(link[1])).text
    assert "<html" in page and offers(page)
    assert f'href="{path}?{CROSSED}"' in html.unescape(page)


def test_the_floor_keeps_what_one_looks_at(client: TestClient) -> None:
    found = offers(client.get(f"/topology/advice?{CROSSED}&you=9&colour=tp", headers=HTMX).text)
    assert found and all("you=9" in address and "colour=tp" in address for address in found)


@pytest.mark.parametrize("plan", plans(40, 21), ids=range(40))
def test_a_link_leads_to_exactly_the_plan_that_was_tried(plan: Plan) -> None:
    state, _ = state_of_document(plan)
    for advice in advised(estimate(scenario_from(document_of(state)))):
        if advice.trial and advice.trial.after:
            query = query_of({**state, **changes_of(advice.change)})
            assert of_address(f"/plan?{query}").scenario == advice.trial.after.scenario


def test_bytes_are_said_in_the_unit_that_was_chosen(client: TestClient) -> None:
    for units in ("GB", "GiB"):
        text = client.get(f"/plan/advice?zero=0&units={units}", headers=HTMX).text
        assert any(f" {units} " in gain for gain in offers(text).values())


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("zero=2&pp=1", {"stack": "with ZeRO 2: Megatron-Core, NeMo"}),
        ("zero=3&pp=1", {"zero": "changes the software: FSDP2, eager, not Megatron-Core, NeMo", "stack": "with ZeRO 3: FSDP2, eager, not Megatron-Core, NeMo"}),
        ("zero=3&pp=1&stack=megatron", {}),
    ],
)  # fmt: skip
def test_the_software_that_follows_from_zero_is_said_beside_both_controls(query: str, said: dict[str, str]) -> None:
    state = state_of(dict(parse_qsl(query)))
    remarks = Board(estimate(scenario_from(document_of(state))), state, False).remarks
    assert {name: words for name, words in remarks.items() if name in ("zero", "stack")} == said


def test_cutting_norms_without_tensor_parallelism_is_said_to_do_nothing() -> None:
    for tp, told in (("1", True), ("8", False)):
        state = state_of({"tp": tp})
        remarks = Board(estimate(scenario_from(document_of(state))), state, False).remarks
        assert ("sequence_parallel" in remarks) == told
