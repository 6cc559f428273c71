"""The kernels that a GPU runs for one micro-batch, one by one: of a layer, of the embedding, of the head and the loss."""

from dataclasses import dataclass, replace
from typing import Literal

from engine.catalog import kernel_rates
from engine.catalog.model import Model
from engine.compute.flops import head_width
from engine.compute.machine import Machine
from engine.compute.matmuls import Half, Matmul, layer_matmuls, matmul_times
from engine.layout.layout import Layout
from engine.memory.parameters import count

LAYER_KERNELS = 14, 24  # launched by one layer, forward and backward
IN_BF16 = "bf16"  # eight bits are too few for scores and for the loss

Kind = Literal["product", "attention", "streamed", "launches"]


@dataclass(frozen=True)
class Kernel:
    """One kernel of a micro-batch, or small ones that do the same.

    kind       what bounds it: a matrix product, attention, bytes streamed through memory, or the host that launches it
    seconds    of its forward pass, input gradient and weight gradient   [s]
    flop       of the same passes, as far as they count as useful work   [FLOP]
    product    its shape, where it is a matrix product
    precision  of what it multiplies; of what only moves bytes, none
    half       which half of its layer it belongs to; of what stands around both, both
    """

    name: str
    kind: Kind
    seconds: tuple[float, float, float]
    flop: tuple[float, float, float] = (0.0, 0.0, 0.0)
    product: Matmul | None = None
    precision: str = ""
    half: Half = "both"


def layer_kernels(
    model: Model, layout: Layout, machine: Machine, sequence_tokens: int, moe: bool
) -> tuple[Kernel, ...]:
    """Every kernel of one layer and micro-batch on one GPU."""
    tokens = layout.micro_batch * sequence_tokens / layout.cp
    known = machine.calibration
    matmuls = layer_matmuls(model, layout, tokens, moe, known.factor("expert_imbalance"))
    gap = known.factor("launch_gap_s") * machine.jitter
    return (
        *_products(machine, matmuls),
        _attention_core(model, layout, machine, sequence_tokens),
        *_pointwise(model, layout, machine, tokens, moe),
        _accumulation(model, layout, machine, moe),
        Kernel("launches between kernels", "launches", (gap * LAYER_KERNELS[0], gap * LAYER_KERNELS[1], 0.0)),
    )


def _products(machine: Machine, matmuls: list[Matmul]) -> list[Kernel]:
    """All three passes of a matrix product do the same work: one for its result, one for each gradient."""
    seconds = matmul_times(machine, matmuls)
    return [
        Kernel(
            each.name,
            "product",
            (float(row[0]), float(row[1]), float(row[2])),
            (each.flop, each.flop, each.flop),
            each,
            machine.precision,
            each.half,
        )
        for each, row in zip(matmuls, seconds, strict=True)
    ]


def _attention_core(model: Model, layout: Layout, machine: Machine, sequence_tokens: int) -> Kernel:
    """Forward and backward of softmax(QK)V, causal; unfused software computes the masked half as well."""
    b, s, heads = layout.micro_batch, sequence_tokens, model.heads / layout.tp
    width, slow = head_width(model), machine.stack.g * machine.jitter
    precision = IN_BF16 if machine.fp8 else machine.precision
    useful = 2 * b * heads * width * s**2 / layout.cp  # of the causal half
    if machine.stack.fused_attention:
        rate = kernel_rates.attention_flop_per_s(machine.gpu, s / layout.cp, heads, width, b)
        forward = float(useful / rate) * slow
        backward = forward * machine.calibration.factor("attention_backward")
    else:
        rate = kernel_rates.matmul_flop_per_s(machine.gpu, machine.precision, s, s, width)
        products = float(4 * b * heads * width * s**2 / layout.cp / rate) * slow
        scores = b * heads * s**2 / layout.cp
        # scale, mask, softmax and dropout each read and write the scores: 11 bytes a score forward, 16 backward
        there, back = (streamed_s(machine, scores * traffic) for traffic in (11, 16))
        forward, backward = products + there, 2 * products + back
    return Kernel(
        "attention",
        "attention",
        (forward, backward, 0.0),
        (useful, 2 * useful, 0.0),
        precision=precision,
        half="attention",
    )


def _pointwise(model: Model, layout: Layout, machine: Machine, tokens: float, moe: bool) -> list[Kernel]:
    """What streams activations through memory: norms and residuals, rotary embedding, activation, permutation of tokens."""
    heads = (model.heads * (model.qk_dim + model.v_dim) / 2 + model.kv_heads * model.v_dim) / layout.tp
    shared = model.shared_ffn / layout.tp
    routed = model.top_k * (model.moe_ffn / layout.expert_tp if layout.ep == 1 else model.moe_ffn / layout.sp)
    inner = shared + routed if moe else model.ffn / layout.tp
    gate = (3, 5) if model.gated else (2, 3)
    norms = model.hidden / layout.sp
    permuted = 6 * model.top_k * norms  # 12 bytes per token and expert chosen, in both passes
    moved = [
        ("norms and residuals", 10 * norms, 11 * norms),
        ("rotary embedding", 2 * heads, 2 * heads),
        ("activation", gate[0] * inner, gate[1] * inner),
        *([("permutation of tokens", permuted, permuted)] if moe else []),
    ]
    slow = machine.stack.pointwise * machine.jitter

    def seconds(width: float) -> float:
        return streamed_s(machine, 2 * tokens * width) * slow

    return [Kernel(name, "streamed", (seconds(there), seconds(back), 0.0)) for name, there, back in moved]


def _accumulation(model: Model, layout: Layout, machine: Machine, moe: bool) -> Kernel:
    """Adding a micro-batch's weight gradients to the main gradients: read and write, FP32 or BF16."""
    parts = count(model)
    held = (parts.moe_rest if moe else parts.dense_layer) / layout.tp
    held += model.experts * parts.expert / (layout.ep * layout.expert_tp) if moe else 0.0
    traffic = 6 if layout.gradient_bytes == 4 else 2
    exposed = machine.calibration.factor("accumulation_exposed")
    seconds = streamed_s(machine, traffic * held) * exposed * machine.jitter
    return Kernel("adding gradients up", "streamed", (0.0, 0.0, seconds))


def streamed_s(machine: Machine, moved_bytes: float) -> float:
    """Time to stream so many bytes to or from memory.   [s]"""
    return float(kernel_rates.pointwise_s(machine.gpu, machine.calibration, moved_bytes))


def head_kernels(model: Model, layout: Layout, machine: Machine, sequence_tokens: int) -> tuple[Kernel, ...]:
    """The output head and the loss of one micro-batch: three products in BF16, 24 bytes a logit."""
    tokens, words = layout.micro_batch * sequence_tokens / layout.cp, model.vocab / layout.tp
    loss = streamed_s(machine, 12 * tokens * words) * machine.jitter
    wide = replace(machine, precision=IN_BF16)
    return (
        *_products(wide, [Matmul("head", tokens, words, model.hidden)]),
        Kernel("softmax and loss", "streamed", (loss, loss, 0.0)),
    )


def embedding_kernels(model: Model, layout: Layout, machine: Machine, sequence_tokens: int) -> tuple[Kernel, ...]:
    """The input embedding of one micro-batch: rows are read forward, gradients added backward."""
    tokens = layout.micro_batch * sequence_tokens / layout.cp
    forward, backward = (streamed_s(machine, traffic * tokens * model.hidden) * machine.jitter for traffic in (4, 10))
    return (Kernel("embedding", "streamed", (forward, 0.0, backward)),)
