"""The kernels of a step on its slowest stage, one by one: how long, how fast, and what would make each faster.

Their times add up to the computation of the step.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from engine.compute.flops import mfu_of_rate
from engine.compute.kernels import Kernel, Kind, embedding_kernels, head_kernels, layer_kernels
from engine.compute.matmuls import Matmul
from engine.estimate import Estimate
from engine.language.formula import Number, Term, formula
from engine.language.units import quantity_text
from engine.layout.layout import Layout
from engine.layout.stages import Chunk, stages_of
from engine.scenario import Scenario
from engine.step.parts import share_of_step
from engine.step.step import passes

WORTH_SAYING = 1.03  # a rate that rises by less is the measurement's own spread


@formula(
    r"<n> \cdot <m> \cdot <t>", unit="s", source="Every layer runs its kernels once a micro-batch, forward and backward"
)
def kernel_step_s(n: Number, m: Number, t: Number) -> Number:
    """Time that one kernel takes in a step.   [s]

    n   layers of the stage that run it               [count]
    m   micro-batches that pass them                  [count]
    t   its forward and backward pass, one micro-batch   [s]

    >>> round(kernel_step_s(20, 16, 0.002), 2)
    0.64
    """
    return n * m * t


@formula(r"\frac{<f>}{<t>}", unit="FLOP/s", source="Work over time, of all its passes together")
def kernel_flop_per_s(f: Number, t: Number) -> Number:
    """Rate of one kernel over its passes.   [FLOP/s]

    f   its useful work on one micro-batch   [FLOP]
    t   its time on one micro-batch          [s above 0]

    >>> kernel_flop_per_s(1.2e12, 0.002) / 1e12
    600.0
    """
    return f / t


@formula(
    r"<x> \cdot \left(1 - \frac{<r>}{<P>}\right)",
    unit="share of the step",
    source="Time beyond what the peak would need",
)
def below_peak_share(x: Number, r: Number, P: Number) -> Number:
    """Share of the step lost because one kernel runs below the peak.   [share]

    x   its share of the step                              [share]
    r   its rate, 0 where it does no work that counts      [FLOP/s]
    P   dense peak by which the plan's MFU is counted      [FLOP/s]

    >>> round(below_peak_share(0.3, 655e12, 989e12), 3)
    0.101
    """
    return x * (1 - r / P)


@dataclass(frozen=True)
class KernelRow:
    """One kernel of the step.

    layers   of the stage that run it   [count]
    shape    of a product, as m × n × k; empty for others
    rate     while it runs; none where it does no work that counts
    of_peak  its share of what the GPU could do in the precision it multiplies in
    share    of the step
    lost     of that share, what the plan's peak would not have needed
    raise_it what would make it faster
    """

    name: str
    kind: Kind
    layers: int
    shape: str
    seconds: Term
    rate: Term | None
    of_peak: Term | None
    share: Term
    lost: Term
    raise_it: str


def kernel_list(estimate: Estimate) -> tuple[KernelRow, ...]:
    """The kernels of the slowest stage, the longest first.

    >>> from engine.estimate import estimate
    >>> from engine.scenario import scenario_from
    >>> card = estimate(scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024}))
    >>> first = kernel_list(card)[0]
    >>> first.name, first.shape, first.share.text
    ('MLP up', '8,192 × 7,168 × 8,192', '28.7 % of the step')
    """
    scenario = estimate.scenario
    stage = stages_of(scenario.model, scenario.layout)[estimate.step.stage].whole
    own = tuple(_kernels(scenario, scenario.layout, stage))
    faster = _faster(scenario, stage, {kernel.name: _rate(kernel) for kernel, _ in own})
    rows = [_row(estimate, kernel, layers, faster.get(kernel.name, "")) for kernel, layers in own]
    return tuple(sorted(rows, key=lambda row: -row.seconds.value))


def _kernels(scenario: Scenario, layout: Layout, stage: Chunk) -> Iterator[tuple[Kernel, int]]:
    """Every kernel of a stage, and how many layers run it. Layers with and without experts name some alike."""
    asked = scenario.model, layout, scenario.machine, scenario.sequence_tokens
    both = stage.dense and stage.moe
    for layers, moe in ((stage.dense, False), (stage.moe, True)):
        where = (" of expert layers" if moe else " of dense layers") if both else ""
        for kernel in layer_kernels(*asked, moe) if layers else ():
            yield replace(kernel, name=f"{kernel.name}{where}"), layers
    for present, kernels in ((stage.embedding, embedding_kernels), (stage.head, head_kernels)):
        for kernel in kernels(*asked) if present else ():
            yield kernel, 1


def _faster(scenario: Scenario, stage: Chunk, now: Mapping[str, float]) -> dict[str, str]:
    """The kernels that run at a higher rate when one degree changes, and at which: the kernels alone, not the step.

    now   rate of each as the plan stands   [FLOP/s]
    """
    found: dict[str, tuple[float, str]] = {}
    for words, layout in _larger(scenario.layout):
        for kernel, _ in _kernels(scenario, layout, stage):
            if kernel.kind == "product" and _rate(kernel) > WORTH_SAYING * now[kernel.name]:
                found[kernel.name] = max(found.get(kernel.name, (0.0, "")), (_rate(kernel), words))
    return {name: f"{words}: {quantity_text(rate, 'FLOP/s')} by itself" for name, (rate, words) in found.items()}


def _larger(layout: Layout) -> Iterator[tuple[str, Layout]]:
    """Layouts that give a GPU more of each product."""
    yield f"micro-batch {2 * layout.micro_batch}", layout.model_copy(update={"micro_batch": 2 * layout.micro_batch})
    for axis in ("tp", "ep"):
        degree = getattr(layout, axis)
        if degree > 1 and degree % 2 == 0:
            yield f"{axis.upper()} {degree // 2}", layout.model_copy(update={axis: degree // 2})


def _rate(kernel: Kernel) -> float:
    """Of all its passes together.   [FLOP/s]"""
    return sum(kernel.flop) / sum(kernel.seconds)


def _row(estimate: Estimate, kernel: Kernel, layers: int, faster: str) -> KernelRow:
    scenario, name = estimate.scenario, kernel.name
    gpu, once, flop = scenario.cluster.gpu, sum(kernel.seconds), sum(kernel.flop)
    seconds = kernel_step_s.explain(name, n=layers, m=passes(scenario.layout), t=once)
    share = share_of_step.explain(f"{name}: share", x=seconds, s=estimate.step.seconds)
    rate = of_peak = None
    if flop:
        rate = kernel_flop_per_s.explain(f"{name}: rate", f=flop, t=once)
        of_peak = mfu_of_rate.explain(f"{name}: share of peak", F=rate, P=gpu.peak(kernel.precision))
    return KernelRow(
        name=name,
        kind=kernel.kind,
        layers=layers,
        shape=_shape(kernel.product) if kernel.product else "",
        seconds=seconds,
        rate=rate,
        of_peak=of_peak,
        share=share,
        lost=below_peak_share.explain(f"{name}: below peak", x=share, r=rate or 0, P=gpu.peak(scenario.precision)),
        raise_it=_raise(scenario, kernel, faster),
    )


def _shape(product: Matmul) -> str:
    each = " × ".join(f"{size:,.0f}" for size in (product.m, product.n, product.k))
    return f"{product.experts:g} of {each}" if product.experts else each


def _raise(scenario: Scenario, kernel: Kernel, faster: str) -> str:
    layout = scenario.layout
    if kernel.product:
        return faster or "no larger one was measured to be faster"
    if kernel.kind == "attention":
        return "" if scenario.stack.fused_attention else "fused attention: the scores would not pass through memory"
    if kernel.kind == "launches":
        return "larger micro-batches, as many launches for more work; CUDA graphs"
    if kernel.name.startswith("adding gradients"):
        return "gradients in BF16 move a third of the bytes" if layout.gradient_bytes == 4 else ""
    if layout.tp > 1 and not layout.sequence_parallel and kernel.name.startswith("norms"):
        return "sequence parallelism: each GPU of the TP group takes its part"
    return "fusing it into its neighbours: bytes that are not moved"
