"""Bytes kept for the backward pass, per layer and micro-batch."""

from engine.catalog.model import Model
from engine.language.formula import Number, Term, formula
from engine.layout.layout import Layout

MODERN = "Korthikanti et al. 2022, section 4, for grouped-query attention, SwiGLU and flash attention without dropout"


@formula(
    r"\frac{<s> \cdot <b> \cdot <h>}{<t> \cdot <c>} \cdot \left(12 + \frac{4 \cdot <k>}{<a>} + \frac{6 \cdot <f>}{<h>}\right)"
    r" + \frac{4 \cdot <a> \cdot <s> \cdot <b>}{<t> \cdot <c>}",
    unit="bytes",
    source=MODERN,
)
def activation_layer_bytes(
    s: Number, b: Number, h: Number, a: Number, k: Number, f: Number, t: Number, c: Number
) -> Number:
    """Activations of one dense layer and micro-batch with sequence parallelism.   [bytes]

    s   sequence length              [tokens]
    b   micro-batch                  [sequences]
    h   hidden size                  [count]
    a   query heads                  [count]
    k   key-value heads              [count]
    f   inner size of the gated MLP  [count]
    t   tensor-parallel degree       [count]
    c   context-parallel degree      [count]

    Both norms' inputs and outputs, Q, K, V, the attention output, gate, up and their product, two bytes each;
    flash attention keeps one FP32 softmax statistic per head and token.

    >>> round(activation_layer_bytes(8192, 1, 8192, 64, 8, 28672, 8, 1) / 2**20)
    268

    Breaks down without flash attention (add 5as^2 b/t) and where dropout keeps masks.
    """
    return s * b * h / (t * c) * (12 + 4 * k / a + 6 * f / h) + 4 * a * s * b / (t * c)


@activation_layer_bytes.wrong(
    "not divided by tensor parallelism", "With sequence parallelism every activation is cut by t."
)
def activations_uncut(s, b, h, a, k, f, t, c):  # type: ignore[no-untyped-def]
    return activation_layer_bytes(s, b, h, a, k, f, 1, c)


@activation_layer_bytes.wrong(
    "ungated MLP", "Keeps two inner activations; a gated MLP keeps gate, up and their product."
)
def activations_ungated(s, b, h, a, k, f, t, c):  # type: ignore[no-untyped-def]
    return activation_layer_bytes(s, b, h, a, k, f * 2 / 3, t, c)


@activation_layer_bytes.wrong(
    "full recomputation", "Answers with the layer's input alone, which is what full recompute keeps."
)
def activations_recomputed(s, b, h, a, k, f, t, c):  # type: ignore[no-untyped-def]
    return 2 * s * b * h / (t * c)


@formula(
    r"<T> \cdot <b> \cdot \left(\frac{<n> \cdot <h>}{<p>} + \frac{<q> + <w>}{<t>}\right)"
    r" + \frac{4 \cdot <a> \cdot <T> \cdot <b>}{<t>}",
    unit="bytes",
    source=MODERN,
)
def attention_kept_bytes(
    T: Number, b: Number, n: Number, h: Number, p: Number, q: Number, w: Number, a: Number, t: Number
) -> Number:
    """Activations of a layer's attention half and both norms, per micro-batch.   [bytes]

    T   tokens of one sequence on this rank      [tokens]
    b   micro-batch                              [sequences]
    n   bytes per token and channel of norm inputs and outputs   [bytes]
    h   hidden size                              [count]
    p   ways the norms' tokens are cut (t with sequence parallelism, else 1)   [count]
    q   bytes a token of Q, K and V              [bytes]
    w   bytes a token of the attention output    [bytes]
    a   query heads                              [count]
    t   tensor-parallel degree                   [count]

    >>> attention_kept_bytes(8192, 1, 8, 8192, 8, 2 * 8192 + 4 * 1024, 2 * 8192, 64, 8) / 2**20
    100.25
    """
    return T * b * (n * h / p + (q + w) / t) + 4 * a * T * b / t


@formula(r"\frac{<T> \cdot <b> \cdot <x>}{<t>}", unit="bytes", source=MODERN)
def mlp_kept_bytes(T: Number, b: Number, x: Number, t: Number) -> Number:
    """Activations of a layer's dense MLP, per micro-batch.   [bytes]

    T   tokens of one sequence on this rank            [tokens]
    b   micro-batch                                    [sequences]
    x   bytes per token: 6f gated (gate, up, product), 4f ungated   [bytes]
    t   tensor-parallel degree                         [count]

    >>> mlp_kept_bytes(8192, 1, 6 * 28672, 8) / 2**20
    168.0
    """
    return T * b * x / t


