"""Working buffers: memory that comes and goes within a step but has to be there at the peak."""

from engine.catalog.model import Model
from engine.language.formula import Number, Term, formula, number_of
from engine.layout.layout import Layout
from engine.layout.stages import Chunk
from engine.memory.held import largest_layer_term, stage_end_term

PEAKS = "Fifteen measured runs on B200 (SimuMax): with all these terms the mean error of the peak is 1.6 %"


@formula(
    r"2 \cdot <P>",
    unit="bytes",
    source=f"Transformer Engine computes a layer's weight gradients apart. {PEAKS}",
)
def weight_gradient_bytes(P: Number) -> Number:
    """Weight gradients of one layer before they are added to the main gradients.   [bytes]

    P   parameters of the largest layer, per GPU   [parameters]

    >>> weight_gradient_bytes(855.6e6 / 8) / 1e6
    213.9
    """
    return 2 * P


@formula(
    r"4 \cdot <T> \cdot <h>",
    unit="bytes",
    source=f"Korthikanti et al. 2022, section 4.2.2: inputs are gathered again backward. {PEAKS}",
)
def gathered_input_bytes(T: Number, h: Number) -> Number:
    """Two gathered inputs of tensor parallelism with sequence parallelism.   [bytes]

    T   tokens of a micro-batch on this rank   [tokens]
    h   hidden size                            [count]

    >>> gathered_input_bytes(8192, 8192) / 2**20
    256.0
    """
    return 4 * T * h


@formula(r"\frac{6 \cdot <T> \cdot <f>}{<t>}", unit="bytes", source=PEAKS)
def mlp_working_bytes(T: Number, f: Number, t: Number) -> Number:
    """Gradients of gate, up and their product in the backward pass of an MLP.   [bytes]

    T   tokens of a micro-batch on this rank   [tokens]
    f   inner size of the MLP                  [count]
    t   tensor-parallel degree                 [count]

    >>> mlp_working_bytes(8192, 28672, 8) / 2**20
    168.0
    """
    return 6 * T * f / t


@formula(
    r"6 \cdot <T> \cdot <f> \cdot \left(\frac{<k>}{<p>} + \frac{<s>}{<t>}\right)",
    unit="bytes",
    source=PEAKS,
)
def experts_working_bytes(T: Number, f: Number, k: Number, p: Number, s: Number, t: Number) -> Number:
    """Gradients of gate, up and their product in the backward pass of the experts of a layer.   [bytes]

    T   tokens of a micro-batch on this rank             [tokens]
    f   inner size of one expert                         [count]
    k   experts a token goes to                          [count]
    p   ways its tokens are cut: the tensor-parallel degree with sequence parallelism, else 1   [count]
    s   experts that every token passes                  [count or none]
    t   tensor-parallel degree                           [count]

    >>> experts_working_bytes(4096, 2048, 8, 1, 1, 1) / 2**20
    432.0
    """
    return 6 * T * (f * (k / p + s / t))


@formula(
    r"\frac{<k> \cdot <T> \cdot <V>}{<t>}",
    unit="bytes",
    source=f"Fused cross-entropy keeps BF16 logits; unfused also FP32 ones. {PEAKS}",
)
def logit_bytes(k: Number, T: Number, V: Number, t: Number) -> Number:
    """Logits on the last stage: the loss needs every word's score.   [bytes]

    k   bytes a logit: 2 fused, 6 unfused      [bytes]
    T   tokens of a micro-batch on this rank   [tokens]
    V   vocabulary                             [count]
    t   tensor-parallel degree                 [count]

    >>> round(logit_bytes(2, 8192, 128256, 8) / 2**20)
    250
    """
    return k * T * V / t


@formula(
    r"4 \cdot <l> + (2 + <g>) \cdot <u>",
    unit="bytes",
    source="Zhao et al. 2023 (FSDP): the layer at work and the next one, gathered "
    "in BF16; embedding and head with their gradients",
)
def gathered_units_bytes(l: Number, g: Number, u: Number) -> Number:  # noqa: E741
    """Weights that FSDP has gathered at the peak.   [bytes]

    l   parameters of the largest layer, per tensor-parallel rank   [parameters]
    g   bytes of a gradient                                         [bytes]
    u   parameters of embedding or head, per tensor-parallel rank   [parameters]

    >>> gathered_units_bytes(855.65e6, 4, 0) / 1e9
    3.4226
    """
    return 4 * l + (2 + g) * u


@formula(r"2 \cdot <P>", unit="bytes", source="Transformer Engine keeps each weight in FP8 twice, once transposed")
def fp8_copy_bytes(P: Number) -> Number:
    """FP8 copies of a stage's weights.   [bytes]

    P   parameters of the stage per GPU   [parameters]

    >>> fp8_copy_bytes(2.27e9) / 1e9
    4.54
    """
    return 2 * P


@formula(r"<g> + <i> + <m> + <l> + <u> + <q>", unit="bytes", source=PEAKS)
def buffer_bytes(g: Number, i: Number, m: Number, l: Number, u: Number, q: Number) -> Number:  # noqa: E741
    """Working buffers of one GPU.   [bytes]

    g   weight gradients of a layer    [bytes]
    i   gathered inputs                [bytes]
    m   MLP backward                   [bytes]
    l   logits                         [bytes]
    u   gathered FSDP units            [bytes]
    q   FP8 copies of the weights      [bytes]

    >>> buffer_bytes(1, 2, 3, 4, 0, 0)
    10
    """
    return g + i + m + l + u + q


def buffers_term(
    model: Model, layout: Layout, chunk: Chunk, tokens: float, fused: bool, stage_parameters: Term, fp8: bool
) -> Term:
    """The working buffers of a stage, with the working.   [bytes]

    tokens   of a micro-batch on this rank
    fused    whether the loss is fused
    """
    layer = largest_layer_term(model, layout, chunk)
    sharded = layout.zero == 3 and layout.shard_width > 1
    parts: dict[str, Term | float] = {"i": 0.0, "l": 0.0, "u": 0.0, "q": 0.0}
    parts["g"] = weight_gradient_bytes.explain(P=layer)
    parts["m"] = _mlp_term(model, layout, chunk, tokens)
    if layout.sp > 1:
        parts["i"] = gathered_input_bytes.explain(T=tokens, h=model.hidden)
    if chunk.head:
        parts["l"] = logit_bytes.explain(k=2 if fused else 6, T=tokens, V=model.vocab, t=layout.tp)
    if sharded:
        parts["u"] = gathered_units_bytes.explain(
            l=layer, g=layout.gradient_bytes, u=stage_end_term(model, layout, chunk)
        )
    if fp8:
        parts["q"] = fp8_copy_bytes.explain(P=stage_parameters)
    return buffer_bytes.explain("buffers", **parts)


def _mlp_term(model: Model, layout: Layout, chunk: Chunk, tokens: float) -> Term | float:
    """Of the kind of layer that needs more, where a stage holds both."""
    kinds: list[Term] = []
    if chunk.dense:
        kinds.append(mlp_working_bytes.explain(T=tokens, f=model.ffn, t=layout.tp))
    if chunk.moe:
        kinds.append(
            experts_working_bytes.explain(
                T=tokens, f=model.moe_ffn, k=model.top_k, p=layout.sp, s=model.shared_share, t=layout.tp
            )
        )
    return max(kinds, key=number_of, default=0.0)
