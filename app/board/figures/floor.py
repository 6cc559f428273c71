"""Where everything of a cluster stands on a drawing: spine, leaf switches, units, nodes, GPUs. Geometry alone, no ink."""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt

from engine.network.fabric import Fabric

SPINE, PIPES, LEAF, BUSES = 34.0, 24.0, 16.0, 24.0  # heights from the top: what is left is for nodes
UNIT_GAP, ROW_GAP, NODE_GAP, GPU_GAP = 10.0, 14.0, 3.0, 1.0
SHAPE = 0.72  # width over height that a unit is given if it can be: a column of nodes under its leaves
MOST_IN_A_ROW = 8  # units; more stand in several rows


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
class Floor:
    """Where everything stands.

    fabric                the network that is drawn
    x, y, width, height   of the drawing, without the names below the units
    first_unit            where the drawing begins, if it shows only some units
    shown                 units that are drawn; None: all

    >>> from engine.catalog.hardware import cluster_named
    >>> floor = Floor(Fabric(cluster_named("hgx-h100"), 1024), 54, 4, 478, 296)
    >>> floor.units, floor.node_of(74), floor.rail_of(74), floor.unit_of(74)
    (4, 9, 2, 0)
    """

    fabric: Fabric
    x: float
    y: float
    width: float
    height: float
    first_unit: int = 0
    shown: int | None = None

    @property
    def gpus(self) -> int:
        return self.fabric.gpus

    @property
    def gpus_per_node(self) -> int:
        return self.fabric.gpus_per_node

    @property
    def nodes_per_unit(self) -> int:
        """Nodes of a unit, as many as there are at most."""
        return min(self.fabric.cluster.nodes_per_unit, self.fabric.nodes)

    @property
    def nodes(self) -> int:
        return self.fabric.nodes

    @property
    def leaves_per_unit(self) -> int:
        return self.fabric.leaves_per_unit

    @property
    def units(self) -> int:
        """Units that are drawn."""
        return self.shown or self.fabric.units

    @property
    def drawn_units(self) -> range:
        return range(self.first_unit, self.first_unit + self.units)

    @property
    def drawn_nodes(self) -> range:
        size = self.fabric.cluster.nodes_per_unit
        return range(self.first_unit * size, min((self.first_unit + self.units) * size, self.nodes))

    @property
    def drawn_ranks(self) -> range:
        nodes = self.drawn_nodes
        return range(nodes.start * self.gpus_per_node, min(nodes.stop * self.gpus_per_node, self.gpus))

    def node_of(self, rank: int) -> int:
        """The node a GPU stands in."""
        return self.fabric.node_of(rank)

    def rail_of(self, rank: int) -> int:
        """Which leaf of its unit its NIC hangs on."""
        return self.fabric.rail_of(rank)

    def unit_of(self, rank: int) -> int:
        """The unit of its node."""
        return self.fabric.unit_of(rank)

    def ranks_of(self, node: int) -> range:
        """The GPUs of a node."""
        return self.fabric.ranks_of(node)

    @cached_property
    def unit_columns(self) -> int:
        """Units side by side."""
        if self.units <= MOST_IN_A_ROW and self.width >= self.height:
            return self.units
        return _columns(self.units, self.width / self.height, SHAPE)

    @cached_property
    def unit_rows(self) -> int:
        return ceil(self.units / self.unit_columns)

    @cached_property
    def columns(self) -> int:
        """Nodes side by side in a unit."""
        if self.nodes_per_unit <= 2:
            return 1
        home = self.unit(self.first_unit)
        shape = home.width / max(home.height, 1.0)
        if self.unit_rows == 1 and self.units <= MOST_IN_A_ROW:
            return (
                max(1, round(sqrt(self.nodes_per_unit / 2))) if shape < 2 else _columns(self.nodes_per_unit, shape, 1.6)
            )
        return _columns(self.nodes_per_unit, shape, 1.2)

    @cached_property
    def gpu_columns(self) -> int:
        """GPUs side by side in a node."""
        if self.gpus_per_node <= 8:
            return ceil(self.gpus_per_node / (2 if self.gpus_per_node > 2 else 1))
        home = self.node(self.drawn_nodes.start)
        return _columns(self.gpus_per_node, home.width / max(home.height, 1.0), 0.9)

    @property
    def spine(self) -> Box:
        return Box(self.x, self.y, self.width, SPINE)

    @cached_property
    def _pitch(self) -> tuple[float, float]:
        """Width and height that a unit takes, with its leaves and the gaps after it."""
        across = (self.width + UNIT_GAP) / self.unit_columns
        return across, (self.height - SPINE + ROW_GAP) / self.unit_rows

    @cached_property
    def head(self) -> tuple[float, float, float]:
        """Heights above the nodes of a unit: wires to the spine, leaf switches, wires to the nodes. Less where it is low."""
        scale = min(1.0, self._pitch[1] * 0.4 / (PIPES + LEAF + BUSES)) if self.unit_rows > 1 else 1.0
        return PIPES * scale, LEAF * scale, BUSES * scale

    def unit(self, unit: int) -> Box:
        """Where the nodes of a unit stand."""
        row, column = divmod(unit - self.first_unit, self.unit_columns)
        across, down = self._pitch
        # the spine's height belongs to all rows: a single row keeps all that is left
        top = self.y + SPINE + row * down + sum(self.head)
        gap = ROW_GAP if self.unit_rows > 1 or down > 0 else 0.0
        return Box(self.x + column * across, top, across - self._gap, down - gap - sum(self.head))

    @property
    def _gap(self) -> float:
        return UNIT_GAP if self.unit_columns <= MOST_IN_A_ROW else 5.0

    def leaf(self, unit: int, rail: int) -> Box:
        """Where the leaf switch of a rail stands."""
        home, (_, height, buses) = self.unit(unit), self.head
        pitch = home.width / self.leaves_per_unit
        room = min(2.0, pitch * 0.3)
        return Box(home.x + rail * pitch + room / 2, home.y - buses - height, pitch - room, height)

    def node(self, node: int) -> Box:
        """Where a node stands in its unit."""
        size = self.fabric.cluster.nodes_per_unit
        home = self.unit(node // size)
        row, column = divmod(node % size, self.columns)
        across, down = home.width / self.columns, home.height / ceil(self.nodes_per_unit / self.columns)
        gap = min(NODE_GAP, across * 0.16, down * 0.16)
        return Box(home.x + column * across, home.y + row * down, across - gap, down - gap)

    def gpu(self, rank: int) -> Box:
        """Where a GPU stands in its node."""
        node, columns = self.node(self.node_of(rank)), self.gpu_columns
        row, column = divmod(rank % self.gpus_per_node, columns)
        inset = min(2.0, node.width * 0.06)
        across = (node.width - 1.5 * inset) / columns
        down = (node.height - 2.5 * inset) / ceil(self.gpus_per_node / columns)
        gap = min(GPU_GAP, across * 0.18)
        return Box(node.x + inset + column * across, node.y + 1.5 * inset + row * down, across - gap, down - gap)


def _columns(things: int, shape: float, wanted: float) -> int:
    """Columns that give each thing about the wanted width over height, in a box of this shape."""
    return max(range(1, things + 1), key=lambda columns: -_bad(things, columns, shape, wanted))


def _bad(things: int, columns: int, shape: float, wanted: float) -> float:
    rows = ceil(things / columns)
    ratio = shape / columns * rows / wanted
    return max(ratio, 1 / ratio) * (1 + 6 * (rows * columns - things) / things)
