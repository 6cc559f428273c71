"""The network of a cluster as it is built: NVLink domains, the leaf switches their NICs hang on, and a spine above them."""

from dataclasses import dataclass
from math import ceil
from typing import TypeVar

import numpy as np

from engine.catalog.hardware import Cluster

Ranks = TypeVar("Ranks", int, np.ndarray)  # one, or an array of them: arithmetic is the same


@dataclass(frozen=True)
class Fabric:
    """Nodes in units, and the leaf switches of each unit. GPUs are numbered in order: GPU i of node n is n x GPUs a node + i.

    Rails: GPU i of every node of a unit hangs on the unit's leaf i; where there are fewer rails than GPUs they take turns.
    Rack: all NICs of a unit hang on its one leaf. The spine is reckoned as one layer, whatever layers of switches it is
    built of, and a leaf as one switch.

    >>> from engine.catalog.hardware import cluster_named
    >>> fabric = Fabric(cluster_named("hgx-h100"), 1024)
    >>> fabric.nodes, fabric.units, fabric.leaves, fabric.nics_per_leaf, fabric.leaf_of(300)
    (128, 4, 32, 32, 12)
    """

    cluster: Cluster
    gpus: int

    @property
    def gpus_per_node(self) -> int:
        return self.cluster.gpus_per_node

    @property
    def gpus_per_unit(self) -> int:
        return self.gpus_per_node * self.cluster.nodes_per_unit

    @property
    def nodes(self) -> int:
        """NVLink domains of the run, the last one perhaps not full."""
        return ceil(self.gpus / self.gpus_per_node)

    @property
    def units(self) -> int:
        """Units of the run, the last one perhaps not full."""
        return ceil(self.gpus / self.gpus_per_unit)

    @property
    def leaves_per_unit(self) -> int:
        return (self.cluster.rails or self.gpus_per_node) if self.cluster.wiring == "rails" else 1

    @property
    def leaves(self) -> int:
        """Leaf switches of all units."""
        return self.units * self.leaves_per_unit

    @property
    def nics_per_leaf(self) -> int:
        """NICs that hang on the busiest leaf of a full unit."""
        return ceil(self.gpus_per_node / self.leaves_per_unit) * self.cluster.nodes_per_unit

    @property
    def uplinks_per_leaf(self) -> float:
        """Bandwidth from a leaf to the spine, in NICs it could carry at full rate."""
        return self.nics_per_leaf / self.cluster.oversubscription

    def node_of(self, rank: Ranks) -> Ranks:
        """The node a GPU stands in."""
        return rank // self.gpus_per_node

    def unit_of(self, rank: Ranks) -> Ranks:
        """The unit of its node."""
        return rank // self.gpus_per_unit

    def rail_of(self, rank: Ranks) -> Ranks:
        """Which leaf of its unit its NIC hangs on."""
        return rank % self.gpus_per_node % self.leaves_per_unit

    def leaf_of(self, rank: Ranks) -> Ranks:
        """The leaf its NIC hangs on, counted over all units."""
        return self.unit_of(rank) * self.leaves_per_unit + self.rail_of(rank)

    def ranks_of(self, node: int) -> range:
        """The GPUs of a node."""
        first = node * self.gpus_per_node
        return range(first, min(first + self.gpus_per_node, self.gpus))
