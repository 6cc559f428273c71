"""The shape of a transformer, and the catalogue of known ones."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from engine.language.choice import choose
from engine.language.document import Count, Document, Real, Says, Whole, whole
from engine.language.refusal import Refusal

CATALOG = Path(__file__).parent / "models.yaml"
NOTES = (
    "title",
    "source",
    "published_parameters",
    "published_active_parameters",
    "published_source",
    "called_parameters",
    "called_active_parameters",
    "torchtitan",
)


class Model(Document, frozen=True):
    """A decoder-only transformer: dense or with experts, with grouped-query or latent (MLA) attention."""

    layers: Whole = Count(le=10_000, meaning="transformer layers")
    hidden: Whole = Count(le=1_000_000, meaning="hidden size")
    heads: Whole = Count(le=10_000, meaning="query heads")
    vocab: Whole = Count(le=10_000_000, meaning="vocabulary")
    kv_heads: Whole = Count(0, le=10_000, meaning="0 for as many as heads")
    head_dim: Whole = Count(0, le=100_000, meaning="0 for hidden / heads")
    ffn: Whole = Count(0, le=10_000_000, meaning="0 for 4 x hidden")
    gated: bool = Says("gated MLP (SwiGLU): three matrices instead of two", default=False)
    tied: bool = Says("head and embedding are one matrix", default=False)
    positions: Whole = Count(0, le=100_000_000, meaning="learned position embeddings")
    experts: Whole = Count(0, le=100_000, meaning="experts of a layer; 0 for a dense model")
    top_k: Whole = Count(0, le=100_000, meaning="experts a token goes to")
    moe_ffn: Whole = Count(0, le=10_000_000, meaning="inner size of an expert; 0 for ffn")
    shared_experts: Whole = Count(0, le=1_000, meaning="experts every token goes to")
    routed_nodes: Whole = Count(0, le=4096, meaning="nodes a token's experts may stand on; 0 for any")
    shared_ffn: Whole = Count(0, le=10_000_000, meaning="inner size of all of these together; 0 for moe_ffn each")
    dense_layers: Whole = Count(0, le=10_000, meaning="leading layers without experts")
    moe_step: Whole = Count(1, ge=1, le=10_000, meaning="after them, experts in every so-manieth layer")
    q_lora_rank: Whole = Count(0, le=1_000_000, meaning="latent attention: rank of the query")
    kv_lora_rank: Whole = Count(0, le=1_000_000, meaning="above 0: latent attention")
    qk_nope_head_dim: Whole = Count(0, le=100_000, meaning="latent attention: head size without position")
    qk_rope_head_dim: Whole = Count(0, le=100_000, meaning="latent attention: head size with position")
    v_head_dim: Whole = Count(0, le=100_000, meaning="latent attention: head size of the value")
    layer_vectors: Whole | None = Count(
        None, le=1_000_000_000, meaning="norms and biases of a layer; left out: two norms of hidden", unit="parameters"
    )
    moe_vectors: Whole = Count(0, le=1_000_000_000, meaning="the same of a router", unit="parameters")
    expert_vectors: Whole = Count(0, le=1_000_000_000, meaning="the same of an expert", unit="parameters")
    end_vectors: Whole | None = Count(
        None,
        le=1_000_000_000,
        meaning="norms and biases outside the layers; left out: one norm of hidden",
        unit="parameters",
    )
    rope_theta: Real | None = Says("rope base; acts on exports only", default=None, gt=0, le=1e18)
    norm_eps: Real | None = Says("epsilon of the norms; acts on exports only", default=None, ge=0, le=1)
    qk_norm: bool | None = Says("norms on queries and keys; acts on exports only", default=None)
    round_parameters: Real | None = Says(
        "scale the parameters to this total: a whiteboard's round model", "parameters", default=None, gt=0, le=1e18
    )

    def model_post_init(self, _context: Any) -> None:
        fill = {
            "kv_heads": self.kv_heads or self.heads,
            "head_dim": self.head_dim or self.hidden // self.heads,
            "ffn": self.ffn or 4 * self.hidden,
            "moe_ffn": self.moe_ffn or (self.ffn or 4 * self.hidden if self.experts else 0),
        }
        fill["shared_ffn"] = self.shared_ffn or self.shared_experts * fill["moe_ffn"]
        for name, value in fill.items():
            object.__setattr__(self, name, value)

    def refusals(self) -> list[Refusal]:
        """What has no meaning about this shape."""
        return [*self._head_refusals(), *self._expert_refusals(), *self._layer_refusals()]

    def _head_refusals(self) -> Iterator[Refusal]:
        heads, hidden = self.heads, self.hidden
        if self.head_dim * heads != hidden and self.head_dim == hidden // heads:
            rule = f"heads must divide hidden {hidden} or head_dim be given"
            yield Refusal("model.heads", heads, rule, whole(heads, divides=hidden))
        if heads % self.kv_heads:
            rule = f"kv_heads must divide the {heads} heads"
            yield Refusal("model.kv_heads", self.kv_heads, rule, whole(self.kv_heads, divides=heads))

    def _expert_refusals(self) -> Iterator[Refusal]:
        if self.experts and not 1 <= self.top_k <= self.experts:
            rule = f"a token needs 1 to {self.experts} of the experts"
            yield Refusal("model.top_k", self.top_k, rule, str(min(max(self.top_k, 1), self.experts)))
        if not self.experts and (self.top_k or self.shared_experts):
            yield Refusal("model.experts", 0, "top_k and shared_experts need experts")
        if self.shared_ffn and not self.shared_experts:
            yield Refusal("model.shared_experts", 0, "shared_ffn is the size of shared experts", "1")

    def _layer_refusals(self) -> Iterator[Refusal]:
        if self.latent and not (self.qk_nope_head_dim + self.qk_rope_head_dim and self.v_head_dim):
            rule = "latent attention needs the sizes of its query and value heads"
            yield Refusal("model.v_head_dim", self.v_head_dim, rule)
        if self.dense_layers > self.layers:
            rule = f"the model has {self.layers} layers"
            yield Refusal("model.dense_layers", self.dense_layers, rule, str(self.layers))

    @property
    def latent(self) -> bool:
        return self.kv_lora_rank > 0

    @property
    def qk_dim(self) -> int:
        """Size of one head's query and key."""
        return self.qk_nope_head_dim + self.qk_rope_head_dim if self.latent else self.head_dim

    @property
    def v_dim(self) -> int:
        """Size of one head's value."""
        return self.v_head_dim if self.latent else self.head_dim

    @property
    def moe_layers(self) -> int:
        """Layers with experts."""
        return self.moe_layers_before(self.layers)

    def moe_layers_before(self, layer: int) -> int:
        """Layers with experts among the first so many.

        >>> Model(layers=8, hidden=64, heads=4, vocab=100, experts=4, top_k=1, moe_step=2).moe_layers_before(5)
        2
        """
        return max(0, layer - self.dense_layers) // self.moe_step if self.experts else 0

    @property
    def shared_share(self) -> float:
        """Width of all shared experts, in routed ones.   [count]"""
        return self.shared_ffn / self.moe_ffn if self.moe_ffn else 0

    def stands_for(self, other: "Model") -> bool:
        """Whether the two count alike: facts that act on exports only are left aside."""
        facts: dict[str, None] = {"rope_theta": None, "norm_eps": None, "qk_norm": None}
        return self.model_copy(update=facts) == other.model_copy(update=facts)


@lru_cache(maxsize=1)
def catalogue() -> dict[str, dict[str, Any]]:
    """The models of the catalogue: name -> title, source, shape and what its publisher says of its size."""
    return yaml.load(CATALOG.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@lru_cache(maxsize=64)
def model_named(name: str) -> Model:
    """The model of this name in the catalogue.

    >>> model_named("llama-3-70b").layers
    80
    """
    shape = choose("model", name, catalogue(), "not in the catalogue ({names})")
    return Model(**{key: value for key, value in shape.items() if key not in NOTES})


def called_parameters(model: Model) -> tuple[float, float] | None:
    """Total and active parameters as people say them, for a model of the catalogue.   [parameters]

    >>> called_parameters(model_named("llama-3-70b"))
    (70000000000.0, 70000000000.0)
    """
    for name, entry in catalogue().items():
        if model_named(name).stands_for(model):
            total = entry["called_parameters"]
            return total, entry.get("called_active_parameters", total)
    return None
