"""Findings about tensor parallelism: sums that leave the node, heads that are held twice, norms that must be cut too."""

from collections.abc import Iterator

from engine.catalog.calibration import software
from engine.estimate import Estimate
from engine.findings.base import Candidate, Finding, rule
from engine.language.document import divisors
from engine.language.units import bytes_text, counted, share_text
from engine.layout.meaning import tensor_rule
from engine.network.collectives import summed_bytes_per_s
from engine.network.groups import wire_ratio

FEWER = "Use tp {} or fewer."
NORMS = "Cut the norms' tokens over the tensor-parallel ranks too."


@rule
def tensor_parallel_reach(estimate: Estimate) -> Iterator[Finding]:
    """Whether the sums of tensor parallelism stay on NVLink."""
    fabric, reach = estimate.scenario.cluster.gpu.fabric, estimate.step.placement.reach("tp")
    cluster = estimate.scenario.cluster
    nvlink, nic = cluster.gpu.nvlink_bytes_per_s, cluster.nic_bytes_per_s
    each_way, headline = wire_ratio(nvlink, nic), wire_ratio(summed_bytes_per_s(nvlink), nic)
    if reach.leaves_node:
        candidates = _into_the_node(estimate)
        cost = estimate.step.exposed_on("tp") / estimate.step.seconds.value
        yield Finding(
            "tp-leaves-node",
            "error",
            "Tensor parallel leaves the node",
            f"Its sums wait in every layer, {share_text(cost)} of this step. Each group has {counted(reach.local, 'GPU')} per node and as "
            f"many NICs, each {each_way:.0f} times slower than {fabric} one way ({headline:.0f} times by the headline that adds both). "
            f"{_degrees_text(estimate)}",
            candidates[0].words if candidates else "Use a cluster with larger nodes.",
            candidates,
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


def _degrees_inside(estimate: Estimate) -> list[int]:
    """The degrees of TP, up to the plan's own, whose groups a node holds whole."""
    model, tp = estimate.scenario.model, estimate.scenario.layout.tp
    inside = divisors(estimate.scenario.cluster.gpus_per_node)
    return [degree for degree in inside if degree <= tp and tensor_rule(degree, model) is None]


def _degrees_text(estimate: Estimate) -> str:
    """Which degrees a node holds, and why those."""
    model, size, works = estimate.scenario.model, estimate.scenario.cluster.gpus_per_node, _degrees_inside(estimate)
    listed = " and ".join(filter(None, (", ".join(str(degree) for degree in works[:-1]), str(works[-1]))))
    shared = f", and suit the {model.kv_heads} KV heads" if model.kv_heads < model.heads and not model.latent else ""
    return f"{listed} divide the {size} GPUs of a node and the {model.heads} heads{shared}."


def _into_the_node(estimate: Estimate) -> tuple[Candidate, ...]:
    """TP inside a node: by another order where that alone takes its ranks apart, or by a smaller degree."""
    layout, works = estimate.scenario.layout, _degrees_inside(estimate)
    order = tp_first(layout.rank_order)
    first = {"rank_order": order} if order != layout.rank_order else {}
    smaller = [Candidate({"tp": degree, **first}, "Keep TP within a node.") for degree in works if degree < layout.tp]
    turned = (
        [Candidate(first, f"Let TP change first in the rank order: {order}.")] if first and layout.tp in works else []
    )
    return (*turned, *reversed(smaller))


def tp_first(order: str) -> str:
    """The rank order with tp changing fastest.

    >>> tp_first("dp-tp-cp-ep-pp")
    'tp-dp-cp-ep-pp'
    """
    return "-".join(["tp", *(axis for axis in order.split("-") if axis != "tp")])


@rule
def key_value_heads(estimate: Estimate) -> Iterator[Finding]:
    """Ranks that would hold copies of the same key-value heads."""
    scenario, model, tp = estimate.scenario, estimate.scenario.model, estimate.scenario.layout.tp
    if tp > model.kv_heads and not model.latent:
        torch = software()[scenario.stack_name].torch
        yield Finding(
            "kv-heads-copied",
            "warning",
            "More ranks than KV heads",
            f"{tp} tensor-parallel ranks share {counted(model.kv_heads, 'KV head')}: {counted(-(-tp // model.kv_heads), 'rank')} hold each."
            + (" torchtitan makes no copies: it refuses to run this." if torch else ""),
            FEWER.format(model.kv_heads),
            tuple(Candidate({"tp": degree}, FEWER.format(model.kv_heads)) for degree in divisors(model.kv_heads)[::-1]),
        )


@rule
def experts_with_whole_norms(estimate: Estimate) -> Iterator[Finding]:
    """Experts under tensor parallelism whose norms each rank computes whole."""
    layout, model = estimate.scenario.layout, estimate.scenario.model
    if model.experts and layout.tp > 1 and not layout.sequence_parallel:
        yield Finding(
            "experts-need-sequence-parallel",
            "warning",
            "No framework trains this as it is",
            f"Megatron-LM refuses experts with tp {layout.tp} and no sequence parallelism; torchtitan always cuts the norms.",
            NORMS,
            (Candidate({"sequence_parallel": True}, NORMS),),
        )
