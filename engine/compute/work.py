"""Time one GPU computes on one micro-batch: of a layer, of the embedding, of the head and the loss."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from engine.catalog import kernel_rates
from engine.catalog.calibration import Calibration, Stack
from engine.catalog.hardware import Gpu
from engine.catalog.model import Model
from engine.catalog.precision import PRECISIONS
from engine.compute.flops import head_width
from engine.layout.layout import Layout
from engine.memory.parameters import count

LAYER_KERNELS = 14, 24  # launched by one layer, forward and backward


@dataclass(frozen=True)
class Matmul:
    """One matrix product of a layer on this GPU, C[m,n] = A[m,k] B[k,n]; `experts` of them side by side."""

    name: str
    m: float
    n: float
    k: float
    experts: float = 0

    @property
    def flop(self) -> float:
        return 2 * self.m * self.n * self.k * max(1, self.experts)


@dataclass(frozen=True)
class Work:
    """Seconds of computation on one micro-batch.

    forward, backward_input, backward_weight   the passes
    core                                       attention's forward, which selective recomputation repeats
    """

    forward: float
    backward_input: float
    backward_weight: float
    core: float = 0.0

    @property
    def total(self) -> float:
        return self.forward + self.backward_input + self.backward_weight


@dataclass(frozen=True)
class Machine:
    """What computes: the GPU, the precision of its matrix products, the software, how many GPUs wait for each other, and
    what is known of all that."""

    gpu: Gpu
    precision: str
    stack: Stack
    gpus: int
    calibration: Calibration

    @property
    def fp8(self) -> bool:
        """Whether matrix products take eight-bit numbers."""
        return PRECISIONS[self.precision].eight_bits

    @property
    def jitter(self) -> float:
        """How much slower the slowest of all GPUs makes a step than one alone."""
        return 1 + self.stack.jitter * max(0.0, float(np.log2(self.gpus / 8)))


def layer_matmuls(model: Model, layout: Layout, tokens: float, moe: bool, imbalance: float) -> list[Matmul]:
    """The matrix products of a layer's forward pass on one GPU, for so many tokens of a micro-batch."""
    t, h, heads = layout.tp, model.hidden, model.heads / layout.tp
    products = _attention_matmuls(model, layout, tokens)
    products.append(Matmul("attention output", tokens, h, heads * model.v_dim))
    if not moe:
        return [*products, *_mlp("", model, tokens, model.ffn / t)]
    own = tokens / layout.sp
    products.append(Matmul("router", own, model.experts, h))
    if model.shared_experts:
        products += _mlp("shared ", model, tokens, model.moe_ffn * model.shared_experts / t)
    return products + _expert_matmuls(model, layout, tokens, imbalance)


def _attention_matmuls(model: Model, layout: Layout, tokens: float) -> list[Matmul]:
    h, heads = model.hidden, model.heads / layout.tp
    if not model.latent:
        kv = max(1.0, model.kv_heads / layout.tp)
        return [Matmul("query, key, value", tokens, (heads + 2 * kv) * model.head_dim, h)]
    kv_width = model.kv_lora_rank + model.qk_rope_head_dim
    down = [Matmul("latent key, value", tokens, kv_width, h)]
    up = [Matmul("key, value", tokens, heads * (model.qk_nope_head_dim + model.v_dim), model.kv_lora_rank)]
    if not model.q_lora_rank:
        return [Matmul("query", tokens, heads * model.qk_dim, h), *down, *up]
    query = (
        Matmul("latent query", tokens, model.q_lora_rank, h),
        Matmul("query", tokens, heads * model.qk_dim, model.q_lora_rank),
    )
    return [*query, *down, *up]


def _mlp(name: str, model: Model, tokens: float, inner: float) -> list[Matmul]:
    up = 2 if model.gated else 1
    return [
        Matmul(f"{name}MLP up", tokens, up * inner, model.hidden),
        Matmul(f"{name}MLP down", tokens, model.hidden, inner),
    ]


def _expert_matmuls(model: Model, layout: Layout, tokens: float, imbalance: float) -> list[Matmul]:
    """Routed experts: the busiest GPU sets the pace."""
    local = model.experts / layout.ep
    pairs = (tokens if layout.ep == 1 else tokens / layout.sp) * model.top_k
    rows = pairs / local * (imbalance if layout.ep > 1 else 1.0)
    inner, up = model.moe_ffn / layout.expert_tp, 2 if model.gated else 1
    return [
        Matmul("experts up", rows, up * inner, model.hidden, local),
        Matmul("experts down", rows, model.hidden, inner, local),
    ]


def matmul_times(machine: Machine, products: list[Matmul]) -> np.ndarray:
    """Seconds of each product's three passes: forward, input gradient, weight gradient.   [products, 3]"""
    sizes = np.array([[(p.m, p.n, p.k), (p.m, p.k, p.n), (p.n, p.k, p.m)] for p in products], dtype=float)
    single = np.array([p.experts == 0 for p in products])
    seconds = np.zeros(sizes.shape[:2])
    if single.any():
        m, n, k = np.moveaxis(sizes[single], -1, 0)
        seconds[single] = kernel_rates.matmul_s(machine.gpu, machine.calibration, machine.precision, m, n, k)
    if not single.all():
        m, n, k = np.moveaxis(sizes[~single], -1, 0)
        experts = np.array([p.experts for p in products])[~single][:, None]
        seconds[~single] = kernel_rates.grouped_matmul_s(
            machine.gpu, machine.calibration, machine.precision, experts, m, n, k
        )
    return seconds * machine.stack.g * machine.jitter


