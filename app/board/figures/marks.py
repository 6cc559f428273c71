"""What stands for GPUs on a floor: each GPU, or where they are too many to see, each node or each unit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from app.board.figures.floor import Floor
from engine.layout.layout import Axis
from engine.network.placement import Placement

Detail = Literal["gpu", "node", "unit"]
Sides = tuple[float, float, float, float]
MOST_GPUS, MOST_NODES = 2304, 4096  # marks of a kind that one picture carries and an eye can tell apart
LEVELS = 8
MIXED = -1


def detail_of(floor: Floor) -> Detail:
    """The finest marks that can still be seen."""
    if len(floor.drawn_ranks) <= MOST_GPUS:
        return "gpu"
    return "node" if len(floor.drawn_nodes) <= MOST_NODES else "unit"


@dataclass(frozen=True)
class Marks:
    """The marks of one floor.

    >>> from app.board.figures.topology_floor import floor_of
    >>> from engine.catalog.hardware import cluster_named
    >>> marks = Marks(floor_of(cluster_named("hgx-h100"), 16384, 0, 0, 1000, 400))
    >>> marks.detail, marks.size, len(marks.boxes)
    ('node', 8, 2048)
    """

    floor: Floor

    @cached_property
    def detail(self) -> Detail:
        return detail_of(self.floor)

    @property
    def size(self) -> int:
        """GPUs that a mark stands for."""
        fabric = self.floor.fabric
        return {"gpu": 1, "node": fabric.gpus_per_node, "unit": fabric.gpus_per_unit}[self.detail]

    @property
    def first(self) -> int:
        """The first GPU of the first mark."""
        return self.floor.drawn_ranks.start

    def box(self, mark: int) -> Sides:
        """Where a mark stands."""
        floor = self.floor
        if self.detail == "gpu":
            return floor.gpu(self.first + mark).sides
        if self.detail == "node":
            return floor.node(floor.drawn_nodes.start + mark).sides
        home, head = floor.unit(floor.first_unit + mark), sum(floor.head)
        return home.x, home.y - head, home.width, home.height + head

    @cached_property
    def boxes(self) -> list[Sides]:
        """Where all marks stand. Units are alike, so that one is measured and the others stand where their corner is."""
        count, first = -(-len(self.floor.drawn_ranks) // self.size), self.floor.unit(self.floor.first_unit)
        each = self.floor.fabric.gpus_per_unit // self.size
        pattern = [self.box(mark) for mark in range(min(each, count))]
        corners = [self.floor.unit(unit) for unit in self.floor.drawn_units]
        placed = [
            (x + corner.x - first.x, y + corner.y - first.y, width, height)
            for corner in corners
            for x, y, width, height in pattern
        ]
        return placed[:count]

    def holding(self, ranks: Iterable[int]) -> list[int]:
        """Marks that stand for any of these GPUs."""
        drawn = self.floor.drawn_ranks
        return sorted({(rank - self.first) // self.size for rank in ranks if rank in drawn})

    def coordinates(self, placed: Placement, axis: Axis) -> np.ndarray:
        """Place of every mark on an axis; MIXED where its GPUs differ."""
        drawn = self.floor.drawn_ranks
        ranks = np.arange(drawn.start, drawn.start + len(self.boxes) * self.size)
        places = (ranks // placed.stride(axis) % placed.degree(axis)).reshape(-1, self.size)
        return np.where((places == places[:, :1]).all(axis=1), places[:, 0], MIXED)

    def by_place(self, placed: Placement, axis: Axis) -> dict[int, list[Sides]]:
        """The marks at each place of an axis; under MIXED those that stand for several places."""
        found: dict[int, list[Sides]] = {}
        for box, place in zip(self.boxes, self.coordinates(placed, axis).tolist(), strict=True):
            found.setdefault(place, []).append(box)
        return found

    def by_level(self, placed: Placement, axis: Axis) -> dict[int, list[Sides]]:
        """The marks by shade: places of an axis dealt to LEVELS shades."""
        found: dict[int, list[Sides]] = {}
        for place, boxes in self.by_place(placed, axis).items():
            if place != MIXED:
                found.setdefault(place * LEVELS // max(placed.degree(axis), LEVELS), []).extend(boxes)
        return found

    def geometry(self) -> dict[str, object]:
        """Where marks stand, for the browser: the corner of each unit, and of each mark in its unit; all are of one size."""
        floor = self.floor
        corners = [floor.unit(unit) for unit in floor.drawn_units]
        each = floor.fabric.gpus_per_unit // self.size
        origin = corners[0]
        offsets = [self.boxes[mark][:2] for mark in range(min(each, len(self.boxes)))]
        width, height = self.boxes[0][2:]
        return {
            "first": self.first,
            "size": self.size,
            "count": len(self.boxes),
            "each": each,
            "units": _rounded([(corner.x, corner.y) for corner in corners]),
            "marks": _rounded([(x - origin.x, y - origin.y) for x, y in offsets]),
            "leaves": []
            if self.detail == "unit"
            else _rounded(
                [
                    (leaf.middle - origin.x, leaf.bottom - origin.y)
                    for rail in range(floor.leaves_per_unit)
                    for leaf in [floor.leaf(floor.first_unit, rail)]
                ]
            ),
            "width": round(width, 2),
            "height": round(height, 2),
        }


def _rounded(points: Sequence[tuple[float, float]]) -> list[list[float]]:
    return [[round(x, 2), round(y, 2)] for x, y in points]
