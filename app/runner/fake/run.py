"""Starts the process that traces a request and gives its events as they come. Knows no torch."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from app.runner.apart import SAID, environment, last_words, private_folder
from app.runner.fake.event_kinds import TRACE_EVENTS, TraceEvent
from app.runner.fake.events import accepted, failed, finished, need_torch
from app.runner.fake.request import FakeRequest
from app.runner.fake.roles import Role, roles_of
from app.settings import ROOT

LIMIT_S = 600.0
PROGRAM = ("-m", "app.runner.fake.forked")


def run(request: FakeRequest) -> Generator[TraceEvent, None, None]:
    """All events of a trace, in order of arrival. Whoever stops listening ends its processes."""
    return Tracing(request).events()


class Tracing:
    """One trace: its events as they come, and an end to it at any moment, from any thread.

    ended   whether it was asked to end, or took too long
    """

    def __init__(self, request: FakeRequest) -> None:
        self.request, self.ended = request, False
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()  # it may be ended while its process is being started

    def events(self) -> Generator[TraceEvent, None, None]:
        """All of them, once. Whoever stops listening ends its processes."""
        need_torch()
        started = time.perf_counter()
        seen: list[TraceEvent] = []
        yield accepted(self.request)
        for group in _groups(roles_of(self.request)):
            for event in self._traced(group):
                seen.append(event)
                yield event
        yield from finished(self.request, seen, time.perf_counter() - started)

    def end(self) -> None:
        """Kill its processes: who reads their events sees the end of them at once."""
        with self._lock:
            self.ended = True
            if self._process:
                _kill(self._process)

    def _traced(self, roles: Sequence[Role]) -> Iterator[TraceEvent]:
        """The events of these roles, and what ended their process if that was not the end of its work."""
        folder = private_folder()
        timer = threading.Timer(LIMIT_S, self.end)
        try:
            process = self._start(roles, folder)
            timer.start()
            assert process.stdout is not None
            yield from map(TRACE_EVENTS.read, process.stdout)
            if process.wait():
                yield failed(roles[0], last_words(folder / SAID))
        finally:
            timer.cancel()
            if process := self._process:
                _kill(process)
                process.wait()
            shutil.rmtree(folder, ignore_errors=True)

    def _start(self, roles: Sequence[Role], folder: Path) -> "subprocess.Popen[bytes]":
        """The process that traces these roles, as many at a time as there are processors."""
        names, jobs = ",".join(role.name for role in roles), str(os.cpu_count() or 1)
        asked = (json.dumps(self.request.document()), names, jobs, str(folder), str(os.getpid()))
        with self._lock, (folder / SAID).open("wb") as said:
            process = self._process = subprocess.Popen(
                [sys.executable, *PROGRAM, *asked],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=said,
                start_new_session=True,
                cwd=ROOT,
                env={**environment(), "OMP_NUM_THREADS": "1"},
            )
            if self.ended:
                _kill(process)
            return process


def _groups(roles: Sequence[Role]) -> list[Sequence[Role]]:
    """Roles of one process: all, where it can fork and import torch once for all of them."""
    return [roles] if sys.platform == "linux" else [[role] for role in roles]


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """End a process and those it forked, if it still runs."""
    if process.poll() is None:
        with suppress(ProcessLookupError):  # it has ended since
            os.killpg(process.pid, signal.SIGKILL)
