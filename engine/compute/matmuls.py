"""The matrix products of a layer on one GPU: their shapes, and the seconds of their three passes."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from engine.catalog import kernel_rates
from engine.catalog.model import Model
from engine.compute.machine import Machine
from engine.layout.layout import Layout

Half = Literal["attention", "mlp", "both"]


@dataclass(frozen=True)
class Matmul:
    """One matrix product of a layer on this GPU, C[m,n] = A[m,k] B[k,n]; `experts` of them side by side.

    half   which half of its layer it belongs to
    """

    name: str
    m: float
    n: float
    k: float
    experts: float = 0
    half: Half = "mlp"

    @property
    def flop(self) -> float:
        return 2 * self.m * self.n * self.k * max(1, self.experts)


def layer_matmuls(model: Model, layout: Layout, tokens: float, moe: bool, imbalance: float) -> list[Matmul]:
    """The matrix products of a layer's forward pass on one GPU, for so many tokens of a micro-batch."""
    t, h, heads = layout.tp, model.hidden, model.heads / layout.tp
    products = _attention_matmuls(model, layout, tokens)
    products.append(Matmul("attention output", tokens, h, heads * model.v_dim))
    products = [replace(product, half="attention") for product in products]
    if not moe:
        return [*products, *_mlp("", model, tokens, model.ffn / t)]
    own = tokens / layout.sp
    products.append(Matmul("router", own, model.experts, h))
    if model.shared_experts:
        products += _mlp("shared ", model, tokens, model.shared_ffn / t)
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
