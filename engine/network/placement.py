"""Where ranks stand: which GPUs an axis groups together, and which wires its traffic crosses."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np

from engine.catalog.hardware import Cluster
from engine.layout.grid import Grid
from engine.layout.layout import Axis, Layout

Wire = Literal["none", "nvlink", "leaf", "spine"]

# Whose ranks a collective joins: an axis of the dense grid, the experts' ranks, or ranks that hold the same weights.
Members = Literal["tp", "cp", "ep", "dp", "pp", "data", "shard", "replica", "expert-data"]


@dataclass(frozen=True)
class Reach:
    """How far the groups of one kind reach.

    size      ranks in a group
    local     ranks of a group in one NVLink domain, where it has fewest: that sets the pace of its rings
    even      whether it has as many in every domain
    nodes     NVLink domains that a group spans, where it spans most
    wire      the farthest wire a group crosses: nvlink, leaf (one switch between nodes) or spine
    members   whose groups these are
    """

    size: int
    local: int
    nodes: int
    wire: Wire
    members: Members
    even: bool = True

    @property
    def leaves_node(self) -> bool:
        return self.wire in ("leaf", "spine")

    @property
    def switches(self) -> int:
        """Switches of the network between two members that stand farthest apart: a leaf, or leaf, spine and leaf."""
        return {"none": 0, "nvlink": 0, "leaf": 1, "spine": 3}[self.wire]


@dataclass(frozen=True)
class Placement:
    """Ranks laid out on a cluster in the layout's rank order, the first axis changing fastest.

    >>> from engine.catalog.hardware import cluster_named
    >>> placed = Placement(Layout().on_gpus(1024), cluster_named("hgx-h100"), 1024)
    >>> placed.reach("tp").wire, placed.reach("dp").wire, placed.coordinates(74)
    ('nvlink', 'leaf', {'tp': 2, 'cp': 0, 'dp': 9, 'pp': 0})
    """

    layout: Layout
    cluster: Cluster
    gpus: int

    @cached_property
    def dense(self) -> Grid:
        """The grid of everything but experts. Experts spread over ranks of it, so ep is no axis of its own."""
        return self.layout.dense_grid

    @cached_property
    def experts(self) -> Grid:
        """The grid of routed experts."""
        return self.layout.expert_grid

    @property
    def order(self) -> list[Axis]:
        """Axes of the dense grid, fastest first."""
        return [axis for axis, _ in self.dense.axes]  # type: ignore[misc]

    def grid_of(self, axis: Axis) -> Grid:
        """The grid that an axis belongs to."""
        return self.experts if axis == "ep" else self.dense

    def degree(self, axis: Axis) -> int:
        """Ranks in a group of this axis."""
        return self.grid_of(axis).degree(axis)

    def stride(self, axis: Axis) -> int:
        """Ranks between neighbours of a group of this axis."""
        return self.grid_of(axis).stride(axis)

    def coordinates(self, rank: int) -> dict[str, int]:
        """Coordinates of a rank on the dense grid."""
        return self.dense.coordinates(rank)

    def group(self, axis: Axis, rank: int = 0) -> list[int]:
        """Ranks that share every other coordinate with this one."""
        return self.grid_of(axis).group(axis, rank)

    def groups(self, members: Members) -> np.ndarray:
        """Every group of this kind, its ranks in order: shape (groups, ranks of one).

        members   an axis; "data": all that hold the same weights (dp x cp); "shard" and "replica": the groups HSDP cuts
                  those into; "expert-data": all that hold the same experts
        """
        if members in ("ep", "expert-data"):
            return self.experts.groups(["ep"] if members == "ep" else ["dp"])
        if members not in ("data", "shard", "replica"):
            return self.dense.groups([members])
        data = self.dense.groups(["dp", "cp"])
        if members == "data":
            return data
        cut = data.reshape(len(data), -1, self.layout.shard_width)
        if members == "shard":
            return cut.reshape(-1, self.layout.shard_width)
        return cut.swapaxes(1, 2).reshape(-1, cut.shape[1])

    def peers(self, members: Members, rank: int) -> list[int]:
        """The group of this kind that a rank is in."""
        groups = self.groups(members)
        return groups[int(np.nonzero((groups == rank).any(axis=1))[0][0])].tolist()

    def reach(self, members: Members) -> Reach:
        """How far the groups of this kind reach."""
        return _reach(self, members)

    def node_of(self, ranks: np.ndarray) -> np.ndarray:
        """The NVLink domain of each rank."""
        return ranks // self.cluster.gpus_per_node

    def unit_of(self, ranks: np.ndarray) -> np.ndarray:
        """The unit of each rank: nodes under the same leaf switches."""
        return ranks // (self.cluster.gpus_per_node * self.cluster.nodes_per_unit)


@lru_cache(512)
def _reach(placed: Placement, members: Members) -> Reach:
    """Counted over every group: degrees that do not divide a node or a unit make groups that straddle two."""
    groups = placed.groups(members)
    size = groups.shape[1]
    if size == 1:
        return Reach(1, 1, 1, "none", members)
    nodes, units = placed.node_of(groups), placed.unit_of(groups)
    together, spans = members_together(nodes)
    spanned = int(spans.max())
    if spanned == 1:
        return Reach(size, size, 1, "nvlink", members)
    together = together[spans > 1]
    wire = "spine" if bool((units[:, 0] != units[:, -1]).any()) else "leaf"
    local = int(together.min())
    return Reach(size, local, spanned, wire, members, local == int(together.max()))


def members_together(blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For every member of every group, how many of the group share its block; and how many blocks each group spans.

    blocks   the node or unit of each member, groups in rows   [shape (groups, ranks of one)]

    >>> [part.tolist() for part in members_together(np.array([[0, 0, 1], [2, 2, 2]]))]
    [[[2, 2, 1], [3, 3, 3]], [2, 1]]
    """
    rows, key = len(blocks), int(blocks.max()) + 1
    keys = (np.arange(rows)[:, None] * key + blocks).ravel()
    found, where, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return counts[where].reshape(blocks.shape), np.bincount(found // key, minlength=rows)
