"""What was acknowledged outlives its server: killed in the middle of a run, it is told by the next one; what cannot be written is said."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.live.events import lines_of
from app.live.kept import Kept
from app.live.log import EventLog
from app.main import create_app
from app.runner.event_kinds import RUN_EVENTS, RunAccepted, RunDone, RunEvent, RunInterrupted
from app.settings import settings
from tests.app.test_ending import RUN, asked, opened, serving

COOKIE = re.compile(rb"set-cookie: (visitor=[^;]+)")
PATIENCE_S = 60
pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks and signals as POSIX has them")


def got(port: int, path: str, cookie: bytes = b"") -> bytes:
    head = b"GET %s HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncookie: %s\r\n\r\n"
    return asked(port, head % (path.encode(), cookie))


@pytest.mark.demo
def test_a_run_whose_server_is_killed_is_told_and_listed_as_interrupted(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="a run needs torch, which DEMOS= leaves out")
    fields = b"steps=20&hidden=256"
    with serving(SHARDBOARD_DATA=str(tmp_path)) as (server, port), opened(port, RUN % (len(fields), fields)) as made:
        answer = made.recv(65536)
        place, cookie = re.search(rb"location: (\S+)", answer), COOKIE.search(answer)
        assert place and cookie
        path = place[1].decode()
        until = time.monotonic() + PATIENCE_S
        while b"rank.ready" not in got(port, f"{path}/events.jsonl", cookie[1]):
            assert time.monotonic() < until, "the ranks never met"
            time.sleep(0.2)
        server.kill()  # no signal that it could catch
        server.wait(PATIENCE_S)
    with serving(SHARDBOARD_DATA=str(tmp_path)) as (_, port):
        page = got(port, path, cookie[1]).decode()
        assert " 200 " in page and "interrupted" in page and "the server ended while this was under way" in page
        assert b"rank.ready" in got(port, f"{path}/events.jsonl", cookie[1])
        listed = got(port, "/demos", cookie[1]).decode()
        assert path in listed and "<b>interrupted</b>" in listed
        assert path not in got(port, "/demos").decode()  # nobody else's business


def test_what_was_under_way_gets_an_end_and_what_is_under_way_does_not(tmp_path: Path) -> None:
    kept, first = Kept(tmp_path), lines_of([RunAccepted("ddp", {}, 0)])
    died = kept.begin("AAAAAAAA", first + b'{"cut short')
    died._file.close()  # as the kernel does with a process that is gone
    alive = kept.begin("BBBBBBBB", first)
    (tmp_path / "CCCCCCCC.part").write_bytes(b"of an older version")
    assert kept.end_interrupted(lambda number: lines_of([RunInterrupted(seq=number, reason="gone")])) == ["AAAAAAAA"]
    read = kept.load("AAAAAAAA")
    assert read and [type(event) for event in RUN_EVENTS.read_lines(read)] == [RunAccepted, RunInterrupted]
    assert kept.load("BBBBBBBB") == first and not list(tmp_path.glob("*.part"))
    alive.add(lines_of([RunDone(reason="all ranks have ended", wall_s=1.0, ok=True, seq=2)]))
    alive.end()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["AAAAAAAA.jsonl", "BBBBBBBB.jsonl"]


def test_two_first_starts_at_once_both_build_their_files(tmp_path: Path) -> None:
    build = "from app.settings import settings; from app.web.assets import build; print(len(build(settings()).names))"
    starts = [
        subprocess.Popen(
            [sys.executable, "-c", build], env={"SHARDBOARD_CACHE": str(tmp_path), "PATH": ""}, stdout=subprocess.PIPE
        )
        for _ in range(2)
    ]
    said = [start.communicate(timeout=300)[0] for start in starts]
    assert [start.returncode for start in starts] == [0, 0] and said[0] == said[1]
    assert not list(tmp_path.rglob("*.part"))


def test_a_folder_that_cannot_be_written_is_named_with_its_setting(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file where a folder should be")
    ran = subprocess.run(
        [sys.executable, "-m", "app", "serve", "--port", "0"],
        env={"SHARDBOARD_CACHE": str(taken / "in"), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 2 and str(taken) in ran.stderr and "SHARDBOARD_CACHE" in ran.stderr
    assert "Traceback" not in ran.stderr and "is on http" not in ran.stderr


def test_a_run_that_cannot_be_written_down_says_so(tmp_path: Path) -> None:
    """At once and for as long as it can be seen: it is here now, and gone with the server."""
    (tmp_path / "runs").write_text("a file where a folder should be")
    log: EventLog[RunEvent] = EventLog()
    log.add(RunAccepted("ddp", {}, 0))
    log.keep(Kept(tmp_path / "runs"), "AAAAAAAA")
    assert log.unkept == "not a directory" or "exists" in log.unkept
    log.add(RunDone(reason="all ranks have ended", wall_s=1.0, ok=True))
    assert len(log.events) == 2 and log.unkept


@pytest.mark.demo
def test_what_could_not_be_kept_is_not_headed_by_done_and_is_listed_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runs").write_text("a file where a folder should be")
    monkeypatch.setenv("SHARDBOARD_DATA", str(tmp_path))
    monkeypatch.setenv("SHARDBOARD_DEMOS", "off")  # recorded runs are written down like others
    settings.cache_clear()
    try:
        with TestClient(create_app()) as client:
            path = client.post("/demos/ddp/runs", data={}, follow_redirects=False).headers["location"]
            until = time.monotonic() + PATIENCE_S
            while "data-over" not in (page := client.get(path).text):
                assert time.monotonic() < until, "the recorded run did not end"
                time.sleep(0.1)
            state = re.search(r'<p class="demos-state ([\w-]+)" role="status">(.*?)</p>', page, re.DOTALL)
            assert state and state[1] == "demos-state-unkept" and "but it could not be kept" in state[2]
            assert "<b>done, not kept</b>" in client.get("/demos").text
    finally:
        monkeypatch.undo()
        settings.cache_clear()


def test_a_disk_that_fills_up_keeps_what_was_written(tmp_path: Path) -> None:
    log: EventLog[RunEvent] = EventLog()
    log.add(RunAccepted("ddp", {}, 0))
    log.keep(Kept(tmp_path), "AAAAAAAA")
    assert log._writing and not log.unkept
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no device that is always full")
    log._writing._file.close()
    log._writing._file = full.open("wb", buffering=0)
    log.add(RunDone(reason="all ranks have ended", wall_s=1.0, ok=True))
    assert "no space" in log.unkept
    kept = Kept(tmp_path)
    assert kept.end_interrupted(lambda number: lines_of([RunInterrupted(seq=number, reason="gone")])) == ["AAAAAAAA"]
    read = kept.load("AAAAAAAA")
    assert read and [type(event) for event in RUN_EVENTS.read_lines(read)] == [RunAccepted, RunInterrupted]
