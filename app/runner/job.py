"""One run as the processes that make it know it: which demo, its knobs, how many ranks, where they meet. Knows no torch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, Protocol

from app.live.events import Event, Family, line_of
from app.runner.event_kinds import Dropped, RankError, RankEvent, RankName
from app.runner.knobs import Value

MOST_BYTES = 60_000  # of one event; larger ones are dropped

Fields = ParamSpec("Fields")
Said = RankEvent | RankError


class Emit(Protocol):
    """How a rank says something: emit(Step, step=0, loss=6.2, …). Which rank and when is filled in."""

    def __call__(
        self, kind: Callable[Concatenate[float, RankName, Fields], Said], *args: Fields.args, **fields: Fields.kwargs
    ) -> None: ...


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


@dataclass(frozen=True)
class Command(Event):
    """What the server says to the zygote."""


@dataclass(frozen=True)
class Start(Command, kind="start"):
    """Fork the ranks of this run; kill them when it has taken so long.   [s]"""

    job: Job
    limit_s: float


@dataclass(frozen=True)
class Cancel(Command, kind="cancel"):
    """Kill the ranks of this run."""

    run: str


COMMANDS = Family[Command](Start, Cancel)


@dataclass(frozen=True)
class ZygoteReady(Event, kind="zygote.ready"):
    """It has imported torch, which took so long.   [s]"""

    versions: Mapping[str, str]
    import_s: float
    pid: int


@dataclass(frozen=True)
class RunEnded(Event, kind="ended"):
    """All processes of a run are gone. reason: done, failed, cancelled or limit."""

    run: str
    reason: str
    wall_s: float
    t: float


def bounded_line(event: Said) -> bytes:
    """What a rank says, as a line of JSON; one that is too long says only so."""
    line = line_of(event)
    if len(line) <= MOST_BYTES:
        return line
    return line_of(Dropped(event.t, event.rank, event.KIND, len(line), run=event.run))
