"""One run as the processes that make it know it: which demo, its knobs, how many ranks, where they meet. Knows no torch."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from app.runner.knobs import Value

Emit = Callable[..., None]  # emit("step", step=0, loss=6.2): one event of one rank
REFERENCE = "ref"  # the rank that trains the same model alone, to compare with
AGENT = "agent"  # the process that starts ranks, and starts them again, where a demo has one
MOST_BYTES = 60_000  # of one event; larger ones are dropped


@dataclass(frozen=True)
class Job:
    """A run, before it starts.

    folder    private folder in which the ranks meet and leave nothing else
    start     time.monotonic() from which the t of every event counts    [s]
    patience  of a collective before it fails                            [s]
    agent     whether one process starts the ranks, as torchrun does, and starts them again
    """

    run: str
    demo: str
    params: Mapping[str, Value]
    ranks: int
    folder: str
    seed: int = 20
    start: float = 0.0
    patience: float = 10.0
    agent: bool = False

    def whole(self, name: str) -> int:
        """A knob that is a number."""
        return int(self.params[name])

    @property
    def text(self) -> str:
        return json.dumps(asdict(self))


def job_from(document: Mapping[str, Any]) -> Job:
    """The job a document describes."""
    return Job(**document)


def event_line(event: str, fields: Mapping[str, Any]) -> bytes:
    """One event as a line of JSON; one that is too long says only so."""
    line = json.dumps({"event": event, **fields}, separators=(",", ":")).encode() + b"\n"
    if len(line) <= MOST_BYTES:
        return line
    return event_line("dropped", {"kind": event, "rank": fields.get("rank"), "t": fields.get("t"), "bytes": len(line)})
