"""Time for which a rank was ready to compute and others had the processors: the kernel counts it."""

from pathlib import Path

NANO = 1e-9


def queued_s() -> float | None:
    """Waiting time of this thread so far, or None where the kernel does not count it.   [s]"""
    try:
        _, waited_ns, _ = Path("/proc/thread-self/schedstat").read_text().split()
    except (OSError, ValueError):
        return None
    return NANO * int(waited_ns)