@formula(
    r"<T> \cdot <b> \cdot \left(<k> \cdot \frac{4 \cdot <h> + <x>}{<t>} + \frac{<z>}{<t>} + 4 \cdot <e>\right)",
    unit="bytes",
    source="The MLP's terms for the top-k copies of each token, with dispatched input and expert output (Megatron-LM "
    "mixture of experts), balanced routing",
)
def experts_kept_bytes(
    T: Number, b: Number, k: Number, h: Number, x: Number, z: Number, e: Number, t: Number
) -> Number:
    """Activations of a layer's routed and shared experts, per micro-batch.   [bytes]

    T   tokens of one sequence on this rank          [tokens]
    b   micro-batch                                  [sequences]
    k   experts a token visits                       [count]
    h   hidden size                                  [count]
    x   bytes of inner activations a routed token    [bytes]
    z   bytes of inner activations of shared experts per token   [bytes]
    e   experts, for the router's FP32 logits        [count]
    t   ways the tokens or the experts are cut by tensor parallelism   [count]

    >>> round(experts_kept_bytes(4096, 1, 8, 7168, 6 * 2048, 6 * 2048, 256, 1) / 2**30, 2)
    1.3

    Breaks down under skewed routing: the busiest rank keeps as many times more as it is busier.
    """
    return T * b * (k * (4 * h + x) / t + z / t + 4 * e)


@formula(
    r"\frac{2 \cdot <T> \cdot <b> \cdot <h>}{<p>}",
    unit="bytes",
    source="Korthikanti et al. 2022, section 5: full recomputation",
)
def layer_input_bytes(T: Number, b: Number, h: Number, p: Number) -> Number:
    """What full recomputation keeps of a layer: its input.   [bytes]

    T   tokens of one sequence on this rank   [tokens]
    b   micro-batch                           [sequences]
    h   hidden size                           [count]
    p   ways the tokens are cut (t with sequence parallelism, else 1)   [count]

    >>> layer_input_bytes(8192, 1, 8192, 8) / 2**20
    16.0
    """
    return 2 * T * b * h / p


@formula(
    r"<attention> + <mlp>", unit="bytes", source=MODERN, attention=r"\text{attention and norms}", mlp=r"\text{MLP}"
)
def layer_kept_bytes(attention: Number, mlp: Number) -> Number:
    """Activations of one layer and micro-batch.   [bytes]

    attention   attention half and norms   [bytes]
    mlp         MLP or experts             [bytes]

    >>> layer_kept_bytes(100, 168)
    268
    """
    return attention + mlp


def layer_kept_term(model: Model, layout: Layout, sequence_tokens: int, moe: bool, fp8: bool, recompute: str) -> Term:
    """Bytes one layer keeps for one micro-batch under this layout, with the working."""
    tokens, b, t = sequence_tokens / layout.cp, layout.micro_batch, layout.tp
    if recompute == "full":
        return layer_input_bytes.explain("layer input", T=tokens, b=b, h=model.hidden, p=layout.sp)
    kept = 1 if fp8 else 2  # an FP8 matrix product keeps its input in one byte
    norms = 4 + 2 * kept  # two inputs in BF16, two outputs as the products' inputs
    width = model.heads * model.qk_dim, model.kv_heads * (model.qk_dim + model.v_dim), model.heads * model.v_dim
    selective = recompute == "selective"
    qkv = 0 if selective and model.latent else 2 * (width[0] + width[1])  # up-projections of latents are run again
    attention = attention_kept_bytes.explain(
        "attention and norms",
        T=tokens,
        b=b,
        n=norms,
        h=model.hidden,
        p=layout.sp,
        q=qkv,
        w=kept * width[2],
        a=0 if selective else model.heads,
        t=t,  # the output stays: the next product needs it
    )
    inner = (4 if model.gated else 2) + kept
    if moe:
        routed_cut = layout.expert_tp if layout.ep == 1 else layout.sp
        mlp = experts_kept_bytes.explain(
            "experts",
            T=tokens,
            b=b,
            k=model.top_k,
            h=model.hidden,
            x=inner * model.moe_ffn,
            z=inner * model.shared_ffn,
            e=model.experts,
            t=max(1, routed_cut),
        )
    else:
        mlp = mlp_kept_bytes.explain("MLP", T=tokens, b=b, x=inner * model.ffn, t=t)
    return layer_kept_bytes.explain("activations of a layer", attention=attention, mlp=mlp)
