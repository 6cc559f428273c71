"""PyTorch's flight recorder: which collectives this rank has issued. It is always on here, and costs nothing that shows."""

import pickle
from typing import Any

from torch._C import _distributed_c10d

MOST = 12
OURS, NOT_OURS = "/app/runner/", "comm_log.py"


def last_collectives() -> list[dict[str, Any]]:
    """The last collectives of this rank, the newest last: number in its group, op, sizes, and which function called it."""
    try:
        dump = pickle.loads(getattr(_distributed_c10d, "_dump_fr_trace")())  # noqa: B009  the stubs do not know it
    except (AttributeError, RuntimeError):  # nor has every build it
        return []
    return [
        {
            "number": entry["collective_seq_id"],
            "op": entry["profiling_name"].partition(":")[2],
            "sizes": entry["input_sizes"][:2],
            "where": _where(entry["frames"]),
        }
        for entry in dump.get("entries", [])[-MOST:]
    ]


def _where(frames: list[dict[str, Any]]) -> str:
    names = (
        frame["name"] for frame in frames if OURS in frame["filename"] and not frame["filename"].endswith(NOT_OURS)
    )
    return next(names, "")
