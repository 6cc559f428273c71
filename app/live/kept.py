"""What is said, on disk while it is said: one file of JSON lines each, so that an address still works after a restart.

NAME.live    under way: its server holds a lock on it, which the kernel takes back however the server ends
NAME.jsonl   ended; what was under way when its server died ends with a line that says so
"""

import contextlib
import fcntl
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

NAME = re.compile(r"\A[A-Za-z0-9_-]{8,24}\Z")  # nothing in it can name another place
LIVE, ENDED = ".live", ".jsonl"
TAIL_BYTES = 4096  # the last event is shorter


@dataclass(frozen=True)
class Ends:
    """The first and the last line of one that is kept, and whether it has ended."""

    name: str
    first: bytes
    last: bytes
    ended: bool


@dataclass(frozen=True)
class Kept:
    """A folder of what was said. most: the oldest that have ended go beyond these."""

    folder: Path
    most: int = 500

    def begin(self, name: str, lines: bytes) -> "Writing":
        """Write the first lines down, to the disk itself. OSError where that cannot be done."""
        assert NAME.match(name)
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{name}{LIVE}"
        with _alone(self.folder):
            file = cast(BinaryIO, path.open("xb", buffering=0))  # what does not fit on the disk is not kept for later
            fcntl.flock(file, fcntl.LOCK_EX)
        writing = Writing(self, name, file)
        try:
            writing.add(lines)
            writing.sync()
        except OSError:
            writing.drop()  # nothing of it was acknowledged
            raise
        return writing

    def load(self, name: str) -> bytes | None:
        """The whole lines of one, as far as it has come, or None."""
        if not NAME.match(name):
            return None
        for ending in (ENDED, LIVE, ENDED):  # it may end between two looks
            try:
                return _whole_lines((self.folder / f"{name}{ending}").read_bytes())
            except FileNotFoundError:
                continue
        return None

    def end_interrupted(self, last: Callable[[int], bytes]) -> list[str]:
        """Give those whose server is gone a last line, and clear away what older versions left. Gives their names.

        last   the line, given its number
        """
        if not self.folder.is_dir():
            return []
        ended: list[str] = []
        with _alone(self.folder):
            for part in self.folder.glob("*.part"):
                part.unlink(missing_ok=True)
            for path in self.folder.glob(f"*{LIVE}"):
                with path.open("r+b") as file:
                    if _locked(file) and self._end(path, file, last):
                        ended.append(path.stem)
        return ended

    def _end(self, path: Path, file: BinaryIO, last: Callable[[int], bytes]) -> bool:
        """Whether there was anything to end: a file without a line says nothing."""
        lines = _whole_lines(file.read())
        if not lines:
            path.unlink()
            return False
        file.truncate(len(lines))
        file.seek(len(lines))
        file.write(last(lines.count(b"\n") + 1))
        file.flush()
        os.fsync(file.fileno())
        path.rename(path.with_suffix(ENDED))
        return True

    def newest(self, most: int) -> Iterator[Ends]:
        """How so many of them begin and end, the newest first."""
        found = [*self.folder.glob(f"*{LIVE}"), *self.folder.glob(f"*{ENDED}")]
        for path in islice(sorted(found, key=_written, reverse=True), most):
            try:
                with path.open("rb") as file:
                    first = file.readline()
                    file.seek(max(0, path.stat().st_size - TAIL_BYTES))
                    last = (_whole_lines(file.read()).splitlines() or [b""])[-1]
            except FileNotFoundError:
                continue
            yield Ends(path.stem, first, last, path.suffix == ENDED)

    def make_room(self) -> None:
        """Remove the oldest where there are too many."""
        for old in sorted(self.folder.glob(f"*{ENDED}"), key=_written)[: -self.most]:
            with contextlib.suppress(OSError):
                old.unlink(missing_ok=True)


class Writing:
    """One that is being written down. Whatever it is asked may be an OSError: the disk is full, the folder is gone."""

    def __init__(self, kept: Kept, name: str, file: BinaryIO) -> None:
        self._kept, self._file = kept, file
        self._path = kept.folder / f"{name}{LIVE}"

    def add(self, lines: bytes) -> None:
        """Write lines where the next process can read them."""
        try:
            left = memoryview(lines)
            while left:
                left = left[self._file.write(left) :]
        except OSError:
            self.leave()
            raise

    def sync(self) -> None:
        """Have what was written reach the disk."""
        try:
            os.fsync(self._file.fileno())
        except OSError:
            self.leave()
            raise

    def end(self) -> None:
        """It is whole. Older ones make room."""
        self.sync()
        try:
            self._path.rename(self._path.with_suffix(ENDED))
        except OSError:
            self.leave()
            raise
        self._file.close()
        self._kept.make_room()

    def leave(self) -> None:
        """Write no more. What was written stays, and is told as interrupted by the next server."""
        self._file.close()

    def drop(self) -> None:
        """Leave nothing of it."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
        self._file.close()


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else begins or ends one meanwhile: a file that was just made is not locked yet."""
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _locked(file: BinaryIO) -> bool:
    """Whether nobody else holds this file."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _whole_lines(text: bytes) -> bytes:
    """The text without a last line that was cut short."""
    return text[: text.rfind(b"\n") + 1]


def _written(path: Path) -> float:
    """When it was written last; one that is gone is the oldest.   [s]"""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
