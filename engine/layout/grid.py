"""Ranks dealt on a grid: one coordinate an axis, the first axis changing fastest."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from engine.language.kept import kept
from engine.language.units import MB

Ranks = TypeVar("Ranks", int, np.ndarray)  # one, or an array of them: arithmetic is the same


@dataclass(frozen=True)
class Grid:
    """A grid of ranks, the first axis fastest: what Megatron-LM's order string and the transposed DeviceMesh of torch say.

    axes   names of the axes, each with its degree, fastest first   [names and counts]

    >>> grid = Grid((("tp", 8), ("dp", 32), ("pp", 4)))
    >>> grid.ranks, grid.stride("pp"), grid.coordinates(74)
    (1024, 256, {'tp': 2, 'dp': 9, 'pp': 0})
    """

    axes: tuple[tuple[str, int], ...]

    @property
    def ranks(self) -> int:
        """Ranks of the whole grid."""
        return self._before(len(self.axes))

    def degree(self, axis: str) -> int:
        """Ranks along one axis."""
        return dict(self.axes)[axis]

    def stride(self, axis: str) -> int:
        """Ranks between neighbours along one axis."""
        return self._before([name for name, _ in self.axes].index(axis))

    def _before(self, place: int) -> int:
        product = 1
        for _, degree in self.axes[:place]:
            product *= degree
        return product

    def coordinates(self, rank: Ranks) -> dict[str, Ranks]:
        """Place of a rank on every axis."""
        return {axis: rank // self.stride(axis) % degree for axis, degree in self.axes}

    def group(self, axis: str, rank: int = 0) -> list[int]:
        """Ranks that share every other coordinate with this one."""
        stride, degree = self.stride(axis), self.degree(axis)
        first = rank - rank // stride % degree * stride
        return [first + place * stride for place in range(degree)]

    def groups(self, axes: Collection[str]) -> np.ndarray:
        """Groups of ranks that differ along these axes only, each in order of rank: shape (groups, ranks of one).

        >>> Grid((("tp", 2), ("dp", 2), ("pp", 2))).groups(["dp"]).tolist()
        [[0, 2], [1, 3], [4, 6], [5, 7]]
        """
        return _groups(self.axes, frozenset(axes))


@kept(32 * MB, lambda groups: groups.nbytes)
def _groups(axes: tuple[tuple[str, int], ...], joined: frozenset[str]) -> np.ndarray:
    slowest_first = axes[::-1]
    table = np.arange(int(np.prod([degree for _, degree in axes]))).reshape([degree for _, degree in slowest_first])
    kept = [place for place, (axis, _) in enumerate(slowest_first) if axis not in joined]
    moved = [place for place, (axis, _) in enumerate(slowest_first) if axis in joined]
    size = int(np.prod([slowest_first[place][1] for place in moved], dtype=int))
    groups = table.transpose(kept + moved).reshape(-1, size)
    groups.flags.writeable = False  # shared by everyone who asks
    return groups
