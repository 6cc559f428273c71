"""What is taken away from a plan, and plans pinned side by side."""

import csv
import io
import json
import re
import shlex
from html import unescape
from urllib.parse import urlencode

import pytest
from fastapi.testclient import TestClient

from app import __version__
from app.plan.form import document_of, state_of
from app.plan.pins import MOST, RESULTS, Pins, pin_of, query_text
from app.plan.presets import PLANS, RUNS, preset_queries
from engine.answer import estimate_answer
from engine.estimate import Estimate, estimate
from engine.language.units import seconds_text
from engine.scenario import scenario_from
from engine.workings import terms_of
from tests.app.conftest import Shardboard

EVERY = preset_queries((*PLANS, *RUNS))


@pytest.mark.parametrize("title", EVERY)
def test_the_file_of_a_plan_is_answered_alike_by_the_api(client: TestClient, title: str) -> None:
    kept = client.get(f"/plan/document.json?{EVERY[title]}")
    assert kept.headers["content-disposition"] == 'attachment; filename="plan.json"'
    answer = client.post("/api/estimate", content=kept.content).json()
    strip = client.get(f"/plan?{EVERY[title]}").text.split('id="plan-strip"')[1].split("</section>")[0]
    assert f"<b>{seconds_text(answer['step']['seconds'])}</b>" in strip


def test_the_command_answers_the_plan(client: TestClient, shardboard: Shardboard) -> None:
    page = client.get("/plan?pp=2&schedule=interleaved&vp=4").text
    line = re.search(r"<code>(.+?)</code>", page, re.DOTALL)
    assert line
    echo, document, pipe, *command = shlex.split(unescape(line[1]))
    assert (echo, pipe, command) == ("echo", "|", ["shardboard", "estimate", "-"])
    code, out, _ = shardboard(*command[1:], "--json", stdin=document.encode())
    assert code == 0 and json.loads(out)["step"]["seconds"] == estimate_answer(json.loads(document))["step"]["seconds"]


def test_the_table_holds_every_number_with_unit_and_source(client: TestClient) -> None:
    rows = list(csv.DictReader(io.StringIO(client.get("/plan/numbers.csv?pp=2").text)))
    terms = terms_of(estimate(scenario_from(document_of(state_of({"pp": "2"})))))
    assert [row["name"] for row in rows] == list(terms)
    for row in rows:
        assert float(row["value"]) == float(terms[row["name"]].value) and row["source"] and row["label"]
        assert not row["source"].startswith(("=", "+", "@"))


@pytest.mark.parametrize("address", ["/plan/document.json?tp=7", "/plan/numbers.csv?tp=7"])
def test_what_has_no_meaning_is_not_taken_away(client: TestClient, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 422 and "tp" in answer.text


def found(query: str) -> Estimate:
    return estimate(scenario_from(document_of(state_of(dict([query.split("=")]) if query else {}))))


def test_plans_stand_side_by_side_with_what_differs(client: TestClient) -> None:
    page = client.get("/plan/pins?" + urlencode([("plan", ""), ("plan", "pp=2")])).text
    assert "<mark>2</mark>" in page and "<mark>4</mark>" not in page
    assert page.count('scope="row"') == 1 + len(RESULTS) + 1  # one field differs
    first, second = (found(query).step.seconds.value for query in ("", "pp=2"))
    assert f"−{round(1e3 * (first - second))} ms" in page


def test_a_pin_says_which_version_gave_its_numbers_and_what_they_were(client: TestClient) -> None:
    now = query_text([pin_of("pp=2", found("pp=2"))])
    page = client.get(f"/plan/pins?{now}").text
    assert f"pinned with {__version__}" in page and "was " not in page.split("<tbody>")[-1]
    numbers = "~".join(
        "9.5" if result.name == "step" else f"{result.of(found('pp=2')).value:.6g}" for result in RESULTS
    )
    page = client.get("/plan/pins?" + urlencode([("plan", "pp=2"), ("was", f"0.0.1~{numbers}")])).text
    assert "was 9.5 s with 0.0.1" in page and page.count("was ") - page.count("it was") >= 1


@pytest.mark.parametrize("was", ["", "~", "x~1", "0.1~a~b~c~d~e~f", "~".join("9" * 400)])
def test_a_pin_whose_past_cannot_be_read_stands_without_it(client: TestClient, was: str) -> None:
    answer = client.get("/plan/pins?" + urlencode([("plan", "pp=2"), ("was", was)]))
    assert answer.status_code == 200 and " with 0" not in answer.text.split("<tbody>")[-1]


def test_a_pinned_plan_that_has_no_meaning_says_why(client: TestClient) -> None:
    page = client.get("/plan/pins?" + urlencode([("plan", ""), ("plan", "tp=7")])).text
    assert "tp = 7" in unescape(page)


def test_more_plans_than_a_screen_carries_are_refused(client: TestClient) -> None:
    answer = client.get("/plan/pins?" + urlencode([("plan", f"gpus={512 * n}") for n in range(1, MOST + 2)]))
    assert answer.status_code == 422 and f"at most {MOST}" in answer.text


def test_taking_a_pin_off_leaves_the_others() -> None:
    pins = Pins.of([("plan", ""), ("plan", "pp=2"), ("was", "1~2"), ("plan", "pp=1")])
    assert [
        pin.query for pin in Pins.of([("plan", pin.query) for pin in pins.pins if pin is not pins.pins[1]]).pins
    ] == ["", "pp=1"]
    assert "pp%3D2" not in pins.without(pins.pins[1]) and "pp%3D1" in pins.without(pins.pins[1])
