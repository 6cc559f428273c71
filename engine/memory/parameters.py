"""Parameters of a model, part by part."""

from functools import lru_cache

from engine.catalog.model import Model
from engine.language.document import Document
from engine.language.formula import Number, Term, formula

SHAPE = "Counted from the shape; agrees with Megatron-LM and with the published totals"


class Parameters(Document, frozen=True):
    """Parameters by part; the parts of one layer, and the ends of the model."""

    attention: float
    dense_mlp: float
    router: float
    expert: float
    shared_mlp: float
    norms: float
    embedding: float
    head: float
    final_norm: float
    layers: int
    moe_layers: int
    experts: int
    top_k: int

    @property
    def dense_layer(self) -> float:
        return self.attention + self.dense_mlp + self.norms

    @property
    def moe_rest(self) -> float:
        """A mixture-of-experts layer without its routed experts."""
        return self.attention + self.router + self.shared_mlp + self.norms

    def routed(self, moe_layers: int) -> float:
        """All routed experts of so many layers."""
        return moe_layers * self.experts * self.expert

    @property
    def body(self) -> float:
        dense = self.layers - self.moe_layers
        return dense * self.dense_layer + self.moe_layers * self.moe_rest + self.routed(self.moe_layers)

    @property
    def total(self) -> float:
        return self.body + self.embedding + self.head + self.final_norm

    @property
    def active(self) -> float:
        """Parameters that one token passes: its top-k experts instead of all."""
        return self.total - self.moe_layers * (self.experts - self.top_k) * self.expert

    @property
    def active_matmul(self) -> float:
        """Active weights inside matrix products: without the input embedding, the output head included."""
        tied_head = self.embedding if self.head == 0 else 0.0
        return self.active - self.embedding + tied_head


@formula(
    r"<L> \cdot (2 \cdot <h>^{2} + 2 \cdot <h>^{2} \cdot \frac{<k>}{<a>} + 3 \cdot <h> \cdot <f> + 2 \cdot <h>)"
    r" + <V> \cdot <h> \cdot (2 - <tied>) + <h>",
    unit="parameters",
    source=SHAPE,
)
def dense_parameters(L: Number, h: Number, a: Number, k: Number, f: Number, V: Number, tied: Number = 0) -> Number:
    """Parameters of a dense transformer with grouped-query attention and a gated MLP.   [parameters]

    L      layers                        [count]
    h      hidden size                   [count]
    a      query heads                   [count]
    k      key-value heads               [count]
    f      inner size of the MLP         [count]
    V      vocabulary                    [count]
    tied   1 when head and embedding are one matrix   [yes or no]

    Attention is 2h^2 for query and output and 2h^2 k/a for keys and values; the MLP is three h x f matrices.

    >>> round(dense_parameters(80, 8192, 64, 8, 28672, 128256) / 1e9, 3)
    70.554

    Breaks down for ungated MLPs, head sizes other than h/a, experts: see parameters.count.
    """
    return L * (2 * h**2 + 2 * h**2 * k / a + 3 * h * f + 2 * h) + V * h * (2 - tied) + h


@dense_parameters.wrong("the head forgotten", "Counts one vocabulary matrix where input and output have one each.")
def no_head(L: Number, h: Number, a: Number, k: Number, f: Number, V: Number, tied: Number = 0) -> Number:
    return dense_parameters(L, h, a, k, f, V, 1)


@dense_parameters.wrong("grouped-query attention ignored", "Gives every query head its own keys and values.")
def no_grouped_query(L: Number, h: Number, a: Number, k: Number, f: Number, V: Number, tied: Number = 0) -> Number:
    return dense_parameters(L, h, a, a, f, V, tied)


@dense_parameters.wrong("ungated MLP", "Counts two matrices in the MLP; a gated one (SwiGLU) has three.")
def no_gate(L: Number, h: Number, a: Number, k: Number, f: Number, V: Number, tied: Number = 0) -> Number:
    return dense_parameters(L, h, a, k, f, V, tied) - L * h * f


@lru_cache(maxsize=256)
def count(model: Model) -> Parameters:
    """Parameters of a model, part by part.   [parameters]

    >>> round(count(Model(layers=80, hidden=8192, heads=64, kv_heads=8, ffn=28672, gated=True, vocab=128256)).total / 1e9, 3)
    70.554

    Biases and query-key norms count where a model has layer_vectors; without, two norms stand for all of them.
    """
    h, matrices = model.hidden, 3 if model.gated else 2
    counted = Parameters(
        attention=_attention(model),
        dense_mlp=matrices * h * model.ffn,
        router=h * model.experts + model.moe_vectors,
        expert=matrices * h * model.moe_ffn + model.expert_vectors,
        shared_mlp=matrices * h * model.shared_ffn,
        norms=2 * h if model.layer_vectors is None else model.layer_vectors,
        embedding=(model.vocab + model.positions) * h,
        head=0 if model.tied else model.vocab * h,
        final_norm=h if model.end_vectors is None else model.end_vectors,
        layers=model.layers,
        moe_layers=model.moe_layers,
        experts=model.experts,
        top_k=model.top_k,
    )
    if not model.round_parameters:
        return counted
    scale = model.round_parameters / counted.total
    sizes = {name: value * scale for name, value in counted if isinstance(value, float)}
    return counted.model_copy(update=sizes)


def _attention(model: Model) -> float:
    h, a = model.hidden, model.heads
    if not model.latent:
        return h * model.head_dim * (2 * a + 2 * model.kv_heads)
    q, kv, rope = model.q_lora_rank, model.kv_lora_rank, model.qk_rope_head_dim
    query = (h * q + q + q * a * model.qk_dim) if q else h * a * model.qk_dim
    latent = h * (kv + rope) + kv + kv * a * (model.qk_nope_head_dim + model.v_dim)
    return query + latent + a * model.v_dim * h


@formula(
    r"<embedding> + <layers> + <head>",
    unit="parameters",
    source=SHAPE,
    embedding=r"\text{embedding}",
    layers=r"\text{layers}",
    head=r"\text{head}",
)
def total_parameters(embedding: Number, layers: Number, head: Number) -> Number:
    """Parameters of a model from its three parts.   [parameters]

    embedding   token and position embedding        [parameters]
    layers      all layers                          [parameters]
    head        output head and final norm          [parameters]

    >>> total_parameters(1.05e9, 68.45e9, 1.05e9)
    70550000000.0
    """
    return embedding + layers + head


def parameters_term(model: Model) -> Term:
    """The parameter count of a model with its working."""
    parts = count(model)
    return total_parameters.explain(
        "parameters", embedding=parts.embedding, layers=parts.body, head=parts.head + parts.final_norm
    )


@formula(
    r"<N> - <m> \cdot (<E> - <k>) \cdot <x>",
    unit="parameters",
    source="A token passes its top-k experts instead of all",
)
def active_parameters(N: Number, m: Number, E: Number, k: Number, x: Number) -> Number:
    """Parameters that one token passes.   [parameters]

    N   parameters of the model         [parameters]
    m   layers with experts             [count or none]
    E   experts of a layer              [count or none]
    k   experts a token goes to         [count or none]
    x   parameters of one expert        [parameters]

    >>> active_parameters(70e9, 0, 0, 0, 0) == 70e9
    True
    """
    return N - m * (E - k) * x
