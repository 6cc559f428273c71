"""The floor of a cluster: units of nodes of GPUs, a leaf switch for each rail of a unit, and the spine above.

Everything stands where its rank says: GPU i of every node hangs on leaf i of its unit (its rail). Thousands of GPUs
are a few straight paths, so that a floor stays small and does not flicker.

    floor = floor_of(cluster, 1024, x=54, y=4, width=478, height=296)
    draw_floor(figure, floor, (Lit(group, "dp"),))
    draw_wires(figure, floor, group, ink="dp")
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import ceil, sqrt

from app.board.pen import cells, number
from app.board.svg import Figure
from engine.hardware import Cluster

SPINE, PIPES, LEAF, BUSES = 34.0, 24.0, 16.0, 24.0  # heights from the top: what is left is for nodes
UNIT_GAP, NODE_GAP, GPU_GAP = 10.0, 3.0, 1.0


@dataclass(frozen=True)
class Box:
    """A place on the drawing."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def sides(self) -> tuple[float, float, float, float]:
        return self.x, self.y, self.width, self.height


@dataclass(frozen=True)
class Lit:
    """GPUs that stand out, by rank, in one fill."""

    ranks: Collection[int]
    fill: str


@dataclass(frozen=True)
class Floor:
    """Where everything stands.

    gpus             GPUs of the run                          [count]
    gpus_per_node    GPUs of one NVLink domain, one a rail    [count]
    nodes_per_unit   nodes under the same leaves              [count]
    x, y, width, height   of the drawing, without the names below the units

    >>> floor = Floor(1024, 8, 32, 54, 4, 478, 296)
    >>> floor.units, floor.node_of(74), floor.rail_of(74), floor.unit_of(74)
    (4, 9, 2, 0)
    """

    gpus: int
    gpus_per_node: int
    nodes_per_unit: int
    x: float
    y: float
    width: float
    height: float

    @property
    def nodes(self) -> int:
        return ceil(self.gpus / self.gpus_per_node)

    @property
    def units(self) -> int:
        return ceil(self.nodes / self.nodes_per_unit)

    def node_of(self, rank: int) -> int:
        """The node a GPU stands in."""
        return rank // self.gpus_per_node

    def rail_of(self, rank: int) -> int:
        """The rail of its NIC: its place in the node."""
        return rank % self.gpus_per_node

    def unit_of(self, rank: int) -> int:
        """The scalable unit of its node."""
        return self.node_of(rank) // self.nodes_per_unit

    def ranks_of(self, node: int) -> range:
        """The GPUs of a node."""
        first = node * self.gpus_per_node
        return range(first, min(first + self.gpus_per_node, self.gpus))

    @property
    def columns(self) -> int:
        """Nodes side by side in a unit: a unit is about twice as high as it is wide."""
        return max(1, round(sqrt(self.nodes_per_unit / 2)))

    @property
    def spine(self) -> Box:
        return Box(self.x, self.y, self.width, SPINE)

    def unit(self, unit: int) -> Box:
        """Where the nodes of a unit stand."""
        width = (self.width - UNIT_GAP * (self.units - 1)) / self.units
        top = SPINE + PIPES + LEAF + BUSES
        return Box(self.x + unit * (width + UNIT_GAP), self.y + top, width, self.height - top)

    def leaf(self, unit: int, rail: int) -> Box:
        """Where the leaf switch of a rail stands."""
        home = self.unit(unit)
        pitch = home.width / self.gpus_per_node
        return Box(home.x + rail * pitch + 1, self.y + SPINE + PIPES, pitch - 2, LEAF)

    def node(self, node: int) -> Box:
        """Where a node stands in its unit."""
        home = self.unit(node // self.nodes_per_unit)
        row, column = divmod(node % self.nodes_per_unit, self.columns)
        across, down = home.width / self.columns, home.height / ceil(self.nodes_per_unit / self.columns)
        return Box(home.x + column * across, home.y + row * down, across - NODE_GAP, down - NODE_GAP)

    def gpu(self, rank: int) -> Box:
        """Where a GPU stands in its node."""
        node, rows = self.node(self.node_of(rank)), 2 if self.gpus_per_node > 2 else 1
        row, column = divmod(self.rail_of(rank), ceil(self.gpus_per_node / rows))
        across, down = (node.width - 3) / ceil(self.gpus_per_node / rows), (node.height - 5) / rows
        return Box(node.x + 2 + column * across, node.y + 3 + row * down, across - GPU_GAP, down - GPU_GAP)


def floor_of(cluster: Cluster, gpus: int, x: float, y: float, width: float, height: float) -> Floor:
    """The floor that so many GPUs of a cluster take."""
    return Floor(gpus, cluster.gpus_per_node, cluster.nodes_per_unit, x, y, width, height)


def draw_floor(
    figure: Figure, floor: Floor, lit: Sequence[Lit] = (), *, uplink: float = 1.0, rest: str = "plain",
    shaded: Iterable[tuple[Collection[int], str]] = (),
) -> None:  # fmt: skip
    """Switches, nodes and GPUs; what is lit last lies on top.

    uplink   width of the wires to the spine over that of a full fat tree   [0 to 1]
    rest     fill of the GPUs that are not lit; empty: no ranks stand on them yet
    shaded   nodes with a fill behind their GPUs, by number
    """
    figure.rectangle(*floor.spine.sides, fill="board", key="spine")
    leaves = [(unit, rail) for unit in range(floor.units) for rail in range(floor.gpus_per_node)]
    figure.cells([_pipe(floor, *leaf, uplink).sides for leaf in leaves], fill="plain", ink="")
    figure.cells([floor.leaf(*leaf).sides for leaf in leaves], fill="board", ink="soft")
    figure.cells([floor.node(node).sides for node in range(floor.nodes)], fill="board", ink="rule")
    for nodes, fill in shaded:
        figure.cells([floor.node(node).sides for node in nodes], fill=fill, ink="rule")
    taken = {rank for each in lit for rank in each.ranks}
    dark = [floor.gpu(rank).sides for rank in range(floor.gpus) if rank not in taken]
    if dark:
        figure.cells(dark, fill=rest or "board", ink="" if rest else "rule")
    for each in lit:
        figure.cells([floor.gpu(rank).sides for rank in each.ranks], fill=each.fill, ink="")


def draw_wires(
    figure: Figure, floor: Floor, ranks: Collection[int], ink: str, *, lane: int = 0, uplink: float = 1.0,
    stroke: str = "normal", fill: str = "",
) -> None:  # fmt: skip
    """The wires that join these ranks: each to its leaf, and over the spine where they stand in several units.

    lane     wires of another lane run beside these instead of over them: 0, 1 or 2
    uplink   as for draw_floor
    fill     of the leaves and the wires above them; the ink's own if empty
    """
    homes: dict[tuple[int, int], list[int]] = {}
    for rank in sorted(ranks):
        homes.setdefault((floor.unit_of(rank), floor.rail_of(rank)), []).append(rank)
    across = len({unit for unit, _ in homes}) > 1
    if across:
        figure.cells([_pipe(floor, *home, uplink).sides for home in homes], fill=fill or ink, ink="")
        figure.path(_over_spine(floor, homes, lane), ink=ink, stroke="thick")
    figure.cells([floor.leaf(*home).sides for home in homes], fill=fill or ink, ink=ink)
    figure.path("".join(_comb(floor, home, held, lane) for home, held in homes.items()), ink=ink, stroke=stroke)


def draw_node(figure: Figure, floor: Floor, node: int, ink: str, *, stroke: str = "thick", room: float = 1.0) -> None:
    """A strong line around one node."""
    box = floor.node(node)
    sides = (box.x - room, box.y - room, box.width + 2 * room, box.height + 2 * room)
    figure.path(cells([sides]), ink=ink, stroke=stroke)


def _pipe(floor: Floor, unit: int, rail: int, uplink: float) -> Box:
    leaf = floor.leaf(unit, rail)
    width = max(1.0, leaf.width * 0.7 * uplink)
    return Box(leaf.middle - width / 2, floor.spine.bottom, width, leaf.y - floor.spine.bottom)


def _over_spine(floor: Floor, homes: Iterable[tuple[int, int]], lane: int) -> str:
    at = sorted(floor.leaf(*home).middle for home in homes)
    y = floor.spine.bottom - 5 - 5 * lane
    return f"M{number(at[0])} {number(floor.spine.bottom)}V{number(y)}H{number(at[-1])}V{number(floor.spine.bottom)}"


def _comb(floor: Floor, home: tuple[int, int], ranks: Sequence[int], lane: int) -> str:
    """From a leaf down to a line along the unit, and from there beside the columns of GPUs to the last of each."""
    leaf = floor.leaf(*home)
    along = leaf.bottom + 5 + 6 * lane
    path = f"M{number(leaf.middle)} {number(leaf.bottom)}V{number(along)}"
    last: dict[float, float] = {}
    for rank in ranks:
        gpu = floor.gpu(rank)
        last[gpu.middle + (lane - 0.5) * 2] = gpu.y + gpu.height / 2
    for x, y in last.items():
        path += f"M{number(leaf.middle)} {number(along)}H{number(x)}V{number(y)}"
    return path
