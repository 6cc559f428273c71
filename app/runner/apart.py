"""What the server gives each process that it starts: an environment without secrets, a private folder, a file for its last words."""

import os
import shutil
import tempfile
from pathlib import Path

from app.runner.plain_words import last_of

FOLDER = "shardboard-demo-"
SAID, TAIL_BYTES = "process.err", 2000  # what it wrote to its standard error, and how much of it is read
PASSED_ON = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "VIRTUAL_ENV",
    "CUDA_VISIBLE_DEVICES",
    "TMPDIR",
    "SYSTEMROOT",
)


def environment() -> dict[str, str]:
    """What of the server's own environment is passed on."""
    return {name: os.environ[name] for name in PASSED_ON if name in os.environ}


def private_folder() -> Path:
    """A new folder that only its owner may enter; those of servers that are gone are removed first."""
    sweep(Path(tempfile.gettempdir()))
    return Path(tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-"))


def sweep(where: Path) -> None:
    """Remove the folders of servers that were killed together with what they started: their names tell whose they are."""
    for folder in where.glob(f"{FOLDER}*"):
        server = folder.name.removeprefix(FOLDER).partition("-")[0]
        if server.isdecimal() and not _exists(int(server)):
            shutil.rmtree(folder, ignore_errors=True)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def last_words(path: Path) -> str:
    """The end of what a process wrote to its standard error, on one line and without paths of this machine."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            return last_of(file.read().decode(errors="replace"))
    except OSError:
        return ""
