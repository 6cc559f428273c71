"""Time of a collective on the wires that its group crosses: measured inside an NVLink domain, reckoned beyond it."""

from typing import Literal

from engine.catalog import kernel_rates
from engine.catalog.calibration import Calibration
from engine.catalog.hardware import Cluster
from engine.language.formula import Formula
from engine.network.collectives import (
    all_to_all_sent_bytes,
    flat_ring_s,
    group_bytes_per_s,
    hierarchical_s,
    ring_all_gather_sent_bytes,
    ring_all_reduce_sent_bytes,
    ring_half_s,
    send_s,
)
from engine.network.placement import Reach

Way = Literal["ring", "hierarchical", "direct"]

SENT: dict[str, Formula] = {
    "all_gather": ring_all_gather_sent_bytes,
    "reduce_scatter": ring_all_gather_sent_bytes,
    "all_to_all": all_to_all_sent_bytes,
    "all_reduce": ring_all_reduce_sent_bytes,
}


def nic_bytes_per_s(cluster: Cluster, reach: Reach) -> float:
    """Bandwidth of one GPU's NIC towards this group.   [bytes/s]

    Over the spine it is what every NIC is sure of: its share when all below the same leaf send up at once.
    """
    narrow = cluster.oversubscription if reach.wire == "spine" else 1.0
    return cluster.nic_bytes_per_s / narrow


def collective_s(op: str, payload_bytes: float, reach: Reach, cluster: Cluster, known: Calibration) -> float:
    """Time of one collective.   [s]

    op              all_gather, reduce_scatter, all_reduce, all_to_all
    payload_bytes   the whole buffer: gathered, before scattering, or one rank's send buffer   [bytes]
    reach           the group and the farthest wire it crosses
    known           the shares of wires and the latencies of hops that are reached

    Beyond a node a ring runs over every local rank's NIC. An all-to-all sends only what leaves the node over the NIC.
    """
    if reach.size == 1 or payload_bytes == 0:
        return 0.0
    if not reach.leaves_node:
        return float(kernel_rates.nvlink_collective_s(cluster.gpu, op, reach.size, payload_bytes))
    if op == "all_to_all":
        away = payload_bytes * (1 - reach.local / reach.size)
        return _latency_s(reach, known) + away / (known.factor("nic_share") * nic_bytes_per_s(cluster, reach))
    return (2 if op == "all_reduce" else 1) * min(_halves(payload_bytes, reach, cluster, known).values())


def way_of(op: str, payload_bytes: float, reach: Reach, cluster: Cluster, known: Calibration) -> Way:
    """How a collective is done best: "ring" over all ranks, or "hierarchical" in two levels where that is faster."""
    if op in ("all_to_all", "send"):
        return "direct"
    if not reach.leaves_node or payload_bytes == 0:
        return "ring"
    times = _halves(payload_bytes, reach, cluster, known)
    return min(times, key=lambda way: times[way])


def _halves(payload_bytes: float, reach: Reach, cluster: Cluster, known: Calibration) -> dict[Way, float]:
    """Time of an all-gather, half of an all-reduce, by each way there is. Levels of one rank each are no hierarchy."""
    nic = known.factor("nic_share") * nic_bytes_per_s(cluster, reach)
    inside = known.factor("nvlink_share") * cluster.gpu.nvlink_bytes_per_s
    hops = {"a": known.factor("node_hop_s"), "b": known.factor("local_hop_s")}
    bandwidth = group_bytes_per_s(w=1, V=inside, l=reach.local, e=1, B=nic)
    size = {"S": payload_bytes, "N": reach.nodes, "l": reach.local}
    if not reach.even:  # some node holds more of the group than another: one ring over all
        return {
            "ring": _latency_s(reach, known) + float(ring_half_s(S=payload_bytes, n=reach.size, B=bandwidth, a=0.0))
        }
    times: dict[Way, float] = {"ring": float(flat_ring_s(**size, B=bandwidth, **hops))}
    if reach.local > 1:
        times["hierarchical"] = float(hierarchical_s(**size, V=inside, B=nic, **hops))
    return times


def _latency_s(reach: Reach, known: Calibration) -> float:
    between, inside = reach.nodes - 1, reach.size - reach.nodes
    return between * known.factor("node_hop_s") + inside * known.factor("local_hop_s")


def send_time_s(payload_bytes: float, reach: Reach, cluster: Cluster, known: Calibration) -> float:
    """Time of one send to the next rank of a group.   [s]"""
    if reach.size == 1:
        return 0.0
    share = known.factor("nic_share" if reach.leaves_node else "nvlink_share")
    wire = nic_bytes_per_s(cluster, reach) if reach.leaves_node else cluster.gpu.nvlink_bytes_per_s
    return float(send_s(S=payload_bytes, B=share * wire, a=known.factor("send_latency_s")))