@lru_cache(maxsize=1024)
def layer_work(model: Model, layout: Layout, machine: Machine, sequence_tokens: int, moe: bool) -> Work:
    """Seconds of one layer and micro-batch on one GPU."""
    tokens = layout.micro_batch * sequence_tokens / layout.cp
    known = machine.calibration
    matmuls = layer_matmuls(model, layout, tokens, moe, known.factor("expert_imbalance"))
    products = matmul_times(machine, matmuls).sum(axis=0)
    core, core_backward = _attention_core(model, layout, machine, sequence_tokens)
    forward, backward = _pointwise(model, layout, machine, tokens, moe)
    accumulation = _accumulation(model, layout, machine, moe)
    gap = known.factor("launch_gap_s") * machine.jitter
    return Work(
        forward=float(products[0] + core + forward + gap * LAYER_KERNELS[0]),
        backward_input=float(products[1] + core_backward + backward + gap * LAYER_KERNELS[1]),
        backward_weight=float(products[2] + accumulation),
        core=core,
    )


def _attention_core(model: Model, layout: Layout, machine: Machine, sequence_tokens: int) -> tuple[float, float]:
    """Forward and backward of softmax(QK)V, causal; unfused software computes the masked half as well."""
    b, s, heads = layout.micro_batch, sequence_tokens, model.heads / layout.tp
    width, slow = head_width(model), machine.stack.g * machine.jitter
    if machine.stack.fused_attention:
        rate = kernel_rates.attention_flop_per_s(machine.gpu, s / layout.cp, heads, width, b)
        forward = float(2 * b * heads * width * s**2 / layout.cp / rate) * slow
        return forward, forward * machine.calibration.factor("attention_backward")
    rate = kernel_rates.matmul_flop_per_s(machine.gpu, machine.precision, s, s, width)
    products = float(4 * b * heads * width * s**2 / layout.cp / rate) * slow
    scores = b * heads * s**2 / layout.cp
    # scale, mask, softmax and dropout each read and write the scores: 11 bytes a score forward, 16 backward
    forward, backward = (_streamed_s(machine, scores * traffic) for traffic in (11, 16))
    return products + forward, 2 * products + backward


def _pointwise(model: Model, layout: Layout, machine: Machine, tokens: float, moe: bool) -> tuple[float, float]:
    """Norms, residuals, rotary embedding, activation; for experts also the permutation of tokens."""
    heads = (model.heads * (model.qk_dim + model.v_dim) / 2 + model.kv_heads * model.v_dim) / layout.tp
    shared = model.moe_ffn * model.shared_experts / layout.tp
    routed = model.top_k * (model.moe_ffn / layout.expert_tp if layout.ep == 1 else model.moe_ffn / layout.sp)
    inner = shared + routed if moe else model.ffn / layout.tp
    gate = (3, 5) if model.gated else (2, 3)
    norms = model.hidden / layout.sp
    permuted = 12 * model.top_k * norms * tokens if moe else 0.0
    times = []
    for norm_passes, gate_passes in zip((10, 11), gate, strict=True):
        moved = 2 * tokens * (norm_passes * norms + 2 * heads + gate_passes * inner) + permuted
        times.append(_streamed_s(machine, moved) * machine.stack.pointwise * machine.jitter)
    return times[0], times[1]


def _accumulation(model: Model, layout: Layout, machine: Machine, moe: bool) -> float:
    """Adding a micro-batch's weight gradients to the main gradients: read and write, FP32 or BF16."""
    parts = count(model)
    held = (parts.moe_rest if moe else parts.dense_layer) / layout.tp
    held += model.experts * parts.expert / (layout.ep * layout.expert_tp) if moe else 0.0
    traffic = 6 if layout.gradient_bytes == 4 else 2
    exposed = machine.calibration.factor("accumulation_exposed")
    return _streamed_s(machine, traffic * held) * exposed * machine.jitter


def _streamed_s(machine: Machine, moved_bytes: float) -> float:
    """Time to stream so many bytes to or from memory."""
    return float(kernel_rates.pointwise_s(machine.gpu, machine.calibration, moved_bytes))


@lru_cache(maxsize=1024)
def head_work(model: Model, layout: Layout, machine: Machine, sequence_tokens: int) -> Work:
    """Seconds of the output head and the loss of one micro-batch: three products in BF16, 24 bytes a logit."""
    tokens, words = layout.micro_batch * sequence_tokens / layout.cp, model.vocab / layout.tp
    wide = replace(machine, precision="bf16")
    forward, back_input, back_weight = matmul_times(wide, [Matmul("head", tokens, words, model.hidden)])[0]
    loss = _streamed_s(machine, 12 * tokens * words) * machine.jitter
    return Work(float(forward) + loss, float(back_input) + loss, float(back_weight))


@lru_cache(maxsize=1024)
def embedding_work(model: Model, layout: Layout, machine: Machine, sequence_tokens: int) -> Work:
    """Seconds of the input embedding of one micro-batch: rows are read forward, gradients added backward."""
    tokens = layout.micro_batch * sequence_tokens / layout.cp
    forward, backward = (_streamed_s(machine, traffic * tokens * model.hidden) * machine.jitter for traffic in (4, 10))
    return Work(forward, 0.0, backward)
