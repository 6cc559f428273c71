"""Where ranks stand: which GPUs an axis groups together, and which wires its traffic crosses."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from engine.hardware import Cluster
from engine.layout import Axis, Layout

Wire = Literal["none", "nvlink", "leaf", "spine"]


@dataclass(frozen=True)
class Reach:
    """How far the groups of one axis reach.

    size     ranks in a group
    local    ranks of a group inside one NVLink domain
    wire     the farthest wire a group crosses: nvlink, leaf (one switch hop between nodes) or spine
    """

    size: int
    local: int
    wire: Wire

    @property
    def nodes(self) -> int:
        """NVLink domains that a group spans."""
        return -(-self.size // self.local)

    @property
    def leaves_node(self) -> bool:
        return self.wire in ("leaf", "spine")


@dataclass(frozen=True)
class Placement:
    """Ranks laid out on a cluster in the layout's rank order, the first axis changing fastest.

    >>> from engine.hardware import cluster_named
    >>> placed = Placement(Layout().on_gpus(1024), cluster_named("hgx-h100"), 1024)
    >>> placed.reach("tp").wire, placed.reach("dp").wire, placed.coordinates(74)
    ('nvlink', 'leaf', {'tp': 2, 'cp': 0, 'dp': 9, 'pp': 0})
    """

    layout: Layout
    cluster: Cluster
    gpus: int

    @property
    def order(self) -> list[Axis]:
        """Axes of the dense grid, fastest first. Experts spread over ranks of the same grid, so ep is no axis of it."""
        return [axis for axis in self.layout.rank_order.split("-") if axis != "ep"]  # type: ignore[misc]

    def degree(self, axis: Axis) -> int:
        """Ranks in a group of this axis."""
        return {"tp": self.layout.tp, "cp": self.layout.cp, "dp": self.layout.data_width, "pp": self.layout.pp,
                "ep": self.layout.ep}[axis]  # fmt: skip

    def stride(self, axis: Axis) -> int:
        """Ranks between neighbours of a group of this axis."""
        if axis == "ep":
            return self._expert_stride
        stride = 1
        for other in self.order:
            if other == axis:
                return stride
            stride *= self.degree(other)
        raise KeyError(axis)

    @cached_property
    def _expert_stride(self) -> int:
        """Experts' ranks are neighbours once the axes named before ep in the rank order have been dealt.

        Expert TP takes tp's place; cp, and of dp what ep does not use, come after ep unless the order says otherwise.
        """
        stride = 1
        for axis in self.layout.rank_order.split("-"):
            if axis == "ep":
                return stride
            if axis == "tp":
                stride *= self.layout.expert_tp
            elif axis == "dp":
                stride *= max(1, self.layout.data_width * self.layout.tp // (self.layout.ep * self.layout.expert_tp))
            elif axis == "pp":
                stride *= self.layout.pp
        return stride

    def coordinates(self, rank: int) -> dict[str, int]:
        """Coordinates of a rank on the dense grid."""
        return {axis: rank // self.stride(axis) % self.degree(axis) for axis in self.order}

    def group(self, axis: Axis, rank: int = 0) -> list[int]:
        """Ranks that share every other coordinate with this one."""
        stride, degree = self.stride(axis), self.degree(axis)
        first = rank - rank // stride % degree * stride
        return [first + i * stride for i in range(degree)]

    def reach(self, axis: Axis) -> Reach:
        """How far the groups of one axis reach."""
        return self._reach(self.degree(axis), np.arange(self.degree(axis)) * self.stride(axis))

    @cached_property
    def data_reach(self) -> Reach:
        """How far gradients travel: data-parallel and context-parallel ranks hold the same weights."""
        layout = self.layout
        dp = np.arange(layout.data_width) * self.stride("dp")
        cp = np.arange(layout.cp) * self.stride("cp")
        return self._reach(layout.data_width * layout.cp, (dp[:, None] + cp[None, :]).ravel())

    @cached_property
    def shard_reach(self) -> Reach:
        """How far FSDP's gathers travel: the HSDP group where there is one, else all that hold the same weights."""
        width = self.layout.shard_width
        if width == self.data_reach.size:
            return self.data_reach
        return self._reach(width, np.arange(width) * min(self.stride("dp"), self.stride("cp")))

    def _reach(self, size: int, offsets: np.ndarray) -> Reach:
        if size == 1:
            return Reach(1, 1, "none")
        domain, unit = self.cluster.gpus_per_node, self.cluster.gpus_per_node * self.cluster.nodes_per_unit
        local = max(1, int(np.count_nonzero(offsets < domain)))
        span = int(offsets.max()) + self._first_stride(offsets)
        if self._inside(span, domain):
            return Reach(size, size, "nvlink")
        return Reach(size, local, "leaf" if self._inside(span, unit) else "spine")

    @staticmethod
    def _first_stride(offsets: np.ndarray) -> int:
        return int(np.sort(offsets)[1]) if offsets.size > 1 else 1

    def _inside(self, span: int, block: int) -> bool:
        """Groups of this span never straddle two blocks: blocks hold whole groups, or all GPUs are in the first."""
        return self.gpus <= block or (span <= block and block % span == 0)
