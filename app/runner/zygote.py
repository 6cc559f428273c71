"""The warm process: imports torch once, then forks the ranks of each run in milliseconds. Started by link.py.

It reads commands and writes events, one line of JSON each, on its standard streams. It only forks, reaps, relays and kills;
it never computes with torch and never touches CUDA, since neither survives a fork. When its input ends it kills what runs,
removes its folder and goes.
"""

import gc
import os
import selectors
import shutil
import signal
import sys
import time

from app.live.events import line_of
from app.runner.forking import Running, start
from app.runner.job import COMMANDS, Cancel, Command, Start, ZygoteReady

CHUNK = 1 << 16


class Zygote:
    """The loop: commands in, forked ranks watched, events out."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.runs: dict[str, Running] = {}
        self.selector = selectors.DefaultSelector()
        self.selector.register(0, selectors.EVENT_READ)
        self.commands = b""
        self.open = True
        os.set_blocking(0, False)

    def serve(self) -> None:
        """Until the input ends."""
        wake, poke = os.pipe()
        os.set_blocking(poke, False)
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(poke, warn_on_full_buffer=False)
        self.selector.register(wake, selectors.EVENT_READ)
        try:
            while self.open:
                for key, _ in self.selector.select(self._patience()):
                    self._read(key.fd, key.data, wake)
                self._watch()
        finally:
            for running in self.runs.values():
                running.kill()
            for running in self.runs.values():
                running.wait()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _read(self, fd: int, running: Running | None, wake: int) -> None:
        if fd == wake:
            os.read(wake, CHUNK)
        elif running is None:
            self._listen()
        elif (lines := running.read(fd)) is None:
            self.selector.unregister(fd)
            os.close(fd)
        else:
            self._say(lines)

    def _listen(self) -> None:
        data = os.read(0, CHUNK)
        self.open = bool(data)
        *lines, self.commands = (self.commands + data).split(b"\n")
        for line in filter(None, lines):
            self._obey(COMMANDS.read(line))

    def _obey(self, command: Command) -> None:
        if isinstance(command, Start):
            running = start(command.job, command.limit_s)
            self.runs[running.job.run] = running
            for fd in running.pipes:
                self.selector.register(fd, selectors.EVENT_READ, running)
        elif isinstance(command, Cancel) and (running := self.runs.get(command.run)):
            running.kill("cancelled")

    def _watch(self) -> None:
        """Reap, kill what is late, and say what has ended."""
        for name, running in list(self.runs.items()):
            for exit in running.reaped():
                self._say(line_of(exit))
            running.hurry(time.monotonic())
            if running.over:
                del self.runs[name]
                self._say(line_of(running.ending()))

    def _patience(self) -> float | None:
        """Seconds until something must be killed."""
        due = [running.due for running in self.runs.values() if running.due is not None]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _say(self, lines: bytes) -> None:
        view = memoryview(lines)
        while view:
            view = view[os.write(1, view) :]


def main(folder: str) -> None:
    """Import what ranks need, say so, and serve."""
    began = time.monotonic()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("TORCH_FR_BUFFER_SIZE", "2000")  # the flight recorder, read when torch is imported
    from app.runner.strategies.warm import versions  # torch and everything the strategies import

    found = versions()
    gc.collect()
    gc.freeze()
    os.write(1, line_of(ZygoteReady(found, round(time.monotonic() - began, 2), os.getpid())))
    Zygote(folder).serve()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the server, which closes our input
    main(sys.argv[1])
