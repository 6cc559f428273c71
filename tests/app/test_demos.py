"""The demos' pages: what is predicted, what is refused, runs that are started, watched, kept, replayed and opened; no torch needed
for most, and never in this process."""

import html
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.demos.board import RunBoard, until
from app.demos.rows import knobs_text, value_text
from app.demos.view import demo_page
from app.live.events import lines_of, of_kind
from app.live.kept import Kept
from app.main import create_app
from app.runner.catalog import DEMOS, checked
from app.runner.event_kinds import RUN_EVENTS, Check, Fault, RunAccepted, RunDone, RunEvent, RunFailed, RunStarted, Step
from app.runner.fake.event_kinds import RoleCheck
from app.runner.fake.record import recorded, recorded_names
from app.runner.fake.request import INPUTS
from app.runner.recordings import can_run, recording_of
from app.runner.told import Told
from app.settings import ROOT, settings
from engine.language.refusal import Refusal

PATIENCE_S = 90
live = pytest.mark.skipif(not can_run(), reason="no torch here: only recorded runs")


@pytest.fixture(scope="module")
def served() -> Iterator[TestClient]:
    """One server with its lifespan: the processes it starts end with it."""
    with TestClient(create_app()) as client:
        yield client


def finished(client: TestClient, path: str) -> str:
    until_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < until_s:
        board = client.get(f"{path}/board").text
        if "data-over" in board:
            return board
        time.sleep(0.1)
    raise AssertionError("the run did not end")


def started(client: TestClient, name: str = "ddp", **knobs: object) -> str:
    answer = client.post(
        f"/demos/{name}/runs", data={key: str(value) for key, value in knobs.items()}, follow_redirects=False
    )
    assert answer.status_code == 303, answer.text[-500:]
    return answer.headers["location"].partition("?")[0]


@pytest.mark.parametrize("name", DEMOS)
def test_every_demo_says_beforehand_what_it_will_show(client: TestClient, name: str) -> None:
    page = client.get(f"/demos/{name}")
    assert page.status_code == 200
    assert DEMOS[name].title in html.unescape(page.text)
    assert client.get(f"/demos/{name}/prediction").status_code == 200


def test_the_prediction_follows_the_knobs(client: TestClient) -> None:
    small, large = (client.get(f"/demos/ddp/prediction?layers={layers}").text for layers in (2, 4))
    assert small != large and "3,707,392 B" in large


def test_what_has_no_meaning_is_told_beside_its_knob(client: TestClient) -> None:
    for query, words in (
        ("ranks=3", "must divide it"),
        ("ranks=99", "from"),
        ("steps=x", "whole number"),
        ("frob=1", "no such knob"),
    ):
        page = html.unescape(client.get(f"/demos/ddp?{query}").text)
        assert words in page, query
    posted = client.post("/demos/ddp/runs", data={"ranks": "3"})
    assert posted.status_code == 422 and "torch accepts unequal slices in silence" in html.unescape(posted.text)


