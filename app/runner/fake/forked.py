"""Imports torch once and forks a process for each role: `python -m app.runner.fake.forked REQUEST first,middle,last 2`.

A fork is safe here because nothing ran before it but imports: no backward pass, no OpenMP region, no thread.
"""

import json
import os
import sys
from collections.abc import Sequence

from app.live.events import line_of
from app.runner.fake.event_kinds import TraceEvent
from app.runner.fake.events import failed
from app.runner.fake.request import FakeRequest, fake_request
from app.runner.fake.roles import Role, role_named
from app.runner.fake.trace import trace
from app.runner.rank.leaving import leave

STDOUT = 1


def write(event: TraceEvent) -> None:
    """One line, in one write: lines of several processes do not mix while each is below a pipe's 4 KiB."""
    os.write(STDOUT, line_of(event))


def trace_roles(request: FakeRequest, roles: Sequence[Role], jobs: int) -> None:
    """Trace all roles, so many at a time, each in a fork of this process."""
    running: dict[int, Role] = {}
    for role in roles:
        if len(running) >= jobs:
            _wait(running)
        running[_forked(request, role)] = role
    while running:
        _wait(running)


def _forked(request: FakeRequest, role: Role) -> int:
    """The process that traces this role."""
    if (process := os.fork()) == 0:
        code = 1
        try:
            trace(request, role, write)
            code = 0
        except BaseException as error:
            write(failed(role, f"{type(error).__name__}: {error}"))
        finally:
            os._exit(code)
    return process


def _wait(running: dict[int, Role]) -> None:
    """Wait for one to end. What ended by a signal could say nothing itself."""
    process, status = os.wait()
    role = running.pop(process)
    if os.WIFSIGNALED(status):
        write(failed(role, f"ended by signal {os.WTERMSIG(status)}"))


def main() -> None:
    asked, names, jobs = sys.argv[1:]
    request = fake_request(json.loads(asked))
    roles = [role_named(request, name) for name in names.split(",")]
    if len(roles) == 1:
        trace(request, roles[0], write)
        leave(0)
    trace_roles(request, roles, int(jobs))


if __name__ == "__main__":
    main()
