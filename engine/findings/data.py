"""Findings about what data parallelism puts on the wires: gradients that cross the spine, gathers that show."""

from collections.abc import Iterator
from dataclasses import replace

from engine.estimate import Estimate
from engine.findings.base import Candidate, Finding, changes, rule
from engine.language.units import bytes_text, seconds_text, share_text
from engine.layout.completion import pipe_last
from engine.network.fabric import Fabric
from engine.network.link_load import load_of

ORDERED = "Let data parallelism change before pipeline stages: {}."
UNITED = "Shard inside a unit (HSDP), or give each unit a pipeline stage of its own."


@rule
def data_parallel_reach(estimate: Estimate) -> Iterator[Finding]:
    """Gradients that leave their unit of the network."""
    reach, cluster = estimate.step.placement.reach("data"), estimate.scenario.cluster
    traffic = [c for c in estimate.step.communication if c.axis == "dp" and c.reach.wire == "spine"]
    if reach.wire != "spine" or not traffic:
        return
    sent = sum(c.sent_in_step.value for c in traffic)
    shown = sum(c.exposed.value for c in traffic)
    if shown < estimate.scenario.calibration.factor("seen_share") * estimate.step.seconds.value:
        return
    fabric = Fabric(cluster, estimate.scenario.gpus)
    risen = sum(float(load_of(c, estimate.step.placement, fabric).uplink_bytes.max()) for c in traffic)
    nearer = _under_a_leaf(estimate)
    yield Finding(
        "dp-crosses-spine",
        "warning" if cluster.oversubscription > 1 else "advice",
        "Gradients cross the spine",
        f"{bytes_text(sent)} per GPU and step travel in rings that leave their unit of {fabric.gpus_per_unit} GPUs, and "
        f"{bytes_text(risen)} rise from each leaf switch; {seconds_text(shown)} of it shows.",
        ORDERED.format(nearer) if nearer else UNITED,
        (Candidate({"rank_order": nearer}, ORDERED.format(nearer)),)
        if nearer
        else _within_a_unit(estimate, fabric.gpus_per_unit),
        on_wires=True,
    )


def _within_a_unit(estimate: Estimate, unit: int) -> tuple[Candidate, ...]:
    """Shards, or stages, that a unit of the network holds whole."""
    layout = estimate.scenario.layout
    inside = max(1, unit // (layout.tp * layout.cp))  # ranks that share a parameter and stand in one unit
    shard = Candidate({"hsdp_shard": inside * layout.cp}, "Shard inside a unit (HSDP).")
    groups = (shard,) if layout.zero == 3 else ()
    return (*groups, *changes({"pp": 2 * layout.pp}, {"tp": 2 * layout.tp}, {"micro_batch": 2 * layout.micro_batch}))


def _under_a_leaf(estimate: Estimate) -> str | None:
    """The rank order with pp last, if gradients then stay in their unit."""
    scenario, placed = estimate.scenario, estimate.step.placement
    order = pipe_last(scenario.layout.rank_order)
    moved = replace(placed, layout=scenario.layout.model_copy(update={"rank_order": order}))
    return order if order != scenario.layout.rank_order and moved.reach("data").wire != "spine" else None


@rule
def fsdp_network(estimate: Estimate) -> Iterator[Finding]:
    """Gathers that computation does not hide."""
    layout = estimate.scenario.layout
    shown = sum(c.exposed.value for c in estimate.step.communication if c.axis == "dp")
    share = shown / estimate.step.seconds.value
    if layout.zero == 3 and share > estimate.scenario.calibration.factor("network_bound_share"):
        tokens = layout.micro_batch * estimate.scenario.sequence_tokens // layout.cp
        groups = "" if layout.hsdp_shard else ", or shard inside a group (HSDP)"
        yield Finding(
            "fsdp-network-bound",
            "warning",
            "FSDP waits for the network",
            f"{share_text(share)} of the step waits for weights and gradients, or is slowed by computing beside them: "
            f"{tokens:,} tokens per GPU and micro-batch are little work to hide them.",
            f"Raise the tokens per GPU, add tensor parallelism{groups}.",
            _more_work_a_gather(estimate),
            on_wires=True,
        )


def _more_work_a_gather(estimate: Estimate) -> tuple[Candidate, ...]:
    """More tokens to each gather, fewer parameters in it, or a shorter way for it."""
    layout, cluster = estimate.scenario.layout, estimate.scenario.cluster
    larger = changes(*({"micro_batch": times * layout.micro_batch} for times in (2, 4)))
    ranks = layout.data_width * layout.cp
    widths = sorted({max(1, unit // layout.tp) for unit in (cluster.gpus_per_node, 4 * cluster.gpus_per_node)})
    groups = changes(*({"hsdp_shard": width} for width in widths if 1 < width < ranks))
    cut = changes({"tp": 2 * layout.tp}, {"zero": 2}, {"zero": 1, "pp": 2 * layout.pp})
    return (*larger, *(() if layout.hsdp_shard else groups), *cut)
