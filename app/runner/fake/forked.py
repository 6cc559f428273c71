"""Imports torch once and forks a process for each role: `python -m app.runner.fake.forked REQUEST ROLES JOBS FOLDER SERVER`.

A fork is safe here because nothing ran before it but imports: no backward pass, no OpenMP region, no thread. Each role takes the
first steps of a rank: it is bounded, quiet, and gone when this process is, which is gone when the server is.
"""

import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module

from app.live.events import line_of
from app.runner.apart import last_words
from app.runner.fake.event_kinds import TraceEvent
from app.runner.fake.events import failed
from app.runner.fake.request import FakeRequest, fake_request
from app.runner.fake.roles import Role, role_named
from app.runner.forked import CPU_S, die_with, settle, stderr_path
from app.runner.root_cause import killed_text

STDOUT = 1
SLACK = 4  # times the CPU time that a role is said to take


@dataclass
class Forks:
    """The roles of a request, each in a fork of this process.

    folder   private one of the trace
    out      file descriptor to which all write their events
    """

    request: FakeRequest
    folder: str
    out: int
    running: dict[int, Role] = field(default_factory=dict)

    def trace(self, roles: Sequence[Role], jobs: int) -> None:
        """Trace all of them, so many at a time."""
        for role in roles:
            if len(self.running) >= jobs:
                self._wait()
            self._fork(role)
        while self.running:
            self._wait()

    def _fork(self, role: Role) -> None:
        parent = os.getpid()
        if process := os.fork():
            self.running[process] = role
            return
        code = 1
        try:
            code = self.be(role, parent)
        finally:
            os._exit(code)

    def be(self, role: Role, parent: int) -> int:
        """Take the first steps of a rank and trace this role. Gives the exit status."""
        from app.runner.fake.trace import trace  # imported before the fork

        try:
            cpu_s = max(CPU_S, round(SLACK * self.request.role_s))
            settle(self.folder, role.name, self.out, os.getpgrp(), parent, cpu_s)
            trace(self.request, role, self.write)
        except BaseException as error:
            self.write(failed(role, f"{type(error).__name__}: {error}"))
            return 1
        return 0

    def write(self, event: TraceEvent) -> None:
        """One line, in one write: lines of several processes do not mix while each is below a pipe's 4 KiB."""
        os.write(self.out, line_of(event))

    def _wait(self) -> None:
        """Wait for one to end. What ended by a signal could say nothing itself."""
        process, status = os.wait()
        role = self.running.pop(process)
        if os.WIFSIGNALED(status):
            ended = killed_text(signal.Signals(os.WTERMSIG(status)).name)
            self.write(failed(role, f"{ended} {last_words(stderr_path(self.folder, role.name))}"))


def main() -> None:
    asked, names, jobs, folder, server = sys.argv[1:]
    die_with(int(server))
    import_module("app.runner.fake.trace")  # torch, once for all
    request = fake_request(json.loads(asked))
    roles = [role_named(request, name) for name in names.split(",")]
    forks = Forks(request, folder, os.dup(STDOUT))
    if len(roles) == 1:
        os._exit(forks.be(roles[0], int(server)))
    forks.trace(roles, int(jobs))


if __name__ == "__main__":
    main()
