"""One transformer layer cut by tensor parallelism: the work of a rank, the sums it waits for, and why columns come first."""

import numpy as np

from engine.catalog.model import Model
from engine.language.formula import Number, formula

MEGATRON = "Shoeybi et al. 2019 (Megatron-LM), section 3"


@formula(r"2 \cdot <T> \cdot <w>", unit="bytes", source=f"{MEGATRON}: two bytes per token and channel in BF16")
def field_bytes(T: Number, w: Number) -> Number:
    """A matrix of activations in BF16: a row for each token.   [bytes]

    T   tokens of the micro-batch   [tokens]
    w   width: hidden, or the MLP's inner size   [count]

    >>> field_bytes(8192, 8192) / 1e6
    134.217728
    """
    return 2 * T * w


@formula(
    r"\frac{6 \cdot <W> \cdot <T>}{<t> \cdot <P> \cdot <u>}",
    unit="s",
    source="Kaplan et al. 2020, section 2.1: 2 FLOP per weight and token forward, 4 backward",
)
def cut_layer_s(W: Number, T: Number, t: Number, P: Number, u: Number) -> Number:
    """Computation of one rank for one layer and micro-batch, forward and backward.   [s]

    W   weights of the whole layer      [parameters]
    T   tokens of the micro-batch       [tokens]
    t   tensor-parallel degree          [count]
    P   dense peak of one GPU           [FLOP/s]
    u   share of it reached             [share above 0]

    >>> round(cut_layer_s(855.65e6, 8192, 8, 989.4e12, 0.6) * 1e3, 2)
    8.86

    Breaks down where slices get thin: narrow matrices reach a smaller share of the peak. Attention's core is left out.
    """
    return 6 * W * T / (t * P * u)


@formula(
    r"\frac{2 \cdot <W> \cdot <T>}{<t> \cdot <P> \cdot <u>}",
    unit="s",
    source="Kaplan et al. 2020, section 2.1: 2 FLOP per weight and token forward",
)
def cut_product_s(W: Number, T: Number, t: Number, P: Number, u: Number) -> Number:
    """One rank's share of the product of activations with a matrix, forward; backward takes twice as long.   [s]

    W   weights of the whole matrix     [parameters]
    T   tokens of the micro-batch       [tokens]
    t   tensor-parallel degree          [count]
    P   dense peak of one GPU           [FLOP/s]
    u   share of it reached             [share above 0]

    >>> round(cut_product_s(2 * 8192 * 28672, 8192, 8, 989.4e12, 0.6) * 1e3, 2)
    1.62

    Breaks down where slices get thin: narrow matrices reach a smaller share of the peak.
    """
    return 2 * W * T / (t * P * u)


@formula(r"\frac{<c>}{<w>}", unit="share of computation", source="Waiting over work")
def wait_over_work(c: Number, w: Number) -> Number:
    """Time that a layer's sums take, over its computation.   [share]

    c   its sums          [s]
    w   its computation   [s above 0]

    >>> wait_over_work(0.002, 0.008)
    0.25
    """
    return c / w


@formula(r"<w> + <c>", unit="s", source=f"{MEGATRON}: the next product needs the sum, so nothing hides it")
def layer_step_s(w: Number, c: Number) -> Number:
    """Time of one layer and micro-batch with its sums, forward and backward.   [s]

    w   its computation   [s]
    c   its sums          [s]

    >>> layer_step_s(0.008, 0.002)
    0.01

    Breaks down where software cuts a sum in pieces and hides them behind the product that makes them.
    """
    return w + c


@formula(r"\frac{<a>}{<b>}", unit="times as fast", source="Time before over time after")
def speed_up(a: Number, b: Number) -> Number:
    """How many times faster.   [times]

    a   time before   [s]
    b   time after    [s above 0]

    >>> speed_up(0.02, 0.01)
    2.0
    """
    return a / b


@formula(
    r"\max\left(\frac{<t>}{<k>}, 1\right)",
    unit="GPUs a KV head",
    source="Ainslie et al. 2023 (GQA); Megatron-LM copies key-value heads when there are fewer than ranks",
)
def kv_head_copies(t: Number, k: Number) -> Number:
    """GPUs that hold the same key-value head.   [GPUs]

    t   tensor-parallel degree   [count]
    k   key-value heads          [count]

    >>> float(kv_head_copies(8, 8)), float(kv_head_copies(16, 8))
    (1.0, 2.0)
    """
    return np.maximum(t / k, 1)


@formula(
    r"\frac{<x>}{1 + \exp\left(-<x>\right)}",
    unit="activation",
    source="Elfwing et al. 2017: SiLU, the gate of a SwiGLU MLP",
)
def silu(x: Number) -> Number:
    """The nonlinearity between the MLP's matrices: small below zero, close to x above.   [activation]

    x   an element   [activation]

    >>> round(float(silu(2)), 3), round(float(silu(-3)), 3)
    (1.762, -0.142)
    """
    return x / (1 + np.exp(-x))


def narrowed(model: Model, hidden: int) -> Model:
    """The same kind of model in another width: heads of one size, the MLP in proportion.

    hidden   the new width   [count]

    >>> from engine.catalog.model import model_named
    >>> narrow = narrowed(model_named("llama-3-70b"), 4096)
    >>> narrow.heads, narrow.kv_heads, narrow.ffn
    (32, 8, 14336)
    """
    change = {"hidden": hidden, "heads": hidden // model.head_dim, "ffn": model.ffn * hidden // model.hidden}
    return model.model_copy(update=change)
