"""The game of placing a pipeline schedule by hand: its size, its operations, and the known schedules it may turn into."""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from engine.language.inputs import Amount, Choice
from engine.language.kept import kept
from engine.language.refusal import Refusal
from engine.language.units import MB
from engine.pipeline.schedules import SCHEDULES, SHOWN_ONLY, ChunkPlacement, Schedule
from engine.pipeline.schedules.placement import loop
from engine.pipeline.simulator import run_schedule
from engine.pipeline.timeline import Timeline

EVERY = {**SCHEDULES, **SHOWN_ONLY}


@dataclass(frozen=True)
class Cut:
    """What a stage's work is cut into.

    kinds    of operations, as in a schedule's orders
    chunks   model parts that a stage holds   [count]
    """

    title: str
    kinds: str
    chunks: int

    def is_of(self, schedule: Schedule) -> bool:
        """Whether a schedule has these operations, of layers dealt in a loop."""
        stages, chunks = 2, chunks_of(schedule)
        if schedule.placement(stages, chunks) != loop(stages, self.chunks):
            return False
        return {op.kind for order in schedule.ops(stages, 2 * stages, chunks) for op in order} == set(self.kinds)


CUTS = {
    "whole": Cut("forward and backward", "FB", 1),
    "split": Cut("backward in two parts", "FIW", 1),
    "chunks": Cut("two chunks per stage", "FB", 2),
}


def _room(name: str, label: str, usual: int, least: int, most: int) -> Amount:
    return Amount(name, label, usual, least, most, said=f"a board has room for {least} to {most}", slider=False)


SIZE = (
    _room("stages", "stages", 3, 2, 6),
    _room("micro", "micro-batches", 4, 1, 8),
    Choice("cut", "a stage runs", "whole", {name: cut.title for name, cut in CUTS.items()}),
)


class Move(NamedTuple):
    """One operation placed: on which stage, and the letter of its kind, small for the second chunk."""

    stage: int
    letter: str


@dataclass(frozen=True)
class Game:
    """The size of what is built, each as SIZE bounds it. A forward takes one slot, each part of a backward another."""

    stages: int = 3
    micro_batches: int = 4
    cut: str = "whole"

    @property
    def kinds(self) -> Cut:
        return CUTS[self.cut]

    @property
    def letters(self) -> str:
        """Letters of the operations, those of the second chunk small."""
        return self.kinds.kinds + (self.kinds.kinds.lower() if self.kinds.chunks > 1 else "")

    @property
    def placement(self) -> ChunkPlacement:
        return loop(self.stages, self.kinds.chunks)

    @property
    def operations(self) -> int:
        return self.stages * self.micro_batches * len(self.letters)

    @property
    def known(self) -> dict[str, Schedule]:
        """Schedules of these operations that run at this size."""
        return {name: EVERY[name] for name in known_of(self.cut) if runs_here(EVERY[name], self)}


def runs_here(schedule: Schedule, game: Game) -> bool:
    """Whether a schedule runs with these stages and micro-batches."""
    try:
        schedule.check(game.stages, game.micro_batches, chunks_of(schedule))
    except Refusal:
        return False
    return True


def chunks_of(schedule: Schedule) -> int:
    """Chunks a stage with which a schedule is compared: its own number, or two."""
    return schedule.own_chunks or 2


@cache
def known_of(cut: str) -> tuple[str, ...]:
    """Names of the schedules that have the operations of a cut.

    >>> known_of("split")
    ('zb-h1', 'zb-h2')
    """
    return tuple(name for name, schedule in EVERY.items() if CUTS[cut].is_of(schedule))


@kept(8 * MB, lambda timeline: timeline.held_bytes)
def known_timeline(name: str, game: Game) -> Timeline:
    """The timeline of a known schedule at this size, in slots."""
    return run_schedule(EVERY[name], game.stages, game.micro_batches, chunks_of(EVERY[name]))
