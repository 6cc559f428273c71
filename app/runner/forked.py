"""The first steps of a forked rank, real or fake: bounded, quiet, in its process group, gone when its parent is. Knows no torch."""

import ctypes
import os
import resource
import signal
import sys
import tempfile
from pathlib import Path

ROOM_BYTES = 3 * 2**30  # address space beyond what the parent already has mapped
CPU_S, FILE_BYTES, FILES, NICE = 60, 2**25, 256, 5
PR_SET_PDEATHSIG = 1
GPUS = "/dev/nvidia0"  # where it exists, CUDA maps far more address space than memory: no limit then


def settle(folder: str, name: str, keep: int, group: int, parent: int, cpu_s: int = CPU_S) -> None:
    """Make this process a safe place to run a rank.

    folder   private one, for its standard error and what else it leaves
    keep     the one file descriptor that stays open: where events are written
    group    process group to join, 0 to found one
    parent   process that must be alive
    cpu_s    CPU time it may use   [s]
    """
    if group != os.getpgrp():  # who leads a session is in its group already, and may not ask
        os.setpgid(0, group)
    die_with(parent)
    for taken in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
        signal.signal(taken, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    os.nice(NICE)
    _limit(cpu_s)
    os.environ["GLOO_SOCKET_IFNAME"] = (
        "lo0" if sys.platform == "darwin" else "lo"
    )  # else gloo listens on what the hostname resolves to
    os.environ["TMPDIR"], tempfile.tempdir = folder, None  # so that what others leave goes with the run
    nowhere = os.open(os.devnull, os.O_RDWR)
    said = os.open(stderr_path(folder, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for source, target in ((nowhere, 0), (nowhere, 1), (said, 2)):
        os.dup2(source, target)
    os.closerange(3, keep)
    os.closerange(keep + 1, FILES)


def stderr_path(folder: str, name: str) -> Path:
    """What a rank wrote to its standard error."""
    return Path(folder) / f"stderr.{name}"


def die_with(parent: int) -> None:
    """Be killed when the process that started this one ends, however it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before we asked
        os._exit(1)


def _limit(cpu_s: int) -> None:
    limits = {
        resource.RLIMIT_CPU: cpu_s,
        resource.RLIMIT_FSIZE: FILE_BYTES,
        resource.RLIMIT_NOFILE: FILES,
        resource.RLIMIT_CORE: 0,
    }
    if sys.platform == "linux" and not os.path.exists(GPUS):
        limits[resource.RLIMIT_AS] = _mapped_bytes() + ROOM_BYTES
    for which, most in limits.items():
        _, hard = resource.getrlimit(which)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (most, most))


def _mapped_bytes() -> int:
    """Address space this process has mapped."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
