"""Findings about tensor parallelism: sums that leave the node, and heads that are held twice."""

from collections.abc import Iterator

from engine.estimate import Estimate
from engine.findings.base import Finding, rule
from engine.language.units import bytes_text, counted, share_text
from engine.network.collectives import summed_bytes_per_s
from engine.network.groups import wire_ratio


@rule
def tensor_parallel_reach(estimate: Estimate) -> Iterator[Finding]:
    """Whether the sums of tensor parallelism stay on NVLink."""
    fabric = estimate.scenario.cluster.gpu.fabric
    scenario, reach = estimate.scenario, estimate.step.placement.reach("tp")
    cluster = scenario.cluster
    nvlink, nic = cluster.gpu.nvlink_bytes_per_s, cluster.nic_bytes_per_s
    each_way, headline = wire_ratio(nvlink, nic), wire_ratio(summed_bytes_per_s(nvlink), nic)
    if reach.leaves_node:
        cost = estimate.step.exposed_on("tp") / estimate.step.seconds.value
        size, order = cluster.gpus_per_node, _tp_first(scenario.layout.rank_order)
        fits = max(t for t in range(1, size + 1) if scenario.layout.tp % t == 0 and size % t == 0)
        advice, change = f"Keep tp within the {cluster.gpus_per_node} GPUs of a node: {fits}.", {"tp": fits}
        if fits == scenario.layout.tp and order != scenario.layout.rank_order:  # only the order takes its ranks apart
            advice, change = f"Let TP change first in the rank order: {order}.", {"rank_order": order}
        yield Finding(
            "tp-leaves-node",
            "error",
            "Tensor parallel leaves the node",
            f"Its sums wait in every layer, {share_text(cost)} of this step. Each group has {counted(reach.local, 'GPU')} per node and as "
            f"many NICs, each {each_way:.0f} times slower than {fabric} one way ({headline:.0f} times by the headline that adds both).",
            advice,
            change,
            on_wires=True,
        )
    elif reach.size > 1:
        yield Finding(
            "tp-in-node",
            "good",
            "Tensor parallel stays inside",
            f"{fabric} carries it at {bytes_text(nvlink)}/s each way; a NIC would be "
            f"{each_way:.0f} times slower ({headline:.0f} times by the headline that adds both ways).",
            "Leave it there.",
            on_wires=True,
        )


def _tp_first(order: str) -> str:
    return "-".join(["tp", *(axis for axis in order.split("-") if axis != "tp")])


@rule
def key_value_heads(estimate: Estimate) -> Iterator[Finding]:
    """Ranks that would hold copies of the same key-value heads."""
    model, tp = estimate.scenario.model, estimate.scenario.layout.tp
    if tp > model.kv_heads and not model.latent:
        yield Finding(
            "kv-heads-copied",
            "warning",
            "More ranks than KV heads",
            f"{tp} tensor-parallel ranks share {counted(model.kv_heads, 'KV head')}: {counted(-(-tp // model.kv_heads), 'rank')} hold each.",
            f"Use tp {model.kv_heads} or fewer.",
            {"tp": model.kv_heads},
        )
