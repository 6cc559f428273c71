"""What one family alone says in its config.json: each function mends a draft of the shape, or refuses a key."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.catalog.hf_config.asked import ABSENT, Asked
from engine.language.refusal import Refusal


@dataclass
class Draft:
    """A shape in the making.

    shape     fields of a Model
    sources   field -> the key that said it
    assumed   field -> value, where the file is silent and the family has a default
    norms     norms of the hidden size in a layer; final_norm: whether there is one after the last
    """

    shape: dict[str, Any]
    norms: int
    final_norm: bool
    sources: dict[str, str] = field(default_factory=dict)
    assumed: dict[str, int] = field(default_factory=dict)

    def say(self, name: str, value: int, key: str) -> None:
        """A field that a key has said, or its absence."""
        self.shape[name], self.sources[name] = value, key


def _post_norms(asked: Asked, draft: Draft) -> None:
    draft.norms = 4 if asked.switch({"use_post_norm": True}) else 2


def _parallel_norms(asked: Asked, draft: Draft) -> None:
    draft.norms = 1 if asked.switch({"use_parallel_residual": False}) else 2


def _halved_mlp(asked: Asked, draft: Draft) -> None:
    draft.shape["ffn"] //= 2  # its intermediate_size counts both matrices going in


def _query_groups(asked: Asked, draft: Draft) -> None:
    if asked.switch({"multi_query_attention": False}):
        draft.say("kv_heads", _number(asked, "multi_query_group_num", 1), "multi_query_group_num")


def _multi_query(asked: Asked, draft: Draft) -> None:
    if asked.switch({"multi_query": True}):
        draft.say("kv_heads", 1, "multi_query")


def _narrow_embedding(asked: Asked, draft: Draft) -> None:
    width, hidden = _number(asked, "word_embed_proj_dim", draft.shape["hidden"]), draft.shape["hidden"]
    if width != hidden:
        rule = f"an embedding of another width than hidden_size {hidden}, and the matrices between, are not modelled"
        raise Refusal(asked.path("word_embed_proj_dim"), width, rule, f"{hidden}")
    kept = asked.switch({"do_layer_norm_before": True}) and not asked.switch({"_remove_final_layer_norm": False})
    draft.final_norm = kept


def _falcon(asked: Asked, draft: Draft) -> None:
    newer = asked.switch({"new_decoder_architecture": False})
    shared = asked.switch({"multi_query": True})
    heads = asked.first(("num_kv_heads", "n_head_kv"))
    if heads and newer:
        draft.say("kv_heads", asked.whole(heads), heads)
    elif not newer and shared:
        draft.say("kv_heads", 1, "multi_query")
    norms = _number(asked, "num_ln_in_parallel_attn", 2 if newer else 1)
    parallel = asked.switch({"parallel_attn": True})
    draft.norms = norms if newer else 1 if parallel else 2


def _mpt(asked: Asked, draft: Draft) -> None:
    key = asked.first(("expansion_ratio",))
    ratio: Any = asked.value("expansion_ratio") if key else 4
    if isinstance(ratio, bool) or not isinstance(ratio, int | float) or not 0 < ratio <= 1000:
        raise Refusal(asked.path("expansion_ratio"), ratio, "needs a number above 0 and at most 1,000", "4")
    draft.say("ffn", int(ratio * draft.shape["hidden"]), "expansion_ratio")
    kind = asked.value("attn_config.attn_type")
    if kind == "multiquery_attention":
        draft.say("kv_heads", 1, "attn_config.attn_type")
    elif (
        draft.shape.get("kv_heads", draft.shape["heads"]) != draft.shape["heads"] and kind != "grouped_query_attention"
    ):
        key, rule = "attn_config.kv_n_heads", "acts only where attn_config.attn_type is grouped_query_attention"
        raise Refusal(asked.path(key), draft.shape["kv_heads"], rule, f"{draft.shape['heads']}")
    elif kind not in (ABSENT, None, "multihead_attention", "grouped_query_attention"):
        raise Refusal(asked.path("attn_config.attn_type"), kind, "no such attention is modelled", "multihead_attention")


def _square_output(asked: Asked, draft: Draft) -> None:
    if draft.shape["head_dim"] * draft.shape["heads"] != draft.shape["hidden"]:
        rule = f"its heads must fill hidden_size {draft.shape['hidden']} together"
        raise Refusal(asked.path("head_dim"), draft.shape["head_dim"], rule)


def _number(asked: Asked, key: str, default: int) -> int:
    return default if asked.value(key) in (ABSENT, None) else asked.whole(key)


OWN: Mapping[str, Callable[[Asked, Draft], None]] = {
    "post_norms": _post_norms,
    "parallel_norms": _parallel_norms,
    "halved_mlp": _halved_mlp,
    "query_groups": _query_groups,
    "multi_query": _multi_query,
    "narrow_embedding": _narrow_embedding,
    "falcon": _falcon,
    "mpt": _mpt,
    "square_output": _square_output,
}
OWN_KEYS = (
    *("use_post_norm", "multi_query_attention", "multi_query_group_num", "multi_query", "word_embed_proj_dim"),
    *("new_decoder_architecture", "num_kv_heads", "n_head_kv", "num_ln_in_parallel_attn", "parallel_attn"),
    *("expansion_ratio", "attn_config.attn_type", "_remove_final_layer_norm"),
)
