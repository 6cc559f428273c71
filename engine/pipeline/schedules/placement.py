"""Which part of the model each stage holds: in a loop, folded into a V, or twice, in both directions."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple


class Place(NamedTuple):
    """Which part of the model a chunk is: its position in a pipe of `ChunkPlacement.positions`, first layers at 0."""

    pipe: int
    position: int


@dataclass(frozen=True)
class ChunkPlacement:
    """Where each stage's chunks stand in the model.

    places      [stage][chunk] -> Place
    positions   parts into which the layers are dealt   [count]
    pipes       copies of the model that run at once: 2 when micro-batches enter from both ends   [count]
    """

    places: tuple[tuple[Place, ...], ...]
    positions: int
    pipes: int = 1

    @cached_property
    def chunk_share(self) -> float:
        """How much of a full stage (layers / stages) one chunk holds."""
        return len(self.places) / self.positions

    @cached_property
    def holders(self) -> dict[Place, tuple[int, int]]:
        """The (stage, chunk) that holds each place."""
        return {place: (s, c) for s, chunks in enumerate(self.places) for c, place in enumerate(chunks)}

    def before(self, place: Place) -> Place | None:
        """The place whose output this one takes, if there is one."""
        return Place(place.pipe, place.position - 1) if place.position else None

    def after(self, place: Place) -> Place | None:
        """The place that takes this one's output, if there is one."""
        return Place(place.pipe, place.position + 1) if place.position + 1 < self.positions else None


def loop(stages: int, chunks: int) -> ChunkPlacement:
    """Chunk 0 of every stage comes first, then chunk 1 of every stage, and so on.

    >>> [[place.position for place in stage] for stage in loop(2, 2).places]
    [[0, 2], [1, 3]]
    """
    places = tuple(tuple(Place(0, c * stages + s) for c in range(chunks)) for s in range(stages))
    return ChunkPlacement(places, stages * chunks)


def fold(stages: int, chunks: int) -> ChunkPlacement:
    """A V: the model runs down the stages and back up, so that stage 0 holds its first and its last part.

    >>> [[place.position for place in stage] for stage in fold(2, 2).places]
    [[0, 3], [1, 2]]
    """
    return ChunkPlacement(tuple((Place(0, s), Place(0, 2 * stages - 1 - s)) for s in range(stages)), 2 * stages)


def both_ways(stages: int, chunks: int) -> ChunkPlacement:
    """Two copies of the model in opposite directions: chunk 0 belongs to the first pipe, chunk 1 to the second.

    >>> [[tuple(place) for place in stage] for stage in both_ways(2, 2).places]
    [[(0, 0), (1, 1)], [(0, 1), (1, 0)]]
    """
    return ChunkPlacement(tuple((Place(0, s), Place(1, stages - 1 - s)) for s in range(stages)), stages, pipes=2)
