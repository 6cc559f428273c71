"""The processes that trace fake ranks: bounded as ranks are, gone when they are told to, and gone with their server."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from app.demos.traces import Traces
from app.runner.apart import FOLDER
from app.runner.fake import run as running
from app.runner.fake.event_kinds import RoleReady, TraceCancelled, TraceEvent, TraceFailed
from app.runner.fake.request import fake_request
from app.runner.fake.run import Tracing
from app.runner.forked import CPU_S, FILE_BYTES, FILES, NICE
from tests.demo.conftest import alive, children, soon

resource = pytest.importorskip("resource", reason="limits as POSIX has them")
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
    pytest.mark.usefixtures("torch_here"),
]
LONG = {"layers_per_stage": 8, "micro_batches": 16}  # no role is done before a test has looked at it
FOREVER = "import time; time.sleep(3600)"
PATIENCE_S = 120


@pytest.fixture
def torch_here() -> None:
    pytest.importorskip("torch")


def folders(where: Path) -> list[Path]:
    return list(where.glob(f"{FOLDER}{os.getpid()}-*"))


def family(pid: int) -> list[int]:
    """A process, those it has forked, and those."""
    return [pid, *(each for child in children(pid) for each in family(child))]


def test_a_role_has_the_limits_of_a_rank() -> None:
    tracing = Tracing(fake_request(LONG))
    events = tracing.events()
    try:
        assert any(isinstance(event, RoleReady) for event in events)
        assert tracing._process
        roles = children(tracing._process.pid)
        assert roles
        for role in roles:
            for limit, most in (
                (resource.RLIMIT_NOFILE, FILES),
                (resource.RLIMIT_FSIZE, FILE_BYTES),
                (resource.RLIMIT_CORE, 0),
            ):
                # one role may say it is ready before the other has settled
                assert soon(lambda role=role, limit=limit, most=most: resource.prlimit(role, limit) == (most, most))
            assert soon(lambda role=role: CPU_S <= resource.prlimit(role, resource.RLIMIT_CPU)[1] < 10 * CPU_S)
            assert os.path.exists("/dev/nvidia0") or resource.prlimit(role, resource.RLIMIT_AS)[1] > 0
            assert soon(lambda role=role: os.getpriority(os.PRIO_PROCESS, role) >= NICE)
            environment = Path(f"/proc/{role}/environ").read_bytes()
            assert b"PATH=" in environment and b"PYTEST_CURRENT_TEST" not in environment
    finally:
        events.close()
    assert soon(lambda: not any(map(alive, roles)))


def test_whoever_stops_listening_ends_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tracing = Tracing(fake_request(LONG))
    events = tracing.events()
    assert any(isinstance(event, RoleReady) for event in events)
    assert tracing._process and len(folders(tmp_path)) == 1
    all_ = family(tracing._process.pid)
    events.close()
    assert len(all_) > 1 and soon(lambda: not any(map(alive, all_)))
    assert not folders(tmp_path)


def test_a_trace_that_is_cancelled_ends_at_once_though_it_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would go on for an hour: only its death lets this test end."""
    monkeypatch.setattr(running, "PROGRAM", ("-c", FOREVER))

    async def cancel() -> TraceEvent:
        traces = Traces()
        trace = traces.submit(fake_request({}), "me")
        while trace.tracing._process is None:
            await asyncio.sleep(0.01)
        await traces.cancel(trace.id)
        async with asyncio.timeout(PATIENCE_S):
            async for _ in trace.follow():
                pass
        assert not alive(trace.tracing._process.pid)
        await traces.close()
        return trace.events[-1]

    assert isinstance(asyncio.run(cancel()), TraceCancelled)


def test_a_trace_that_is_cancelled_before_it_began_starts_nothing_that_stays() -> None:
    tracing = Tracing(fake_request({}))
    tracing.end()
    kinds = [event.KIND for event in tracing.events()]
    assert kinds == ["run.accepted", "rank.error", "run.failed"]
    assert tracing._process and not alive(tracing._process.pid)


def test_what_keeps_a_trace_from_starting_is_told_and_the_next_starts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken torch: its last words are shown, whatever came before them, each time."""
    noise, error = (
        "print('noise ' * 10_000, file=sys.stderr)",
        "sys.exit('ImportError: /opt/lib/libcudart.so.12: cannot open')",
    )
    broken = f"import sys; {noise}; {error}"
    monkeypatch.setattr(running, "PROGRAM", ("-c", broken))
    for _ in range(2):
        *_, last = running.run(fake_request({}))
        assert isinstance(last, TraceFailed) and "another trace starts anew" in last.message
        assert last.said.endswith("ImportError: libcudart.so.12: cannot open")
    monkeypatch.undo()
    *_, last = running.run(fake_request({"pp": 2, "layers_per_stage": 1}))
    assert last.KIND == "run.done"


SERVER = f"""
    import time
    from app.runner.fake.event_kinds import RoleReady
    from app.runner.fake.request import fake_request
    from app.runner.fake.run import Tracing

    tracing = Tracing(fake_request({LONG}))
    for event in tracing.events():
        if isinstance(event, RoleReady):
            print(tracing._process.pid, flush=True)
            time.sleep(3600)
"""


def test_a_server_that_is_killed_takes_its_trace_with_it() -> None:
    server = subprocess.Popen([sys.executable, "-c", textwrap.dedent(SERVER)], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        all_ = family(int(server.stdout.readline()))
    finally:
        server.send_signal(signal.SIGKILL)
        server.wait()
    assert len(all_) > 1
    assert soon(lambda: not any(map(alive, all_)))