def test_nobody_elses_page_may_start_or_stop_runs(client: TestClient) -> None:
    for path in ("/demos/ddp/runs", "/demos/runs/AAAAAAAAAAAA/cancel", "/demos/open"):
        for headers in ({"Origin": "http://elsewhere.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
            assert client.post(path, data={}, headers=headers).status_code == 403


def test_a_demo_or_run_that_is_not_there_is_told(client: TestClient) -> None:
    assert client.get("/demos/nope").status_code == 404
    assert client.post("/demos/nope/runs").status_code == 404
    for path in ("", "/board", "/events", "/events.jsonl"):
        assert client.get(f"/demos/runs/AAAAAAAAAAAA{path}").status_code == 404
        assert client.get(f"/demos/runs/..%2F..%2Fetc%2Fpasswd{path}").status_code == 404


@live
def test_a_run_is_started_watched_kept_and_replayed(served: TestClient) -> None:
    path = started(served, steps=3, layers=2, hidden=64)
    board = finished(served, path)
    assert "As predicted" in board and 'data-ok="true"' in board and 'data-ok="false"' not in board
    stream = served.get(f"{path}/events")
    assert "text/event-stream" in stream.headers["content-type"] and "event: over" in stream.text
    ids = [int(found) for found in re.findall(r"^id: (\d+)", stream.text, re.MULTILINE)]
    assert ids == list(range(1, len(ids) + 1))
    again = served.get(f"{path}/events", headers={"Last-Event-ID": str(ids[-2])})
    assert re.findall(r"^id: (\d+)", again.text, re.MULTILINE) == [str(ids[-1])]
    lines = served.get(f"{path}/events.jsonl").content
    assert [event.seq for event in RUN_EVENTS.read_lines(lines)] == ids
    early = served.get(f"{path}/board?t=0.0001").text
    assert "data-over" not in early and "As predicted" not in early
    opened = served.post("/demos/open", data={"events": lines.decode()})
    assert opened.status_code == 200 and "As predicted" in opened.text


@live
def test_a_run_that_was_stopped_says_so_and_twice_does_no_harm(served: TestClient) -> None:
    path = started(served, steps=20, hidden=256)
    for _ in range(2):
        assert served.post(f"{path}/cancel", follow_redirects=False).status_code == 303
    assert "cancelled" in finished(served, path)


@live
def test_a_run_is_stopped_while_it_goes_on_and_made_again_once_it_is_over(served: TestClient) -> None:
    """Neither is in the page when it cannot be asked for; the last board brings what comes after."""
    path = started(served, steps=20, hidden=256)
    page, board = served.get(path).text, served.get(f"{path}/board").text
    assert "data-live" in page and "Stop it" in page and "Run it again" not in page + board
    served.post(f"{path}/cancel")
    board, page = finished(served, path), served.get(path).text
    for text in (board, page, served.get(f"{path}/board?t=0").text):
        assert text.count("Run it again") == 1 and "Stop it" not in text
    assert board.count('hx-swap-oob="true"') == 1 and "hx-swap-oob" not in page


@pytest.mark.parametrize("name", DEMOS)
def test_a_guess_is_made_before_the_prediction_is_seen(client: TestClient, name: str) -> None:
    """Where there is a number to guess, the table that gives it away is folded, and nothing else on the page has it."""
    page = client.get(f"/demos/{name}").text
    held = next((row.predicted for row in demo_page(DEMOS[name], {}).rows if row.name == "state.optimizer"), "")
    (folded,) = re.findall(r'<details class="demos-prediction"( open)?>', page)
    assert bool(folded) != ('name="guess"' in page) and bool(held) == ('name="guess"' in page)
    assert not held or held not in page.partition('<details class="demos-prediction"')[0]


@live
def test_a_visitor_has_one_run_at_a_time(served: TestClient) -> None:
    path = started(served, steps=20, hidden=256)
    second = served.post("/demos/ddp/runs", data={"steps": "2"}, follow_redirects=False)
    assert second.status_code == 503 and second.headers["retry-after"] and "one run at a time" in second.text
    assert f'href="{path}"' in second.text
    served.post(f"{path}/cancel")
    finished(served, path)


SERVED = """
import sys, time
from starlette.testclient import TestClient
from app.main import create_app
with TestClient(create_app()) as client:
    for path in ("/demos", "/demos/ddp", "/demos/fake"):
        assert client.get(path).status_code == 200
    run = client.post("/demos/ddp/runs", data={"steps": "1", "layers": "1", "hidden": "64"}, follow_redirects=False)
    until = time.monotonic() + 90
    while "data-over" not in client.get(run.headers["location"] + "/board").text and time.monotonic() < until:
        time.sleep(0.1)
print("torch" in sys.modules)
"""


@pytest.mark.demo
def test_the_server_never_imports_torch() -> None:
    done = subprocess.run([sys.executable, "-c", SERVED], capture_output=True, text=True, timeout=150, cwd=ROOT)
    assert done.stdout.strip() == "False", done.stderr[-500:]


@live
def test_only_who_has_started_a_run_may_stop_it(served: TestClient) -> None:
    path = started(served, steps=20, hidden=256)
    somebody_else = TestClient(served.app)
    assert somebody_else.post(f"{path}/cancel").status_code == 403
    served.post(f"{path}/cancel")
    assert "cancelled" in finished(served, path)


def test_hosting_for_the_public_starts_nothing(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHARDBOARD_DEMOS", "off")
    settings.cache_clear()
    try:
        assert "No processes are started here" in client.get("/demos").text
        assert "Show the recorded run" in client.get("/demos/ddp").text
        with TestClient(create_app()) as hosted:
            board = finished(hosted, started(hosted, steps=3))
            assert "· recorded" in board and "As predicted" in board
            refused = hosted.post("/demos/fake/runs", data={})
            assert "no processes are started here" in refused.text
    finally:
        monkeypatch.undo()
        settings.cache_clear()


def test_a_run_that_is_kept_is_shown_and_a_trace_is_no_run(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.demos.served.kept", lambda: Kept(tmp_path))
    Kept(tmp_path).begin("a-kept-run", lines_of(a_run())).end()
    Kept(tmp_path).begin("a-kept-trace", lines_of(recorded("llama-3-70b-1024"))).end()
    assert "data-over" in client.get("/demos/runs/a-kept-run").text
    assert "1,024 ranks" in client.get("/demos/fake/runs/a-kept-trace").text
    for name in ("a-kept-run", "a-kept-trace"):
        assert "event: over" in client.get(f"/demos/runs/{name}/events").text
        assert client.get(f"/demos/runs/{name}/events.jsonl").content == Kept(tmp_path).load(name)
    assert client.get("/demos/runs/a-kept-trace").status_code == 404
    assert client.get("/demos/fake/runs/a-kept-run").status_code == 404


STEP = (
    '{"event": "step", "t": 1, "rank": 0, "step": 0, "ms": 1, "t0": 0, "t1": 1, "tokens": 8, "phases": {}, "loss": %s}'
)
BAD = [
    ("", "is empty"),
    ("{", "line 1 is no JSON"),
    ("[1]", "line 1 is no event"),
    ('{"event": 5}', "no event"),
    ('{"event": "step", "rank": 0}', "line 1 is no step event"),
    ('{"event": "state", "rank": 0, "param_bytes": "x"}', "state event"),
    ('{"event": "comm", "t": 1, "rank": 0, "step": 0, "calls": [{"axis": 3}]}', "events.calls.0.axis = 3"),
    ('{"event": "pipe", "rank": 0, "step": 0, "ops": [5]}', "line 1 is no pipe event"),
    ('{"event": "check"}', "events.name: line 1 is no check event"),
    ('{"event": "run.started", "predicted": "x"}', "line 1 is no run.started event"),
    (STEP % "NaN", ""),
    (STEP % "true", "events.loss = true"),
    (STEP % '"6.2"', "needs a number; the nearest that works: 6.2"),
    (STEP % "1e999", "needs a number from -1e+38 to 1e+38; the nearest that works: 1e+38"),
    (STEP % "6.2" + '\n{"event": "stop"}', "line 2 is no event that is known here"),
    ('{"event": "fault", "t": 1, "rank": 0, "what": "\\ud800"}', "half of a surrogate pair"),
    ('\ufeff{"event": "run.done", "reason": "done", "wall_s": 1, "ok": true}', ""),
    ('{"event": "<script>"}', "line 1 is no event that is known here"),
]


@pytest.mark.parametrize(("text", "words"), BAD, ids=[text[:30] for text, _ in BAD])
def test_events_that_no_run_wrote_are_a_sentence(client: TestClient, text: str, words: str) -> None:
    answer = client.post("/demos/open", data={"events": text})
    assert answer.status_code == (422 if words else 200) and "<script>" not in answer.text.split("<main")[1]
    assert words in html.unescape(answer.text)


def test_what_torchrun_has_left_is_opened_though_nobody_had_accepted_it(client: TestClient) -> None:
    first, *others = a_run()[1:]
    assert isinstance(first, RunStarted)
    left = [replace(first, demo="ddp", params={"steps": 2}, start_s=None), *others]
    page = client.post("/demos/open", data={"events": lines_of(left).decode()}).text
    assert "done after 1.5 s<" in page and "As predicted" in page


FAILING = [name for name, demo in DEMOS.items() if demo.group == "faults" and demo.predict(checked(demo, {})).failure]


@pytest.mark.parametrize("name", FAILING)
def test_what_failed_is_told_in_our_words_and_pytorchs_are_folded_beneath(client: TestClient, name: str) -> None:
    """Recorded or from elsewhere: the verdict names a rank; what the framework said of it is there, closed."""
    text = recording_of(name).read_text()
    end = RUN_EVENTS.read_lines(text.encode())[-1]
    assert isinstance(end, RunFailed)
    page = html.unescape(client.post("/demos/open", data={"events": text}).text)
    verdict = re.search(r'<p class="refusal demos-cause">(.*?)</p>', page, re.DOTALL)
    assert verdict and verdict[1] == end.message and re.match(r"rank \d ", verdict[1])
    assert not re.search(r"FingerPrint|monitoredBarrier|Error|enforce|\[\[", verdict[1])
    folded = re.search(r'<details class="demos-said">(.*?)</details>', page, re.DOTALL)
    assert (folded is not None and end.said in folded[1]) == bool(end.said)
    assert bool(end.said) == (name in ("mismatch", "out-of-memory"))


def test_too_many_events_are_refused() -> None:
    with pytest.raises(Refusal, match="at most"):
        RUN_EVENTS.read_lines(b"x" * 3_000_000)
    with pytest.raises(Refusal, match="more than"):
        RUN_EVENTS.read_lines(lines_of([Fault(1.0, 0, "sleeps")]) * 6_001)


def a_run() -> list[RunEvent]:
    told = Told(loss_tolerance=1e-5, state=(), calls=(), wire_bytes=None, terms=(), notes=(), fails=None)
    versions = {"torch": "2.13.0"}
    return [
        RunAccepted("ddp", {"steps": 2}, place=1),
        RunStarted(ranks=2, seed=20, versions=versions, cold=True, start_s=3.2, predicted=told),
        *(
            Step(step + 0.5, rank, step, 6.0 - step, ms=500.0, t0=step, t1=step + 0.5, tokens=8, phases={})
            for step in range(2)
            for rank in (0, 1, "ref")
        ),
        Check("loss", "loss", 0.0, 1e-7, "nats", 1e-5, True, ""),
        RunDone(reason="done", wall_s=1.5, ok=True),
    ]


def test_a_board_says_how_far_the_run_is() -> None:
    run = a_run()
    assert RunBoard(run[:1]).words == "waiting: 1 run before this one"
    assert RunBoard(run[:2]).words == "cold start: torch took 3.2 s to load"
    assert RunBoard(run[:3]).words == "step 1 of 2"
    assert RunBoard(run).words == "done after 1.5 s, cold start 3.2 s"
    assert RunBoard(run[:2]).ok is None and RunBoard(run).ok is True


def test_a_replay_ends_with_the_verdict() -> None:
    run = a_run()
    assert not RunBoard(until(run, 0.6)).over and RunBoard(until(run, 0.6)).step == 1
    assert RunBoard(until(run, 1.5)).over and until(run, None) == run


def test_values_of_a_verdict_are_told_exactly() -> None:
    assert value_text((6_952_960, 6_817_792), "bytes") == "6,952,960 B / 6,817,792 B"
    assert value_text(tuple(range(9)), "calls") == "0 to 8"
    assert value_text(float("inf"), "nats") == "no number" and value_text(None, "s") == "not measured"
    assert json.loads(lines_of(a_run()).splitlines()[0])["event"] == "run.accepted"
    assert RUN_EVENTS.read_lines(lines_of(a_run())) == a_run()


@pytest.mark.parametrize("demo", [*DEMOS, "fake"])
def test_each_setting_is_called_as_its_form_calls_it(demo: str) -> None:
    knobs = INPUTS if demo == "fake" else DEMOS[demo].knobs
    values = {knob.name: knob.default for knob in knobs}
    said = knobs_text(demo, values).split(" · ")
    assert len(said) == len(knobs)
    for knob, words in zip(knobs, said, strict=True):
        own = knob.label.rpartition(" · ")[2].partition(",")[0]
        assert words.startswith(f"{own} "), knob.name


def test_a_recorded_trace_of_a_thousand_ranks_is_shown_with_its_command(client: TestClient) -> None:
    page = html.unescape(client.get("/demos/fake/recorded/llama-3-70b-1024").text)
    assert "1,024 ranks" in page and "all as predicted" in page and "recorded 20" in page
    assert "shardboard demo fake model=llama-3-70b tp=8" in page and "for 512 ranks" in page
    assert client.get("/demos/fake/recorded/nope").status_code == 404


def test_a_trace_that_has_no_meaning_is_told_beside_its_field(client: TestClient) -> None:
    for query, words in (
        ("tp=16", "key-value heads"),
        ("layers_per_stage=x", "whole number"),
        ("model=gpt-9", "no dense Llama of the catalogue"),
        ("frob=1", ""),
    ):
        assert words in html.unescape(client.get(f"/demos/fake?{query}").text), query
    deep = client.post("/demos/fake/runs", data={"layers_per_stage": "0", "micro_batches": "16"})
    assert deep.status_code == 422 and "from the command line whole models" in html.unescape(deep.text)


@live
def test_a_trace_is_made_from_the_page_and_kept(served: TestClient) -> None:
    answer = served.post(
        "/demos/fake/runs", data={"layers_per_stage": "1", "pp": "2", "micro_batches": "2"}, follow_redirects=False
    )
    assert answer.status_code == 303
    path = answer.headers["location"]
    board = finished(served, path)
    assert "all as predicted" in board and 'data-ok="false"' not in board
    assert "event: over" in served.get(f"/demos/runs/{path.rpartition('/')[2]}/events").text


@live
def test_a_trace_that_is_stopped_leaves_nothing(served: TestClient) -> None:
    path = served.post("/demos/fake/runs", data={}, follow_redirects=False).headers["location"]
    refused = served.post("/demos/fake/runs", data={})
    assert refused.status_code == 503 and refused.text.count("another trace is under way") == 1
    assert f'href="{path}"' in refused.text
    assert (
        f'href="{path}"' not in TestClient(served.app).post("/demos/fake/runs", data={}).text
    )  # nobody else's business
    assert served.get(f"{path}/cancel", follow_redirects=False).headers["location"] == path
    served.post(f"{path}/cancel")
    assert "cancelled" in finished(served, path)


@pytest.mark.parametrize("name", recorded_names())
def test_a_trace_says_in_how_many_rows_the_planner_differs(client: TestClient, name: str) -> None:
    """Its headline does not hide that what PyTorch keeps is not what the planner reckons with."""
    checks = of_kind(recorded(name), RoleCheck)
    other = [
        check
        for check in checks
        if check.engine is not None and abs(check.engine - check.measured) > check.tolerance * abs(check.engine)
    ]
    assert any(check.name == "kept of one layer and micro-batch" for check in other)
    page = client.get(f"/demos/fake/recorded/{name}").text
    assert f"the planner's own figure differs in {len(other)}" in html.unescape(page)
