"""Which links a collective loads, and how much: bytes on every GPU's NVLink port, on its NIC, and on every leaf's uplinks."""

from dataclasses import dataclass

import numpy as np

from engine.language.formula import Number, formula
from engine.network.fabric import Fabric
from engine.network.issued import Collective
from engine.network.placement import Placement, members_together


@dataclass(frozen=True)
class LinkLoad:
    """What one step's collectives of one kind put on the links, each direction.

    nvlink_bytes   sent by each GPU inside its domain                                [bytes, one for each GPU]
    nic_bytes      sent by each GPU's NIC                                            [bytes, one for each GPU]
    uplink_bytes   sent from each leaf switch to the spine                           [bytes, one for each leaf]
    flows          NICs of each leaf that send to the spine at the same time         [count, one for each leaf]
    """

    nvlink_bytes: np.ndarray
    nic_bytes: np.ndarray
    uplink_bytes: np.ndarray
    flows: np.ndarray

    def __add__(self, other: "LinkLoad") -> "LinkLoad":
        """Two kinds that follow each other: bytes add up, flows do not meet."""
        return LinkLoad(
            self.nvlink_bytes + other.nvlink_bytes,
            self.nic_bytes + other.nic_bytes,
            self.uplink_bytes + other.uplink_bytes,
            np.maximum(self.flows, other.flows),
        )


@formula(
    r"\frac{<f> \cdot <o>}{<n>}",
    unit="share",
    source="Flows that meet at a leaf, over the NICs its uplinks could carry",
)
def uplink_share(f: Number, n: Number, o: Number) -> Number:
    """Share of a leaf's uplinks that flows at full rate would need; above 1 they wait for each other.   [share]

    f   NICs of the leaf that send to the spine at once   [count or none]
    n   NICs of the leaf                                  [count]
    o   leaf bandwidth down over up                       [times above 0]

    >>> uplink_share(f=4, n=32, o=2), uplink_share(f=32, n=32, o=2)
    (0.25, 2.0)
    """
    return f * o / n


@formula(
    r"\frac{<b>}{<B> \cdot <s>}", unit="share of the step", source="Bytes on a link over what it could carry in a step"
)
def busy_share(b: Number, B: Number, s: Number) -> Number:
    """Share of a step in which a link is busy with one axis, at its line rate.   [share]

    b   bytes it carries in a step           [bytes]
    B   bandwidth of the link, each direction   [bytes/s]
    s   one step                             [s above 0]

    >>> busy_share(b=12.5e9, B=50e9, s=5)
    0.05
    """
    return b / (B * s)


def load_of(collective: Collective, placed: Placement, fabric: Fabric) -> LinkLoad:
    """What all groups together put on the links with one kind of collective in a step.

    Rings pass through the ranks of a node, then on to the next node in rank order, over as many NICs as the group has
    there. Stages send both ways to their neighbours, keys and values go round one way. In an all-to-all everyone sends to
    everyone. Between rails of one unit NCCL hands over inside the node first (PXN), so that the leaf is enough.
    """
    groups = placed.groups(collective.reach.members)
    total = collective.sent.value * collective.count
    if groups.shape[1] == 1 or total == 0:
        return _nothing(fabric)
    if collective.op == "all_to_all":
        return _to_everyone(groups, total, placed, fabric)
    if collective.op == "send":
        around = collective.axis == "cp"
        return _to_neighbours(
            groups, total, around or placed.layout.vp > 1, (1,) if around else (1, -1), placed, fabric
        )
    return _rings(groups, total, placed, fabric)


def _nothing(fabric: Fabric) -> LinkLoad:
    return LinkLoad(np.zeros(fabric.gpus), np.zeros(fabric.gpus), np.zeros(fabric.leaves), np.zeros(fabric.leaves))


def _rings(groups: np.ndarray, total: float, placed: Placement, fabric: Fabric) -> LinkLoad:
    nodes, units = placed.node_of(groups), placed.unit_of(groups)
    together, spanned = members_together(nodes)
    away = (spanned > 1)[:, None] / together  # each of the ranks that share a node takes its part of what leaves it
    up = units != np.take_along_axis(units, _next_node(nodes), axis=1)
    return _loaded(groups, total * (1 - away), total * away, up, 1.0, fabric)


def _next_node(nodes: np.ndarray) -> np.ndarray:
    """For every member, the place in its group of the first member of the next node; after the last comes the first."""
    size = nodes.shape[1]
    starts = np.full(nodes.shape, size)
    starts[:, 1:] = np.where(nodes[:, 1:] != nodes[:, :-1], np.arange(1, size), size)
    following = np.minimum.accumulate(starts[:, ::-1], axis=1)[:, ::-1]  # the next start at or after each place
    after = np.concatenate([following[:, 1:], np.full((len(nodes), 1), size)], axis=1)
    return np.where(after == size, 0, after)


def _to_neighbours(
    groups: np.ndarray, total: float, closed: bool, steps: tuple[int, ...], placed: Placement, fabric: Fabric
) -> LinkLoad:
    """The bytes shared among the ways of `steps`. `closed`: the last sends to the first as well."""
    load = _nothing(fabric)
    for step in steps:
        peers = np.roll(groups, -step, axis=1)
        sends = np.ones(groups.shape, dtype=bool)
        if not closed:
            sends[:, -1 if step == 1 else 0] = False
        away = sends & (placed.node_of(groups) != placed.node_of(peers))
        up = placed.unit_of(groups) != placed.unit_of(peers)
        load = load + _loaded(groups, total / len(steps) * (sends & ~away), total / len(steps) * away, up, 1.0, fabric)
    return load


def _to_everyone(groups: np.ndarray, total: float, placed: Placement, fabric: Fabric) -> LinkLoad:
    others = groups.shape[1] - 1
    near = (members_together(placed.node_of(groups))[0] - 1) / others
    beside = (members_together(placed.unit_of(groups))[0] - 1) / others
    return _loaded(
        groups, total * near, total * (1 - near), beside < 1, (1 - beside) / np.maximum(1 - near, 1e-12), fabric
    )


def _loaded(
    groups: np.ndarray, inside: np.ndarray, away: np.ndarray, up: np.ndarray, share: np.ndarray | float, fabric: Fabric
) -> LinkLoad:
    """The load of members in groups as a load of links. Of what goes `away`, `share` goes up to the spine where `up` is true."""
    ranks = groups.ravel()
    leaves = fabric.leaf_of(ranks)
    nvlink, nic = np.zeros(fabric.gpus), np.zeros(fabric.gpus)
    np.add.at(nvlink, ranks, inside.ravel())
    np.add.at(nic, ranks, away.ravel())
    rising = np.broadcast_to(away * up * share, groups.shape).ravel()
    flows = np.broadcast_to(up * (away > 0) * share, groups.shape).ravel()
    return LinkLoad(nvlink, nic, np.bincount(leaves, rising, fabric.leaves), np.bincount(leaves, flows, fabric.leaves))
