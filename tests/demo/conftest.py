"""One warm zygote for all tests that run demos, and eyes for what a run must not leave behind."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.runner.catalog import demo_named
from app.runner.launch import Run, Runner

Event = Any  # of whatever kind: a test says which fields it looks at
SMALL = {"hidden": 64, "layers": 2, "steps": 3, "sequence": 32}
PATIENCE_S = 5.0


class Stage:
    """A runner and the loop it lives in."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.runner = Runner()

    def wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)

    def run(self, name: str, **knobs: object) -> list[Event]:
        """The events of one run, small unless said otherwise."""
        return self.wait(self._run(name, knobs))

    async def _run(self, name: str, knobs: dict[str, object]) -> list[Event]:
        run = self.submit(name, **knobs)
        return [event async for event in run.follow()]

    def submit(self, name: str, client: str = "test", /, **knobs: object) -> Run:
        demo = demo_named(name)
        known = {knob.name for knob in demo.knobs}
        small = {name: value for name, value in SMALL.items() if name in known}
        return self.runner.submit(demo, {**small, **knobs}, client)

    @property
    def zygote(self) -> int:
        assert self.runner._link is not None
        return self.runner._link.pid


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    pytest.importorskip("torch")
    made = Stage()
    yield made
    made.wait(made.runner.close())
    made.loop.close()


def children(pid: int) -> list[int]:
    """Processes that this one has started and that are not gone."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False


def soon(true: Callable[[], bool]) -> bool:
    """Whether it comes true before patience ends."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.02)
    return true()


def of(events: list[Event], kind: str) -> list[Event]:
    return [event for event in events if kind == event.KIND]


def wrong(events: list[Event]) -> list[Event]:
    """Rows of the verdict that did not hold, or what happened instead of a verdict."""
    return [check for check in of(events, "check") if not check.ok] or ([] if of(events, "check") else events[-3:])
