"""The wires between GPUs that share data: what a ring of so many has, and which counts fit whole nodes."""

from engine.catalog.hardware import Cluster
from engine.language.formula import Given, Value
from engine.language.refusal import Refusal
from engine.network.collectives import group_bytes_per_s


def whole_nodes(cluster: Cluster, gpus: int) -> None:
    """A Refusal of a group that is part of a node beside whole ones; it names the nearest count that is none."""
    local = cluster.gpus_per_node
    if gpus > local and gpus % local:
        rule = f"GPUs come in nodes of {local}: above {local} the group is made of whole nodes"
        raise Refusal("gpus", gpus, rule, str(max(1, round(gpus / local)) * local))


def ring_bandwidth(cluster: Cluster, gpus: int) -> Value:
    """What each hop of their ring has: NVLink in a node, all adapters of a node beyond it."""
    local, nvlink = cluster.gpus_per_node, cluster.gpu.fact("nvlink_bytes_per_s")
    if gpus <= local:  # the ring never leaves NVLink
        return Given("bandwidth inside the node", nvlink.value, nvlink.unit, nvlink.source)
    wires = {"V": nvlink.value, "B": cluster.nic_bytes_per_s}
    return group_bytes_per_s.explain("bandwidth between nodes", **wires, w=1.0, e=1.0, l=local)
