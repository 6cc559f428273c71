"""Floating point work of training, and the conventions that turn a speed into an MFU."""

from engine.catalog.model import Model
from engine.language.formula import Number, formula
from engine.memory.parameters import count

PALM = "Chowdhery et al. 2022 (PaLM), appendix B"
KAPLAN = "Kaplan et al. 2020, section 2.1: 2 FLOP per weight forward, 4 backward"


@formula(r"6 \cdot <N> \cdot <T>", unit="FLOP", source=KAPLAN)
def training_flop(N: Number, T: Number) -> Number:
    """Work of a whole training run.   [FLOP]

    N   parameters (active ones for a mixture of experts)   [parameters]
    T   training tokens                                      [tokens]

    Each token multiplies and adds with every weight once forward and twice backward.

    >>> f"{training_flop(70e9, 15e12):.2g}"
    '6.3e+24'

    Breaks down at long sequences, where attention adds 6 L h s a token (causal).
    """
    return 6 * N * T


@training_flop.wrong(
    "the backward pass forgotten", "2ND is one forward pass; the backward pass costs twice as much again."
)
def forward_only(N: Number, T: Number) -> Number:
    return 2 * N * T


@training_flop.wrong("recomputation counted", "8ND counts a second forward pass, which full recomputation adds.")
def recompute_counted(N: Number, T: Number) -> Number:
    return 8 * N * T


@formula(r"6 \cdot <N>", unit="FLOP per token", source=KAPLAN)
def six_n_flop(N: Number) -> Number:
    """Work per token by the 6N convention: every parameter, no attention.   [FLOP per token]

    N   parameters (active ones for a mixture of experts)   [parameters]

    >>> six_n_flop(70e9)
    420000000000.0
    """
    return 6 * N


@formula(
    r"6 \cdot <M> + 6 \cdot <L> \cdot <a> \cdot <d> \cdot <s>",
    unit="FLOP per token",
    source="Megatron-LM num_floating_point_operations: weights in matrix products, causal half of attention",
)
def causal_flop(M: Number, L: Number, a: Number, d: Number, s: Number) -> Number:
    """Work per token with the causal half of attention.   [FLOP per token]

    M   active weights in matrix products: no input embedding, the head included   [parameters]
    L   layers                       [count]
    a   query heads                  [count]
    d   head size, the mean of key's and value's   [count]
    s   sequence length              [tokens]

    >>> f"{causal_flop(69.5e9, 80, 64, 128, 8192):.4g}"
    '4.492e+11'
    """
    return 6 * M + 6 * L * a * d * s


@formula(r"6 \cdot <M> + 12 \cdot <L> \cdot <a> \cdot <d> \cdot <s>", unit="FLOP per token", source=PALM)
def full_attention_flop(M: Number, L: Number, a: Number, d: Number, s: Number) -> Number:
    """Work per token with attention counted in full, the masked half included.   [FLOP per token]

    M   active weights in matrix products: no input embedding, the head included   [parameters]
    L   layers                       [count]
    a   query heads                  [count]
    d   head size, the mean of key's and value's   [count]
    s   sequence length              [tokens]

    >>> f"{full_attention_flop(69.5e9, 80, 64, 128, 8192):.4g}"
    '4.814e+11'
    """
    return 6 * M + 12 * L * a * d * s


@formula(r"<c> + <r>", unit="FLOP per token", source="Korthikanti et al. 2022, section 5")
def hardware_flop(c: Number, r: Number) -> Number:
    """Work per token that the hardware does, recomputation included.   [FLOP per token]

    c   work by the causal convention   [FLOP per token]
    r   recomputed forward work         [FLOP per token]

    >>> hardware_flop(4.5e11, 1.5e11)
    600000000000.0
    """
    return c + r


@formula(r"\frac{<c> \cdot <r>}{<g> \cdot <P>}", unit="share of peak", source=PALM)
def flop_utilization(c: Number, r: Number, g: Number, P: Number) -> Number:
    """Model FLOP utilization: useful work over what the GPUs could do.   [share]

    c   work per token, by the convention named   [FLOP per token]
    r   tokens per second of the whole run      [tokens/s]
    g   GPUs                                    [count]
    P   dense peak of one GPU                   [FLOP/s]

    >>> round(flop_utilization(6 * 70.554e9, 1_145_202, 1024, 989e12), 3)
    0.479
    """
    return c * r / (g * P)


@formula(r"\frac{<F>}{<r>}", unit="FLOP per token", source="A printed rate over the printed speed of the same run")
def printed_flop(F: Number, r: Number) -> Number:
    """Work per token that a print must have counted.   [FLOP per token]

    F   printed rate of one GPU    [FLOP/s]
    r   printed speed of one GPU   [tokens/s]

    >>> f"{printed_flop(537.6e12, 1118.4):.4g}"
    '4.807e+11'
    """
    return F / r


@formula(
    r"\frac{<F>}{<P>}",
    unit="share of peak",
    source="Achieved over dense peak, in the convention of who counted the FLOP",
)
def mfu_of_rate(F: Number, P: Number) -> Number:
    """MFU of a printed rate, in the convention of who printed it.   [share]

    F   printed rate of one GPU   [FLOP/s]
    P   dense peak of one GPU     [FLOP/s]

    >>> round(mfu_of_rate(400e12, 989.4e12), 3)
    0.404
    """
    return F / P


@mfu_of_rate.wrong("the sparse peak", "Divides by the peak with structured sparsity, twice the dense one.")
def over_sparse_peak(F: Number, P: Number) -> Number:
    return F / (2 * P)


def recomputed_flop(model: Model, sequence_tokens: int, recompute: str) -> float:
    """Forward work per token that recomputation repeats.   [FLOP per token]

    >>> from engine.catalog.model import model_named
    >>> recomputed_flop(model_named("llama-3-70b"), 8192, "none")
    0.0
    """
    core = 2 * model.layers * model.heads * head_width(model) * sequence_tokens
    if recompute == "none":
        return 0.0
    if recompute == "selective":
        return float(core)
    parts = count(model)
    head = parts.head or parts.embedding
    return 2 * (parts.active_matmul - head) + core


def head_width(model: Model) -> float:
    """Head size that attention's two products average: equal for keys and values but in latent attention.   [count]"""
    return (model.qk_dim + model.v_dim) / 2


def work_per_token(model: Model, sequence_tokens: int) -> dict[str, float]:
    """Arguments of the causal and full conventions for a model."""
    return {
        "M": count(model).active_matmul,
        "L": model.layers,
        "a": model.heads,
        "d": head_width(model),
        "s": sequence_tokens,
    }
