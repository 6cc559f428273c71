"""Starts the process that traces a request and gives its events as they come. Knows no torch."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator, Sequence

from app.runner.fake.event_kinds import TRACE_EVENTS, TraceEvent
from app.runner.fake.events import accepted, failed, finished, need_torch
from app.runner.fake.request import FakeRequest
from app.runner.fake.roles import Role, roles_of
from app.settings import ROOT

LIMIT_S = 600.0


def run(request: FakeRequest) -> Generator[TraceEvent, None, None]:
    """All events of a trace, in order of arrival. Whoever stops listening ends its processes."""
    need_torch()
    started = time.perf_counter()
    seen: list[TraceEvent] = []
    yield accepted(request)
    for group in _groups(roles_of(request)):
        for event in _process(request, group):
            seen.append(event)
            yield event
    yield from finished(request, seen, time.perf_counter() - started)


def _groups(roles: Sequence[Role]) -> list[Sequence[Role]]:
    """Roles of one process: all, where it can fork and import torch once for all of them."""
    return [roles] if sys.platform == "linux" else [[role] for role in roles]


def _process(request: FakeRequest, roles: Sequence[Role]) -> Iterator[TraceEvent]:
    """Trace these roles, as many at a time as there are processors."""
    names, jobs = ",".join(role.name for role in roles), os.cpu_count() or 1
    command = [sys.executable, "-m", "app.runner.fake.forked", json.dumps(request.document()), names, str(jobs)]
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=complaints,
            start_new_session=True,
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        timer = threading.Timer(LIMIT_S, _end, [process])
        timer.start()
        try:
            assert process.stdout is not None
            yield from map(TRACE_EVENTS.read, process.stdout)
            if process.wait():
                complaints.seek(0)
                yield failed(roles[0], complaints.read()[-10_000:].decode(errors="replace"))
        finally:
            timer.cancel()
            _end(process)
            process.wait()


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process and those it forked, if it still runs."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
