"""Time of a collective on the wires that its group crosses: measured inside an NVLink domain, reckoned beyond it."""

from engine import calibration, kernels
from engine.collectives import (
    all_to_all_sent_bytes,
    group_bytes_per_s,
    ring_all_gather_sent_bytes,
    ring_all_reduce_sent_bytes,
    ring_half_s,
    send_s,
)
from engine.formula import Formula
from engine.hardware import Cluster
from engine.topology import Reach

SENT: dict[str, Formula] = {
    "all_gather": ring_all_gather_sent_bytes,
    "reduce_scatter": ring_all_gather_sent_bytes,
    "all_to_all": all_to_all_sent_bytes,
    "all_reduce": ring_all_reduce_sent_bytes,
}


def nic_bytes_per_s(cluster: Cluster, reach: Reach) -> float:
    """Bandwidth of one GPU's NIC towards this group, shared by others where the spine is narrower.   [bytes/s]"""
    narrow = cluster.oversubscription if reach.wire == "spine" else 1.0
    return cluster.nic_bytes_per_s / narrow


def collective_s(op: str, payload_bytes: float, reach: Reach, cluster: Cluster) -> float:
    """Time of one collective.   [s]

    op              all_gather, reduce_scatter, all_reduce, all_to_all
    payload_bytes   the whole buffer: gathered, before scattering, or one rank's send buffer   [bytes]
    reach           the group and the farthest wire it crosses

    Beyond a node a ring runs over every local rank's NIC. An all-to-all sends only what leaves the node over the NIC.
    """
    if reach.size == 1 or payload_bytes == 0:
        return 0.0
    if not reach.leaves_node:
        return float(kernels.nvlink_collective_s(cluster.gpu, op, reach.size, payload_bytes))
    nic, nic_share = nic_bytes_per_s(cluster, reach), calibration.factor("nic_share")
    hops = (reach.nodes - 1) * calibration.factor("node_hop_s") + (reach.local - 1) * calibration.factor("local_hop_s")
    if op == "all_to_all":
        away = payload_bytes * (1 - reach.local / reach.size)
        return hops + away / (nic * nic_share)
    bandwidth = group_bytes_per_s(
        w=calibration.factor("nvlink_share"), V=cluster.gpu.nvlink_bytes_per_s, l=reach.local, e=nic_share, B=nic
    )
    half = ring_half_s(S=payload_bytes, n=reach.size, B=bandwidth, a=hops / (reach.size - 1))
    return float(half * (2 if op == "all_reduce" else 1))


def send_time_s(payload_bytes: float, reach: Reach, cluster: Cluster) -> float:
    """Time of one send to the next rank of a group.   [s]"""
    if reach.size == 1:
        return 0.0
    share = calibration.factor("nic_share") if reach.leaves_node else calibration.factor("nvlink_share")
    wire = nic_bytes_per_s(cluster, reach) if reach.leaves_node else cluster.gpu.nvlink_bytes_per_s
    return float(send_s(S=payload_bytes, B=share * wire, a=calibration.factor("send_latency_s")))
