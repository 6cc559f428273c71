"""What one collective moves: its whole buffer, from the model's shape and the layout."""

import numpy as np

from engine.language.formula import Number, formula

SPLIT = "Shoeybi et al. 2019 (Megatron-LM), section 3; Korthikanti et al. 2022, section 4.2"
RING_ATTENTION = "Liu et al. 2023 (Ring Attention), section 3; Llama 3 report, section 3.3.2"
EXPERTS = "Every copy of a token travels with its whole hidden state; DeepSeek-V3 report, section 3.2"


@formula(
    r"\frac{<b> \cdot <s>}{<c>}", unit="tokens", source="Context parallelism cuts a sequence, data parallelism does not"
)
def rank_tokens(b: Number, s: Number, c: Number) -> Number:
    """Tokens of a micro-batch on one context-parallel rank.   [tokens]

    b   sequences of a micro-batch       [count]
    s   length of a sequence             [tokens]
    c   context-parallel degree          [count]

    >>> rank_tokens(1, 131072, 8)
    16384.0
    """
    return b * s / c


@formula(r"<b> \cdot <T> \cdot <w>", unit="bytes", source=SPLIT)
def activation_payload_bytes(b: Number, T: Number, w: Number) -> Number:
    """Buffer of one collective that moves activations.   [bytes]

    b   bytes a number                             [bytes]
    T   tokens of a micro-batch on one rank        [tokens]
    w   numbers a token                            [numbers]

    >>> activation_payload_bytes(2, 8192, 8192) / 2**20
    128.0
    """
    return b * T * w


@formula(
    r"\frac{<b> \cdot <T> \cdot <h>}{<t>}",
    unit="bytes",
    source="Narayanan et al. 2021, section 4.1: each tensor-parallel rank hands over its slice of the output",
)
def handover_bytes(b: Number, T: Number, h: Number, t: Number) -> Number:
    """Activations that one GPU hands to the next pipeline stage.   [bytes]

    b   bytes a number                                  [bytes]
    T   tokens of a micro-batch on one rank             [tokens]
    h   hidden size                                     [count]
    t   ways its tokens are cut: the tensor-parallel degree with sequence parallelism, else 1   [count]

    >>> handover_bytes(2, 8192, 8192, 8) / 2**20
    16.0
    """
    return b * T * h / t


@formula(r"<b> \cdot <T> \cdot \max(1, \frac{<k>}{<t>}) \cdot (<q> + <v>)", unit="bytes", source=RING_ATTENTION)
def keys_and_values_bytes(b: Number, T: Number, k: Number, t: Number, q: Number, v: Number) -> Number:
    """Keys and values that one GPU passes on in a hop of ring attention.   [bytes]

    b   bytes a number                            [bytes]
    T   tokens of a micro-batch on one rank       [tokens]
    k   key-value heads of the model              [count]
    t   tensor-parallel degree                    [count]
    q   numbers of a key                          [count]
    v   numbers of a value                        [count]

    Tensor parallelism deals the heads; a rank holds at least one.

    >>> float(keys_and_values_bytes(2, 32768, 8, 1, 128, 128)) / 1e6
    134.217728
    """
    return b * T * (np.maximum(1, k / t) * (q + v))


@formula(
    r"<b> \cdot <T> \cdot (<r> + <p>)",
    unit="bytes",
    source=f"{RING_ATTENTION}; with multi-head latent attention the latent travels: DeepSeek-V2 report, section 2.1",
)
def latents_bytes(b: Number, T: Number, r: Number, p: Number) -> Number:
    """Latent keys and values that one GPU passes on in a hop of ring attention.   [bytes]

    b   bytes a number                                 [bytes]
    T   tokens of a micro-batch on one rank            [tokens]
    r   numbers of the latent of keys and values       [count]
    p   numbers of the key that carries the position   [count]

    >>> latents_bytes(2, 8192, 512, 64)
    9437184
    """
    return b * T * (r + p)


@formula(
    r"\min(<k>, <n>, <g>)",
    unit="copies",
    source="DeepSeek-V3 report, section 3.2.2: a token goes to few nodes, and once to each",
)
def copies_of_token(k: Number, n: Number, g: Number) -> Number:
    """Copies of a token that leave its GPU where routing is limited to few nodes.   [copies]

    k   experts a token goes to                        [count]
    n   nodes its experts may stand on                 [count]
    g   nodes that the expert-parallel group spans     [count]

    >>> int(copies_of_token(8, 4, 8))
    4
    """
    return np.minimum(np.minimum(k, n), g)


@formula(r"<b> \cdot \frac{<T>}{<t>} \cdot <k> \cdot <h>", unit="bytes", source=EXPERTS)
def exchange_bytes(b: Number, T: Number, t: Number, k: Number, h: Number) -> Number:
    """What one GPU sends to the experts of its tokens, or takes back from them.   [bytes]

    b   bytes a number: 1 where tokens travel in FP8, 2 in BF16   [bytes]
    T   tokens of a micro-batch on one rank                       [tokens]
    t   ways its tokens are cut: the tensor-parallel degree with sequence parallelism, else 1   [count]
    k   copies of a token                                         [copies]
    h   hidden size                                               [count]

    >>> round(exchange_bytes(2, 4096, 1, 8, 7168) / 1e6)
    470
    """
    return b * (T / t) * k * h


@formula(
    r"<b> \cdot <P>", unit="bytes", source="Every parameter once: weights in BF16, gradients as the layout keeps them"
)
def parameter_payload_bytes(b: Number, P: Number) -> Number:
    """Buffer of one collective that moves weights or gradients.   [bytes]

    b   bytes of a weight or gradient            [bytes]
    P   parameters it moves                      [parameters]

    >>> parameter_payload_bytes(4, 2.27e9)
    9080000000.0
    """
    return b * P


@formula(
    r"<b> \cdot \frac{<P>}{<D>}",
    unit="bytes",
    source="Zhao et al. 2023 (PyTorch FSDP), section 3.2.2: each rank sums its own shard over the groups",
)
def shard_payload_bytes(b: Number, P: Number, D: Number) -> Number:
    """Gradients of one GPU's shard, which HSDP sums over its groups.   [bytes]

    b   bytes of a gradient                                    [bytes]
    P   parameters of this GPU before sharding                 [parameters]
    D   ranks they are sharded over                            [count]

    >>> shard_payload_bytes(4, 70.5e9, 64) / 1e9
    4.40625
    """
    return b * P / D
