"""The run on its floor: who stands where, the wires of one GPU's groups, what crosses the spine, and a node that is lost.

Up to about two thousand GPUs each one is drawn. Larger floors show nodes, the largest units, and below them the unit of
the GPU one looks from, again GPU by GPU.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.board.figures.floor import SPINE, Box, Floor
from app.board.figures.marks import MIXED, Marks, Sides, detail_of
from app.board.figures.topology_floor import draw_node, draw_wires
from app.board.linked import LinkedFigure
from engine.accounts.ledger import AxisRow
from engine.language.units import count_text
from engine.layout.layout import Axis
from engine.network.fabric import Fabric
from engine.network.placement import Placement, Reach

WIDE, NARROW = (1000.0, 640.0), (400.0, 640.0)
LEFT, BELOW, LENS = 62.0, 26.0, 250.0  # room for the names of the layers, of the units, and for the lens
LANES: dict[str, int] = {"dp": 0, "pp": 1, "cp": 2, "ep": 2, "tp": 2}
MOST_NAMES = 8


@dataclass(frozen=True)
class TopologyPicture:
    """What is drawn.

    placed    where the ranks stand
    rows      the ledger of the wires
    you       the GPU one looks from   [rank]
    colour    axis whose places shade the floor; empty: none
    lost      ranks that are gone
    narrow    for a narrow window
    """

    placed: Placement
    rows: Sequence[AxisRow]
    you: int
    colour: str = ""
    lost: Collection[int] = ()
    narrow: bool = False

    @property
    def fabric(self) -> Fabric:
        return Fabric(self.placed.cluster, self.placed.gpus)

    @cached_property
    def floors(self) -> tuple[Floor, ...]:
        """The whole floor, and where its GPUs cannot be told apart, the unit of the one we look from."""
        (width, height), left = (NARROW, 4.0) if self.narrow else (WIDE, LEFT)
        whole = Floor(self.fabric, left, 2, width - left - 6, height - BELOW - 2)
        if detail_of(whole) == "gpu":
            return (whole,)
        upper = height - LENS - 2 * BELOW
        near = Floor(self.fabric, left, upper + 2 * BELOW, width - left - 6, LENS - 4, self.fabric.unit_of(self.you), 1)
        above = 0 if detail_of(whole) == "node" else SPINE  # units stand for their switches too
        return Floor(self.fabric, left, 2 - above, width - left - 6, upper + above), near

    @cached_property
    def marks(self) -> tuple[Marks, ...]:
        return tuple(Marks(floor) for floor in self.floors)

    def reach(self, axis: Axis) -> Reach:
        """The groups over which an axis sends most."""
        return next(row.reach for row in self.rows if row.axis == axis)

    @property
    def talking(self) -> list[Axis]:
        """Axes of more than one rank, the farthest reaching first, so that near groups lie on top."""
        axes: list[Axis] = [row.axis for row in self.rows]
        return sorted(axes, key=lambda axis: (-self.reach(axis).switches, -self.reach(axis).size))

    def figure(self) -> LinkedFigure:
        """The drawing."""
        width, height = NARROW if self.narrow else WIDE
        figure = LinkedFigure("floor", width, height, "The run on its floor", self.description)
        for marks in self.marks:
            self._floor(figure, marks)
            self._names(figure, marks)
        return figure

    @property
    def description(self) -> str:
        """What the drawing shows, in sentences."""
        fabric, placed = self.fabric, self.placed
        groups = "; ".join(
            f"{row.axis.upper()} with {count_text(row.reach.size - 1)} others, {WIRES[row.reach.wire]}"
            for row in self.rows
        )
        gone = f" {count_text(len(self.lost))} GPUs are gone." if self.lost else ""
        return (
            f"{count_text(placed.gpus)} GPUs in {count_text(fabric.nodes)} nodes and {count_text(fabric.units)} units. Rank "
            f"{count_text(self.you)} in node {count_text(fabric.node_of(self.you))} talks to: {groups or 'nobody'}.{gone}"
        )

    def _floor(self, figure: LinkedFigure, marks: Marks) -> None:
        floor = marks.floor
        near = marks.detail != "unit"
        if near:
            self._switches(figure, floor)
        if marks.detail == "gpu":
            self._nodes(figure, floor)
        self._stages(figure, marks)
        if self.colour:
            for level, boxes in marks.by_level(self.placed, self.colour).items():  # type: ignore[arg-type]
                with figure.group(f"floor-level by-{self.colour} level-{level}"):
                    figure.cells(boxes, fill=f"{self.colour}-pale", ink="")
        with figure.group("floor-lit"):
            self._groups(figure, marks)
        if self.lost and near:
            self._loss(figure, floor)

    def _switches(self, figure: LinkedFigure, floor: Floor) -> None:
        figure.rectangle(*floor.spine.sides, fill="board", key=f"spine-{floor.first_unit}-{floor.shown}")
        leaves = [(unit, rail) for unit in floor.drawn_units for rail in range(floor.leaves_per_unit)]
        full = [_pipe(floor, *leaf, 1 / floor.fabric.cluster.oversubscription) for leaf in leaves]
        figure.cells([box.sides for box in full], fill="plain", ink="")
        for row in sorted(self.rows, key=lambda row: -row.uplinks.value):
            used = [
                Box(box.middle - width / 2, box.y, width, box.height)
                for (unit, rail), box in zip(leaves, full, strict=True)
                if (share := self._uplinks(row, unit, rail)) and (width := max(1.0, box.width * min(1.0, share)))
            ]
            if not used:
                continue
            with figure.group(f"uplink uplink-{row.axis}{' uplink-crowded' if row.uplinks.value > 1 else ''}"):
                figure.cells([box.sides for box in used], fill=f"{row.axis}-pale", ink="")
        figure.cells([floor.leaf(*leaf).sides for leaf in leaves], fill="board", ink="soft")

    def _nodes(self, figure: LinkedFigure, floor: Floor) -> None:
        """Outlines of the nodes, by the stage of their first GPU: they glow while that stage talks inside its nodes."""
        placed, found = self.placed, {}
        for node in floor.drawn_nodes:
            stage = node * floor.gpus_per_node // placed.stride("pp") % placed.degree("pp")
            found.setdefault(stage, []).append(floor.node(node).sides)
        for stage, boxes in found.items():
            with figure.group(f"nodes stage-{stage}"):
                figure.cells(boxes, fill="board", ink="rule")

    def _uplinks(self, row: AxisRow, unit: int, rail: int) -> float:
        """Share of one leaf's uplinks that an axis' flows need."""
        fabric = row.fabric
        return float(row.load.flows[unit * fabric.leaves_per_unit + rail]) / fabric.uplinks_per_leaf

    def _stages(self, figure: LinkedFigure, marks: Marks) -> None:
        """All marks, by pipeline stage: a step that is played tints them."""
        for stage, boxes in sorted(marks.by_place(self.placed, "pp").items()):
            with figure.group(f"stage stage-{stage}" if stage != MIXED else "stage"):
                figure.cells(boxes, fill="plain", ink="")

    def _groups(self, figure: LinkedFigure, marks: Marks) -> None:
        floor = marks.floor
        for axis in self.talking:
            ranks = self._peers(axis)
            with figure.group(f"group group-{axis}"):
                if self.reach(axis).leaves_node and marks.detail != "unit" and not self.lost:
                    ink = "bad" if axis == "tp" else axis  # TP over nodes is the mistake one comes here to see
                    thin = len(ranks) > 16 or marks.detail == "node"
                    draw_wires(
                        figure, floor, ranks, ink, lane=LANES[axis], fill=axis, stroke="thin" if thin else "normal"
                    )
                figure.cells([marks.boxes[mark] for mark in marks.holding(ranks)], fill=axis, ink="")
        if self.lost:
            return
        mine = [marks.boxes[mark] for mark in marks.holding([self.you])]
        if marks.detail != "unit" and self.you in floor.drawn_ranks:
            draw_node(figure, floor, floor.node_of(self.you), "ink", room=1.5)
        with figure.group("floor-you"):
            figure.cells([_grown(box) for box in mine], fill="ink", ink="ink")

    def _peers(self, axis: Axis) -> list[int]:
        """Whom the GPU one looks from talks to; where some are lost, everyone who waits for one of those."""
        groups = (self.placed.peers(self.reach(axis).members, rank) for rank in (self.lost or [self.you]))
        return sorted({rank for group in groups for rank in group})

    def _loss(self, figure: LinkedFigure, floor: Floor) -> None:
        for node in sorted({floor.node_of(rank) for rank in self.lost} & set(floor.drawn_nodes)):
            box = floor.node(node)
            draw_node(figure, floor, node, "bad", room=2)
            figure.cross(box.middle, box.y + box.height / 2, min(26.0, box.width * 0.7), key=f"lost-{node}")

    def _names(self, figure: LinkedFigure, marks: Marks) -> None:
        floor = marks.floor
        if marks.detail != "unit" and not self.narrow:
            figure.text(0, floor.spine.y + 22, "spine", "read", ink="soft")
            leaf = floor.leaf(floor.first_unit, 0)
            figure.text(0, leaf.y + leaf.height / 2 + 5, "leaves", "read", ink="soft")
            figure.text(
                0,
                floor.unit(floor.first_unit).y + 15,
                {"gpu": "GPUs", "node": "nodes"}[marks.detail],
                "read",
                ink="soft",
            )
        ratio = floor.fabric.cluster.oversubscription
        if marks.detail != "unit":
            words = f"{ratio:g}:1" if ratio > 1 else "full bandwidth"
            figure.text(
                floor.spine.middle,
                floor.spine.y + 22,
                words,
                "read",
                anchor="middle",
                ink="bad" if ratio > 1 else "soft",
            )
        if floor.units <= (2 if self.narrow else MOST_NAMES):
            for unit in floor.drawn_units:
                home = floor.unit(unit)
                name = f"unit {unit}" if home.width < 130 else f"unit {unit} · {self.stages_of(unit)}"
                figure.text(home.x, home.bottom + 20, name, "caption")
        elif marks.detail != "gpu":
            each = "each mark a node" if marks.detail == "node" else "each mark a unit"
            words = f"{count_text(floor.units)} units of {count_text(floor.fabric.gpus_per_unit)} GPUs, {each}"
            figure.text(floor.x, floor.y + floor.height + 16, words, "caption")

    def stages_of(self, unit: int) -> str:
        """Which pipeline stages a unit holds."""
        size, placed = self.fabric.gpus_per_unit, self.placed
        ranks = range(unit * size, min((unit + 1) * size, placed.gpus))
        held = np.unique(np.arange(ranks.start, ranks.stop) // placed.stride("pp") % placed.degree("pp")).tolist()
        if placed.degree("pp") == 1:
            return f"{count_text(len(ranks))} GPUs"
        return f"stage {held[0]}" if len(held) == 1 else f"stages {held[0]}–{held[-1]}"


WIRES = {
    "none": "nowhere",
    "nvlink": "inside its node",
    "leaf": "under one leaf switch",
    "spine": "over leaf, spine and leaf",
}


def _pipe(floor: Floor, unit: int, rail: int, uplink: float) -> Box:
    """The wires from a leaf up; only a stub of them where the unit is not in the first row."""
    leaf = floor.leaf(unit, rail)
    width = max(1.0, leaf.width * 0.8 * uplink)
    first_row = (unit - floor.first_unit) // floor.unit_columns == 0
    top = floor.spine.bottom if first_row else leaf.y - floor.head[0] * 0.6
    return Box(leaf.middle - width / 2, top, width, leaf.y - top)


def _grown(box: Sides) -> Sides:
    x, y, width, height = box
    return x - 1, y - 1, width + 2, height + 2
