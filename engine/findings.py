"""Red flags: what is legal but unwise about a layout. Small rules in one list; none ever raises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from engine.catalog import calibration
from engine.language.document import divisors
from engine.language.units import bytes_text, seconds_text, share_text
from engine.layout.meaning import meaning_refusals
from engine.memory.state import state_bytes
from engine.network.collectives import summed_bytes_per_s
from engine.network.fabric import Fabric
from engine.network.groups import wire_ratio
from engine.network.link_load import load_of
from engine.pipeline.bubble import bubble_of_total

if TYPE_CHECKING:
    from engine.estimate import Estimate

Severity = Literal["error", "warning", "advice", "good"]
RANK: dict[Severity, int] = {"error": 0, "warning": 1, "advice": 2, "good": 3}


@dataclass(frozen=True)
class Finding:
    """One thing worth saying about a layout.

    code       stable name of the rule
    title      about five words
    why        the reason, with this case's numbers
    try_this   what to change
    change     the layout fields that would do it, where that is one click
    """

    code: str
    severity: Severity
    title: str
    why: str
    try_this: str
    change: dict[str, Any] = field(default_factory=dict, hash=False)


Rule = Callable[["Estimate"], Iterator[Finding]]
RULES: list[Rule] = []


def rule(function: Rule) -> Rule:
    """List a rule."""
    RULES.append(function)
    return function


def findings_of(estimate: Estimate) -> tuple[Finding, ...]:
    """Everything the rules find, the gravest first."""
    found = [finding for check in RULES for finding in check(estimate)]
    return tuple(sorted(found, key=lambda finding: RANK[finding.severity]))


@rule
def memory(estimate: Estimate) -> Iterator[Finding]:
    """Whether the fullest stage fits, and with what to spare."""
    needed, capacity = estimate.fullest.needed.value, estimate.capacity_bytes
    stage = f"stage {estimate.fullest.stage}" if len(estimate.stages) > 1 else "each GPU"
    share = f"{stage} needs {bytes_text(needed, binary=True)} of {bytes_text(capacity, binary=True)}"
    if needed > capacity:
        yield Finding("out-of-memory", "error", "It does not fit", f"With the allocator's reserve and CUDA's context {share}.",
                      *_less_memory(estimate))  # fmt: skip
    elif estimate.fullest.total.value > calibration.factor("roomy_share") * capacity:
        yield Finding("little-headroom", "warning", "Little memory to spare",
                      f"{share.capitalize()}; below {share_text(calibration.factor('roomy_share'))} allocated nobody ran out.",
                      *_less_memory(estimate))  # fmt: skip


def _less_memory(estimate: Estimate) -> tuple[str, dict[str, Any]]:
    """What to change first when memory is short: what is largest and can still be cut."""
    layout, parts = estimate.scenario.layout, estimate.fullest.parts
    largest = max(parts, key=lambda part: part.value).label
    if largest == "activations":
        if layout.micro_batch > 1:
            return "Halve the micro-batch: activations halve with it.", {}
        if layout.recompute != "full":
            return "Recompute the layers: only their inputs are kept, for a third more forward work.", {
                "recompute": "full"
            }
    if layout.zero == 0 and layout.shard_width > 1:
        return "Shard the optimizer state (ZeRO-1): it costs no extra traffic.", {"zero": 1}
    if layout.zero < 3 and layout.shard_width > 1 and layout.pp == 1:
        return "Shard gradients and weights as well (FSDP).", {"zero": 3}
    return "Cut the model further: more tensor or pipeline parallelism, or more GPUs.", {}


@rule
def tensor_parallel_reach(estimate: Estimate) -> Iterator[Finding]:
    """Whether the sums of tensor parallelism stay on NVLink."""
    fabric = estimate.scenario.cluster.gpu.fabric
    scenario, reach = estimate.scenario, estimate.step.placement.reach("tp")
    cluster = scenario.cluster
    nvlink, nic = cluster.gpu.nvlink_bytes_per_s, cluster.nic_bytes_per_s
    each_way, headline = wire_ratio(nvlink, nic), wire_ratio(summed_bytes_per_s(nvlink), nic)
    if reach.leaves_node:
        size, order = cluster.gpus_per_node, _tp_first(scenario.layout.rank_order)
        fits = max(t for t in range(1, size + 1) if scenario.layout.tp % t == 0 and size % t == 0)
        advice, change = f"Keep tp within the {cluster.gpus_per_node} GPUs of a node: {fits}.", {"tp": fits}
        if fits == scenario.layout.tp and order != scenario.layout.rank_order:  # only the order takes its ranks apart
            advice, change = f"Let TP change first in the rank order: {order}.", {"rank_order": order}
        yield Finding("tp-leaves-node", "error", "Tensor parallel leaves the node",
                      f"Its sums wait in every layer, and a NIC is {each_way:.0f} times slower than {fabric} each way "
                      f"(the {headline:.0f} times one hears adds its two directions).",
                      advice, change)  # fmt: skip
    elif reach.size > 1:
        yield Finding("tp-in-node", "good", "Tensor parallel stays inside",
                      f"{fabric} carries it at {bytes_text(nvlink)}/s each way; a NIC would be "
                      f"{each_way:.0f} times slower ({headline:.0f} times by the headline that adds both ways).",
                      "Leave it there.")  # fmt: skip


def _tp_first(order: str) -> str:
    return "-".join(["tp", *(axis for axis in order.split("-") if axis != "tp")])


@rule
def key_value_heads(estimate: Estimate) -> Iterator[Finding]:
    """Ranks that would hold copies of the same key-value heads."""
    model, tp = estimate.scenario.model, estimate.scenario.layout.tp
    if tp > model.kv_heads and not model.latent:
        yield Finding("kv-heads-copied", "warning", "More ranks than KV heads",
                      f"{tp} tensor-parallel ranks share {model.kv_heads} KV heads: {tp // model.kv_heads} copies of each.",
                      f"Use tp {model.kv_heads} or fewer.", {"tp": model.kv_heads})  # fmt: skip


@rule
def bubble(estimate: Estimate) -> Iterator[Finding]:
    """A bubble worth the trouble of another schedule."""
    layout, share = estimate.scenario.layout, estimate.alone.bubble_of_total
    if share <= calibration.factor("large_bubble_share"):
        return
    options = [(v, after) for v, after in _interleavings(estimate) if after < share]
    better = " or ".join(f"v = {v} ({share_text(after)})" for v, after in options[:2])
    advice = f"Interleave {better}." if better else "Run more micro-batches, or fewer stages."
    yield Finding("large-bubble", "warning", f"{share_text(share)} of every step waits",
                  f"{layout.pp} stages fill and drain around {layout.micro_batches} micro-batches.", advice,
                  {"schedule": "interleaved", "vp": options[0][0]} if options else {})  # fmt: skip


def _interleavings(estimate: Estimate) -> list[tuple[int, float]]:
    """Chunk counts that the layers allow, each with the bubble it leaves."""
    layout, layers = estimate.scenario.layout, estimate.scenario.model.layers
    if layout.pp == 1 or layers % layout.pp or layout.micro_batches % layout.pp:
        return []
    stage = layers // layout.pp
    options = [v for v in range(layout.vp + 1, stage + 1) if stage % v == 0]
    legal = [v for v in options if _legal(estimate, {"schedule": "interleaved", "vp": v})]
    return [(v, float(bubble_of_total(layout.pp, layout.micro_batches, v))) for v in legal]


def _legal(estimate: Estimate, change: dict[str, Any]) -> bool:
    """Whether a changed layout has a meaning when dp takes what is left and the global batch stays, so far as it divides."""
    scenario = estimate.scenario
    layout = scenario.layout.model_copy(update={**change, "dp": None}).on_gpus(scenario.gpus)
    if layout.dp is None:
        return False
    batch = max(1, scenario.layout.global_batch // (layout.dp * layout.micro_batch))
    layout = layout.model_copy(update={"micro_batches": batch})
    return not meaning_refusals(layout, scenario.model, scenario.gpus, scenario.sequence_tokens)


@rule
def micro_batches(estimate: Estimate) -> Iterator[Finding]:
    """Too few micro-batches to fill the pipeline."""
    layout = estimate.scenario.layout
    if layout.pp > 1 and layout.micro_batches < layout.pp:
        yield Finding("too-few-micro-batches", "warning", "Fewer micro-batches than stages",
                      f"{layout.micro_batches} micro-batches never fill {layout.pp} stages: some always wait.",
                      f"Run at least {4 * layout.pp} micro-batches a pipeline, with less data parallelism or a larger batch.")  # fmt: skip


@rule
def uneven_stages(estimate: Estimate) -> Iterator[Finding]:
    """Layers that do not divide into equal stages."""
    model, layout = estimate.scenario.model, estimate.scenario.layout
    chunks = layout.pp * layout.vp
    if layout.pp > 1 and model.layers % chunks and (model.layers + 2) % chunks:
        near = [p for p in divisors(model.layers) if _legal(estimate, {"pp": p})]
        if not near:
            return
        best = min(near, key=lambda p: abs(p - layout.pp))
        yield Finding("does-not-divide", "warning", "Stages of unequal size",
                      f"{model.layers} layers over {layout.pp} stages: the larger stages make the others wait.",
                      f"{best} stages would hold {model.layers // best} layers each.", {"pp": best})  # fmt: skip


@rule
def data_parallel_reach(estimate: Estimate) -> Iterator[Finding]:
    """Gradients that leave their unit of the network."""
    reach, cluster = estimate.step.placement.reach("data"), estimate.scenario.cluster
    traffic = [c for c in estimate.step.communication if c.axis == "dp" and c.reach.wire == "spine"]
    if reach.wire != "spine" or not traffic:
        return
    sent = sum(c.sent.value * c.count for c in traffic)
    shown = sum(c.exposed.value for c in traffic)
    if shown < calibration.factor("seen_share") * estimate.step.seconds.value:
        return
    fabric = Fabric(cluster, estimate.scenario.gpus)
    risen = sum(float(load_of(c, estimate.step.placement, fabric).uplink_bytes.max()) for c in traffic)
    nearer = _under_a_leaf(estimate)
    yield Finding("dp-crosses-spine", "warning" if cluster.oversubscription > 1 else "advice", "Gradients cross the spine",
                  f"{bytes_text(sent)} per GPU and step travel in rings that leave their unit of {fabric.gpus_per_unit} GPUs, and "
                  f"{bytes_text(risen)} rise from each leaf switch; {seconds_text(shown)} of it shows.",
                  f"Let data parallelism change before pipeline stages: {nearer}." if nearer else
                  "Shard inside a unit (HSDP), or give each unit a pipeline stage of its own.",
                  {"rank_order": nearer} if nearer else {})  # fmt: skip


def _under_a_leaf(estimate: Estimate) -> str | None:
    """The rank order with pp last, if gradients then stay in their unit."""
    scenario, placed = estimate.scenario, estimate.step.placement
    order = "-".join([axis for axis in scenario.layout.rank_order.split("-") if axis != "pp"] + ["pp"])
    moved = replace(placed, layout=scenario.layout.model_copy(update={"rank_order": order}))
    return order if order != scenario.layout.rank_order and moved.reach("data").wire != "spine" else None


@rule
def fsdp_network(estimate: Estimate) -> Iterator[Finding]:
    """Gathers that computation does not hide."""
    layout = estimate.scenario.layout
    shown = sum(c.exposed.value for c in estimate.step.communication if c.axis == "dp")
    share = shown / estimate.step.seconds.value
    if layout.zero == 3 and share > calibration.factor("network_bound_share"):
        tokens = layout.micro_batch * estimate.scenario.sequence_tokens // layout.cp
        groups = "" if layout.hsdp_shard else ", or shard inside a group (HSDP)"
        yield Finding("fsdp-network-bound", "warning", "FSDP waits for the network",
                      f"{share_text(share)} of the step waits for weights and gradients, or is slowed by computing beside them: "
                      f"{tokens:,} tokens a GPU and micro-batch are little work to hide them.",
                      f"Raise the tokens per GPU, add tensor parallelism{groups}.")  # fmt: skip


@rule
def simpler(estimate: Estimate) -> Iterator[Finding]:
    """A small run that FSDP alone would carry."""
    scenario, layout = estimate.scenario, estimate.scenario.layout
    if layout.zero == 3 or layout.pp == 1 or scenario.gpus > calibration.factor("simple_gpus"):
        return
    state = state_bytes(estimate.parameters.value, 3, scenario.gpus)
    if state < calibration.factor("simple_state_share") * estimate.capacity_bytes:
        yield Finding("simpler-layout-fits", "advice", "Plain FSDP would do",
                      f"Sharded over {scenario.gpus} GPUs the training state is {bytes_text(state)} each.",
                      "Use FSDP alone: no pipeline, no tensor parallelism to maintain.",
                      {"tp": 1, "pp": 1, "zero": 3, "schedule": "1f1b", "vp": 1})  # fmt: skip


@rule
def experts(estimate: Estimate) -> Iterator[Finding]:
    """What is assumed of the busiest expert."""
    layout, model = estimate.scenario.layout, estimate.scenario.model
    if not model.experts or layout.ep == 1:
        return
    imbalance = calibration.factors()["expert_imbalance"]
    yield Finding("experts-imbalanced", "advice", "The busiest expert sets the pace",
                  f"Reckoned with {imbalance.value:g} times the mean load; {imbalance.low:g} to {imbalance.high:g} are seen.",
                  "Balance routing (auxiliary loss or bias), or drop over a capacity.")  # fmt: skip


@rule
def plausible(estimate: Estimate) -> Iterator[Finding]:
    """An MFU above what anyone has published."""
    value = estimate.mfu.causal.value
    given = estimate.scenario.training.mfu
    most = calibration.factors()["plausible_mfu"]
    if max(value, given or 0) > most.value:
        shown = max(value, given or 0)
        yield Finding("mfu-implausible", "warning", "Faster than anyone has shown",
                      f"{share_text(shown)} MFU; {most.source}.",
                      "Check the batch and the sequence, and which convention and peak a quoted MFU uses.")  # fmt: skip


@rule
def restarts(estimate: Estimate) -> Iterator[Finding]:
    """A run that loses much of its time to failures."""
    goodput = estimate.training.goodput_share
    if goodput.value < calibration.factor("useful_share"):
        mtbf = goodput.numbers["M"]
        yield Finding("no-restart-plan", "warning", "Failures need a plan",
                      f"Some GPU fails every {seconds_text(mtbf)}: {share_text(goodput.value)} of the time would be useful.",
                      "Save asynchronously, restart in minutes, keep spare nodes.")  # fmt: skip
