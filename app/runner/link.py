"""The server's end of the zygote: started when first needed, spoken to in lines of JSON, started again when it has died."""

import asyncio
import contextlib
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from app.live.events import Event, Family, line_of
from app.runner.apart import SAID, environment, last_words, private_folder
from app.runner.event_kinds import RUN_EVENTS
from app.runner.job import MOST_BYTES, Cancel, Command, Job, RunEnded, Start, ZygoteReady
from app.settings import ROOT

LONGEST_LINE = 4 * MOST_BYTES
HEARD = Family[Event](*RUN_EVENTS.kinds.values(), ZygoteReady, RunEnded)  # from the zygote
PROGRAM = ("-m", "app.runner.zygote")
READY_S, GONE_S = 60.0, 3.0  # importing torch takes 2 to 4 s here, and much longer where the disk is cold


class Gone(Exception):
    """The zygote has died. said: the end of what it wrote, such as why torch could not be imported."""

    def __init__(self, said: str = "") -> None:
        super().__init__(said)
        self.said = said


class Link:
    """One zygote process.

    versions   of what it has imported, once it is ready
    """

    def __init__(self, process: asyncio.subprocess.Process, folder: str) -> None:
        self._process, self._folder = process, folder
        self.versions: Mapping[str, str] = {}

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.returncode is None and not self._input.is_closing()

    @property
    def _input(self) -> asyncio.StreamWriter:
        assert self._process.stdin is not None
        return self._process.stdin

    @classmethod
    async def opened(cls) -> "Link":
        """A zygote that has said it is ready."""
        folder = str(private_folder())
        with (Path(folder) / SAID).open("wb") as said:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *PROGRAM,
                folder,
                cwd=ROOT,
                env=environment(),
                limit=LONGEST_LINE,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=said,
            )
        link = cls(process, folder)
        try:
            ready = await asyncio.wait_for(link.heard(), READY_S)
            link.versions = ready.versions if isinstance(ready, ZygoteReady) else {}
        except BaseException:
            await link.close()
            raise
        return link

    def folder_for(self, run: str) -> str:
        """A private folder for one run."""
        return tempfile.mkdtemp(prefix="run-", dir=self._folder)

    async def start(self, job: Job, limit_s: float) -> None:
        """Have the ranks of a run forked."""
        await self._tell(Start(job, limit_s))

    async def cancel(self, run: str) -> None:
        """Have the ranks of a run killed."""
        await self._tell(Cancel(run))

    async def heard(self) -> Event:
        """The next event, or Gone."""
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            raise Gone(self.said)
        return HEARD.read(line)

    @property
    def said(self) -> str:
        """The end of what it wrote to its standard error."""
        return last_words(Path(self._folder) / SAID)

    async def close(self) -> None:
        """End it: its input ends, it kills its ranks and goes; if it does not, it is killed, and they with it."""
        self._input.close()
        try:
            await asyncio.wait_for(self._process.wait(), GONE_S)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def _tell(self, command: Command) -> None:
        try:
            self._input.write(line_of(command))
            await self._input.drain()
        except (ConnectionError, RuntimeError):
            raise Gone(self.said) from None
