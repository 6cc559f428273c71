"""Without torch a recorded run of each demo is shown; the command line and torchrun write the same events as the server."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from app.cli import main as cli
from app.live.events import Family, document
from app.runner import launch, recordings
from app.runner.catalog import DEMOS, demo_named
from app.runner.event_kinds import RUN_EVENTS, RunEvent
from app.runner.fake import record
from app.runner.fake.event_kinds import TRACE_EVENTS
from tests.demo.torchrun import OLD_WORKER, WORKER, torchrun

SOAKED = 100
RECORDED = [name for name in DEMOS if (recordings.FOLDER / f"{name}.jsonl").exists()]


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_run_is_whole_and_went_as_predicted(name: str) -> None:
    events: list[Any] = recordings.recorded(name)
    assert events[0].KIND == "run.accepted" and events[0].demo == name
    assert events[1].versions["torch"] and events[1].date
    assert events[-1].LAST and events[-1].ok
    assert not events[0].by  # nobody's
    assert (recordings.FOLDER / f"{name}.jsonl").stat().st_size < 100_000
    assert "/home" not in str(events) and "/work" not in str(events)


RECORDINGS = [(RUN_EVENTS, recordings.FOLDER), (TRACE_EVENTS, record.RECORDED)]
KEPT = [(family, path) for family, folder in RECORDINGS for path in sorted(folder.glob("*.jsonl"))]


@pytest.mark.parametrize(("family", "path"), KEPT, ids=[path.stem for _, path in KEPT])
def test_what_is_read_of_a_recording_is_all_that_it_says(family: Family[Any], path: Path) -> None:
    text = path.read_bytes()
    assert [document(event) for event in family.read_lines(text)] == [json.loads(line) for line in text.splitlines()]


def test_where_torch_is_missing_the_recorded_run_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "can_run", lambda: False)

    async def play() -> list[RunEvent]:
        runner = launch.Runner()
        run = runner.submit(demo_named("ddp"), {"ranks": 2}, "test")
        events = [event async for event in run.follow()]
        await runner.close()
        assert run.state == "done"
        return events

    events = asyncio.run(play())
    assert all(event.recorded for event in events[1:])
    assert [event.seq for event in events] == list(range(1, len(events) + 1))


def test_the_command_line_gives_lines_of_json(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    assert cli.main(["demo", "ddp", "--ranks", "2", "layers=1", "steps=1", "--json"]) == 0
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert lines[-1]["event"] == "run.done" and lines[-1]["ok"]


def test_the_command_line_refuses_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["demo", "ddp", "batch=7"]) == 2
    assert capfd.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(("nodes", "worker"), [(1, OLD_WORKER), (2, WORKER)])
def test_torchrun_writes_the_same_events(tmp_path: Path, nodes: int, worker: Sequence[str]) -> None:
    """Two agents on this machine stand for two nodes: the ranks of both meet in one file, written by rank 0."""
    pytest.importorskip("torch")
    out, agents = torchrun(tmp_path, nodes, worker)
    assert all(agent.code == 0 for agent in agents), agents
    events: list[Any] = RUN_EVENTS.read_lines(out.read_bytes())
    assert [event.seq for event in events] == list(range(1, len(events) + 1)) and events[0].demo == "ddp"
    assert {event.rank for event in events if event.KIND == "step"} == {*range(2 * nodes), "ref"}
    assert events[-1].KIND == "run.done" and events[-1].ok


@pytest.mark.soak
def test_a_hundred_runs_of_torchrun_beside_a_busy_processor_end_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A rank that ended by a signal after all went well took its agent along, and the other agent waited for it."""
    pytest.importorskip("torch")
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    failed: dict[int, object] = {}
    try:
        for number in range(SOAKED):
            (folder := tmp_path / str(number)).mkdir()
            _, agents = torchrun(folder, 1 + number % 2, WORKER)
            if any(agent.code for agent in agents):
                failed[number] = agents
    finally:
        busy.kill()
        busy.wait()
    with capsys.disabled():
        print(f"\n{SOAKED - len(failed)} of {SOAKED} runs of torchrun ended 0")
    assert not failed


@pytest.mark.parametrize(("fails", "code"), [(False, 0), (True, 1)])
def test_a_worker_leaves_before_its_interpreter_ends(tmp_path: Path, fails: bool, code: int) -> None:
    """gloo's threads still ask for Python's lock then, and an interpreter that ends answers them with SIGABRT."""
    pytest.importorskip("torch")
    program = f"""
import atexit
from app.cli import main
from app.runner import worker
def run_placed(*_):
    if {fails}: raise RuntimeError("on purpose")
atexit.register(print, "the interpreter ended")
worker.run_placed = run_placed
main.main(["worker", "--demo", "ddp"])
"""
    place = {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2"}
    ran = subprocess.run([sys.executable, "-c", program], env=os.environ | place, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (code, "")
    assert ("on purpose" in ran.stderr) == fails


def test_a_worker_that_nobody_has_placed_is_refused(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.delenv("RANK", raising=False)
    assert cli.main(["worker", "--demo", "ddp"]) == 2
    assert "start it by torchrun" in capfd.readouterr().err


def test_a_worker_with_a_bad_knob_is_refused_before_it_meets_anyone(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    for name, value in {"RANK": "0", "WORLD_SIZE": "3", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "3"}.items():
        monkeypatch.setenv(name, value)
    assert cli.main(["worker", "--demo", "ddp", "batch=8"]) == 2
    assert "must divide it" in capfd.readouterr().err
