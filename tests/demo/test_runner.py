"""One run at a time, and nothing left of it: whatever is cancelled, killed or asked for at once."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from app.runner import link
from app.runner.apart import SAID, sweep
from app.runner.launch import Run
from engine.language.refusal import Refusal
from tests.demo.conftest import Stage, alive, children, of, soon

LONG = {"ranks": 2, "steps": 20, "layers": 4}


async def started(run: Run, kind: str = "step") -> None:
    """Until the run has said this for the first time."""
    async for event in run.follow():
        if kind == event.KIND:
            return


async def ended(run: Run) -> str:
    return [event.KIND async for event in run.follow()][-1]


def test_a_cancelled_run_is_gone_at_once(stage: Stage) -> None:
    async def cancel() -> Run:
        run = stage.submit("ddp", **LONG)
        await started(run)
        ranks = children(stage.zygote)
        assert len(ranks) == 3
        await stage.runner.cancel(run.id)
        await stage.runner.cancel(run.id)
        assert await ended(run) == "run.cancelled"
        await stage.runner.cancel(run.id)
        await stage.runner.cancel("no such run")
        assert not any(map(alive, ranks))
        return run

    run = stage.wait(cancel())
    assert run.state == "cancelled" and of(run.events, "run.done") == []
    assert children(stage.zygote) == []


def test_a_run_that_takes_too_long_is_stopped(stage: Stage) -> None:
    stage.runner.limit_s = 1.0
    try:
        end = stage.run("hang-rank", ranks=2, at=0, patience=8)[-1]
    finally:
        stage.runner.limit_s = 30.0
    assert end.KIND == "run.cancelled" and "may take no longer" in end.reason
    assert children(stage.zygote) == []


def test_twenty_at_once_are_queued_or_refused(stage: Stage) -> None:
    async def submit() -> tuple[list[Run], list[Refusal]]:
        runs, refused = [], []
        for number in range(20):
            try:
                runs.append(stage.submit("ddp", f"visitor {number}", ranks=2, steps=1, layers=1))
            except Refusal as refusal:
                refused.append(refusal)
        for run in runs[2:]:
            await stage.runner.cancel(run.id)
        for run in runs:
            await ended(run)
        return runs, refused

    runs, refused = stage.wait(submit())
    assert [run.state for run in runs] == ["done", "done", *["cancelled"] * 4]
    assert len(refused) == 14 and {refusal.code for refusal in refused} == {"busy"}
    assert children(stage.zygote) == []


def test_a_visitor_has_one_run_at_a_time(stage: Stage) -> None:
    async def twice() -> Refusal:
        run = stage.submit("ddp", "me", **LONG)
        with pytest.raises(Refusal) as refusal:
            stage.submit("ddp", "me", **LONG)
        await stage.runner.cancel(run.id)
        await ended(run)
        return refusal.value

    assert stage.wait(twice()).code == "one-each"


def test_a_follower_that_goes_changes_nothing_and_one_that_comes_back_goes_on(stage: Stage) -> None:
    async def follow() -> None:
        run = stage.submit("ddp", ranks=2)
        follower = run.follow()
        seen = [await anext(follower) for _ in range(4)]
        assert isinstance(follower, AsyncGenerator)
        await follower.aclose()
        again = [event async for event in run.follow(after=seen[-1].seq)]
        assert seen + again == run.events and run.state == "done"

    stage.wait(follow())


def test_a_killed_zygote_ends_the_run_and_the_next_starts_another(stage: Stage) -> None:
    async def kill() -> tuple[Run, list[int], int]:
        run = stage.submit("ddp", **LONG)
        await started(run)
        ranks, zygote = children(stage.zygote), stage.zygote
        os.kill(zygote, signal.SIGKILL)
        assert await ended(run) == "run.failed"
        return run, ranks, zygote

    run, ranks, zygote = stage.wait(kill())
    assert "has died" in run.events[-1].message
    assert soon(lambda: not any(map(alive, [zygote, *ranks])))
    again = stage.run("ddp", ranks=2, steps=1)
    assert again[1].cold and again[-1].KIND == "run.done"


def test_what_keeps_ranks_from_starting_is_told_and_the_next_run_tries_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken torch: its own words are shown, each time, and once it is whole again the run is made."""
    stage.wait(stage.runner._drop_link())
    broken = "import sys; sys.exit('ImportError: libcudart.so.12: cannot open shared object file')"
    monkeypatch.setattr(link, "PROGRAM", ("-c", broken))
    for _ in range(2):
        failed = stage.run("ddp", ranks=2, steps=1)[-1]
        assert failed.KIND == "run.failed" and "libcudart.so.12: cannot open" in failed.said
        assert "another run tries to start it again" in failed.message
    monkeypatch.undo()
    assert stage.run("ddp", ranks=2, steps=1)[-1].KIND == "run.done"


