"""A model's shape as Megatron's arguments."""

from collections.abc import Iterator

from engine.catalog.model import Model
from engine.export.base import gap
from engine.export.model_facts import model_gaps
from engine.language.document import divisors
from engine.scenario import Scenario

# option, field of the model
SIZES = (
    ("--num-layers", "layers"),
    ("--hidden-size", "hidden"),
    ("--num-attention-heads", "heads"),
    ("--ffn-hidden-size", "ffn"),
    ("--kv-channels", "head_dim"),
    ("--vocab-size", "vocab"),
)
EXPERTS = (("--num-experts", "experts"), ("--moe-router-topk", "top_k"), ("--moe-ffn-hidden-size", "moe_ffn"))
LATENT = (
    ("--q-lora-rank", "q_lora_rank"),
    ("--kv-lora-rank", "kv_lora_rank"),
    ("--qk-head-dim", "qk_nope_head_dim"),
    ("--qk-pos-emb-head-dim", "qk_rope_head_dim"),
    ("--v-head-dim", "v_head_dim"),
)
# fields of the model that the options hold, or a sentence of their own
WRITTEN = (
    *(field for _, field in (*SIZES, *EXPERTS, *LATENT)),
    *(
        "kv_heads",
        "gated",
        "tied",
        "positions",
        "shared_experts",
        "shared_ffn",
        "dense_layers",
        "moe_step",
        "routed_nodes",
    ),
    *("round_parameters", "rope_theta", "norm_eps", "qk_norm"),
)
Words = tuple[str, ...]


def shape_words(model: Model, sequence_tokens: int) -> Iterator[Words]:
    """The arguments that describe a model."""
    yield from _sized(model, SIZES)
    if model.gated:
        yield from (("--swiglu",), ("--disable-bias-linear",), ("--normalization", "RMSNorm"))
    if not model.tied:
        yield ("--untie-embeddings-and-output-weights",)
    yield ("--position-embedding-type", "learned_absolute" if model.positions else "rope")
    yield ("--max-position-embeddings", str(max(model.positions, sequence_tokens)))
    if model.latent:
        yield ("--multi-latent-attention",)
        yield from _sized(model, LATENT)
    elif model.kv_heads != model.heads:
        yield from (("--group-query-attention",), ("--num-query-groups", str(model.kv_heads)))
    if model.experts:
        yield from _expert_words(model)
    yield from _fact_words(model)


def _fact_words(model: Model) -> Iterator[Words]:
    """What a config.json said beyond the shape."""
    if model.rope_theta is not None:
        yield ("--rotary-base", f"{model.rope_theta:.0f}")
    if model.norm_eps is not None:
        yield ("--norm-epsilon", f"{model.norm_eps:g}")
    if model.qk_norm:
        yield ("--qk-layernorm",)


def _sized(model: Model, names: tuple[tuple[str, str], ...]) -> Iterator[Words]:
    for option, field in names:
        if value := getattr(model, field):
            yield (option, str(value))


def _expert_words(model: Model) -> Iterator[Words]:
    yield from _sized(model, EXPERTS)
    if model.shared_experts:
        yield ("--moe-shared-expert-intermediate-size", str(model.shared_ffn))
    if model.moe_step > 1:
        yield ("--moe-layer-freq", f"[{','.join(_with_experts(model))}]")
    elif model.dense_layers:
        yield ("--moe-layer-freq", f"([0]*{model.dense_layers}+[1]*{model.moe_layers})")
    if groups := _groups(model):
        yield ("--moe-router-num-groups", str(groups))
        yield ("--moe-router-group-topk", str(model.routed_nodes))
    # without a coefficient nothing balances the experts, and the board reckons with balanced ones
    yield ("--moe-aux-loss-coeff", "1e-2")
    yield from (("--moe-grouped-gemm",), ("--moe-token-dispatcher-type", "alltoall"))


def _with_experts(model: Model) -> Iterator[str]:
    """1 for each layer with experts, 0 for one without."""
    for layer in range(model.layers):
        yield str(model.moe_layers_before(layer + 1) - model.moe_layers_before(layer))


def _groups(model: Model) -> int | None:
    """Groups of experts from which a token may ask only routed_nodes: the next number that divides the experts."""
    more = [number for number in divisors(model.experts) if number > model.routed_nodes] if model.routed_nodes else []
    return more[0] if more else None


def shape_gaps(scenario: Scenario) -> Iterator[str]:
    """What the arguments do not say about the model."""
    model = scenario.model
    if model.routed_nodes and scenario.layout.ep > 1:
        yield (
            "--moe-token-dispatcher-type alltoall: it sends a copy to every expert; one copy a node, as this board reckons, needs "
            "DeepEP (--moe-token-dispatcher-type flex)."
        )
    if model.round_parameters is not None:
        yield gap(
            "model.round_parameters", f"{model.round_parameters:g}", "a real model has the parameters of its shape"
        )
    if model.positions and model.positions < scenario.sequence_tokens:
        yield gap(
            "model.positions",
            model.positions,
            f"learned positions must reach over a sequence of {scenario.sequence_tokens:,} "
            "tokens, so there are as many",
        )
    if model.latent and model.kv_heads != model.heads:
        yield gap("model.kv_heads", model.kv_heads, "latent attention has a key and a value for every head")
    if groups := _groups(model):
        yield gap(
            "model.routed_nodes",
            model.routed_nodes,
            "nodes are written as groups of experts; set --moe-router-num-groups "
            f"({groups} here) to the model's own number",
        )
    elif model.routed_nodes:
        yield gap(
            "model.routed_nodes", model.routed_nodes, "so many groups do not divide the experts, so tokens go anywhere"
        )
    yield from model_gaps(scenario, WRITTEN)
