"""The ranks of one run as the zygote keeps them: forked together, read, reaped, killed together."""

import os
import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Concatenate

from app.runner.apart import last_words
from app.runner.event_kinds import AGENT, REFERENCE, RankError, RankExit, RankName
from app.runner.forked import settle, stderr_path
from app.runner.job import MOST_BYTES, Emit, Fields, Job, RunEnded, Said, bounded_line
from app.runner.plain_words import without_paths

GRACE_S = 0.3  # after the first failure: so long do the other ranks have to say what they saw
CHUNK = 1 << 16


@dataclass
class Running:
    """A run that has been forked.

    children    process id -> rank, those not reaped yet
    pipes       file descriptor -> what has been read of a line
    deadline    when all are killed   [s, monotonic]
    failed_at   when the first rank failed
    reason      "done" until something else happens
    """

    job: Job
    deadline: float
    children: dict[int, RankName] = field(default_factory=dict)
    pipes: dict[int, bytes] = field(default_factory=dict)
    group: int = 0
    failed_at: float | None = None
    reason: str = "done"
    killed: bool = False

    @property
    def due(self) -> float | None:
        """When the next thing must be killed, if nothing happens before."""
        if self.killed:
            return None
        return self.deadline if self.failed_at is None else min(self.deadline, self.failed_at + GRACE_S)

    @property
    def over(self) -> bool:
        return not self.children and not self.pipes

    def read(self, fd: int) -> bytes | None:
        """Whole lines that have arrived, or None at the end of this pipe."""
        data = os.read(fd, CHUNK)
        if not data:
            del self.pipes[fd]
            return None
        lines, newline, rest = (self.pipes[fd] + data).rpartition(b"\n")
        self.pipes[fd] = rest[-MOST_BYTES:]
        return lines + newline

    def reaped(self) -> Iterator[RankExit]:
        """An event for each rank that has ended since."""
        for pid, rank in list(self.children.items()):
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if done:
                del self.children[pid]
                yield self._exit(rank, os.waitstatus_to_exitcode(status), usage)

    def _exit(self, rank: RankName, code: int, usage: resource.struct_rusage) -> RankExit:
        if code and self.failed_at is None and not self.killed:
            self.failed_at, self.reason = time.monotonic(), "failed"
        return RankExit(
            round(time.monotonic() - self.job.start, 4),
            rank,
            code=max(code, 0),
            signal=signal.Signals(-code).name if code < 0 else None,
            by_us=self.killed and code == -signal.SIGKILL,
            cpu_s=round(usage.ru_utime + usage.ru_stime, 3),
            said=self._said(rank) if code else "",
            run=self.job.run,
        )

    def _said(self, rank: RankName) -> str:
        """The end of what a rank wrote to its standard error."""
        return last_words(stderr_path(self.job.folder, str(rank)))

    def hurry(self, now: float) -> None:
        """Kill where the limit or the grace after a failure is over."""
        if self.due is not None and now >= self.due and self.children:
            self.kill("limit" if self.failed_at is None else "failed")

    def kill(self, reason: str = "cancelled") -> None:
        """End all ranks at once. Nothing that a rank does can prevent it."""
        if self.killed:
            return
        self.killed, self.reason = True, reason
        for pid in self.children:
            os.kill(pid, signal.SIGKILL)  # not reaped yet, so the number is still theirs
        if self.children:
            os.killpg(self.group, signal.SIGKILL)

    def wait(self) -> None:
        """Reap all that is left."""
        for pid in self.children:
            os.waitpid(pid, 0)

    def ending(self) -> RunEnded:
        wall = time.monotonic() - self.job.start
        return RunEnded(self.job.run, self.reason, round(wall, 3), round(wall, 4))


def start(job: Job, limit_s: float) -> Running:
    """Fork every rank, and the one that trains alone."""
    running = Running(job, job.start + limit_s)
    for rank in (*((AGENT,) if job.agent else range(job.ranks)), REFERENCE):
        reading, writing = os.pipe()
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            _be(job, rank, writing, running.group, parent)
        os.close(writing)
        running.group = running.group or pid
        os.setpgid(
            pid, running.group
        )  # here as well: whoever comes first, the group is complete before anyone is killed
        running.children[pid] = rank
        running.pipes[reading] = b""
    return running


def _be(job: Job, rank: RankName, writing: int, group: int, parent: int) -> None:
    """The life of a forked rank. Never returns."""
    code = 1
    try:
        settle(job.folder, str(rank), writing, group, parent)
        code = _run(job, rank, writing)
    finally:
        os._exit(code)


def _run(job: Job, rank: RankName, writing: int) -> int:
    from app.runner.worker import run_agent, run_rank, run_reference

    def emit_as(name: RankName) -> Emit:
        return emitter(job, name, writing)

    emit = emit_as(rank)
    try:
        if rank == AGENT:
            run_agent(job, emit_as)
        elif isinstance(rank, int):
            run_rank(job, rank, emit)
        else:
            run_reference(job, emit)
    except BaseException as error:
        traceback.print_exc()
        emit(RankError, type=type(error).__name__, message=without_paths(str(error)))
        return 1
    return 0


def emitter(job: Job, rank: RankName, writing: int) -> Emit:
    """Writes the events of one rank to a pipe."""

    def emit(
        kind: Callable[Concatenate[float, RankName, Fields], Said], *args: Fields.args, **fields: Fields.kwargs
    ) -> None:
        event = kind(round(time.monotonic() - job.start, 4), rank, *args, **fields)
        view = memoryview(bounded_line(replace(event, run=job.run)))
        while view:
            view = view[os.write(writing, view) :]

    return emit