SERVER = """
    import asyncio, sys
    from app.runner.catalog import demo_named
    from app.runner.launch import Runner

    async def main():
        runner = Runner()
        run = runner.submit(demo_named("ddp"), {"ranks": 2, "steps": 20, "layers": 8, "hidden": 256}, "server")
        async for event in run.follow():
            if event.KIND == "step":
                print(runner._link.pid, runner._link._folder, flush=True)
                await asyncio.sleep(60)

    asyncio.run(main())
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_server_that_stops_takes_everything_with_it(how: signal.Signals) -> None:
    pytest.importorskip("torch")
    server = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SERVER)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert server.stdout is not None
    zygote, folder = server.stdout.readline().split()
    ranks = children(int(zygote))
    server.send_signal(how)
    server.wait()
    assert len(ranks) == 3
    assert soon(lambda: not any(map(alive, [int(zygote), *ranks])))
    assert soon(lambda: not Path(folder).exists())


def test_no_rank_listens_to_the_world_and_none_leaves_a_file(stage: Stage) -> None:
    async def look() -> tuple[list[str], str]:
        run = stage.submit("ddp", **LONG)
        await started(run)
        addresses = [address for pid in children(stage.zygote) for address in listening(pid)]
        assert stage.runner._link is not None
        folder = stage.runner._link._folder
        assert os.stat(folder).st_mode & 0o077 == 0
        await stage.runner.cancel(run.id)
        await ended(run)
        return addresses, folder

    addresses, folder = stage.wait(look())
    assert addresses and set(addresses) == {"0100007F"}
    assert os.listdir(folder) == [SAID]  # of the zygote itself


def listening(pid: int) -> list[str]:
    """Addresses (as the kernel writes them) on which a process accepts TCP connections."""
    sockets = {
        os.readlink(link)[8:-1]
        for link in Path(f"/proc/{pid}/fd").iterdir()
        if os.path.islink(link) and os.readlink(link).startswith("socket:")
    }
    rows = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    return [row[1].partition(":")[0] for row in rows if row[3] == "0A" and row[9] in sockets]


def test_a_closed_runner_refuses(stage: Stage) -> None:
    from app.runner.catalog import demo_named
    from app.runner.launch import Runner

    async def closed() -> None:
        runner = Runner()
        await runner.close()
        with pytest.raises(Refusal, match="going down"):
            runner.submit(demo_named("ddp"), {}, "late")

    asyncio.run(closed())


def test_the_server_never_imports_torch() -> None:
    code = "import sys, app.main, app.cli.demo, app.runner.launch; sys.exit('torch' in sys.modules)"
    began = time.monotonic()
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0, began


def test_an_agent_that_is_cancelled_takes_its_ranks_along(stage: Stage) -> None:
    async def cancel() -> list[int]:
        run = stage.submit("restart", ranks=2, steps=20, layers=4)
        await started(run, "restart")
        ranks = [rank for child in children(stage.zygote) for rank in children(child)]
        await stage.runner.cancel(run.id)
        assert await ended(run) == "run.cancelled"
        return ranks

    ranks = stage.wait(cancel())
    assert len(ranks) == 2
    assert soon(lambda: not any(map(alive, ranks)))


def test_what_a_killed_server_and_zygote_left_is_swept_by_the_next(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    names = [f"shardboard-demo-{gone.pid}-a", f"shardboard-demo-{os.getpid()}-b", "shardboard-demo-other", "else"]
    for name in names:
        (tmp_path / name).mkdir()
    sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[1:])
