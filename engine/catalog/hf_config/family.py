"""The families of config.json: one table, listed in families.yaml."""

from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field

from engine.language.document import Document

HERE = Path(__file__).parent
Switch = bool | dict[str, bool]  # a fact, or a key of the file with its default
Size = int | str  # a number, a field of the model, "4 hidden" or "hidden/heads"
MERGED = ("keys", "defaults", "bias", "needs")  # what a family that is like another adds to instead of replacing

USUAL: dict[str, tuple[str, ...]] = {
    "layers": ("num_hidden_layers",),
    "hidden": ("hidden_size",),
    "heads": ("num_attention_heads",),
    "vocab": ("vocab_size",),
    "kv_heads": ("num_key_value_heads",),
    "head_dim": ("head_dim",),
    "ffn": ("intermediate_size",),
}
EXPERTS: dict[str, tuple[str, ...]] = {
    "experts": ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"),
    "top_k": ("num_experts_per_tok", "experts_per_token", "moe_k", "moe_topk"),
    "moe_ffn": ("moe_intermediate_size",),
    "shared_experts": ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert"),
    "routed_nodes": ("topk_group",),
}
LATENT: dict[str, tuple[str, ...]] = {
    name: (name,) for name in ("q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
}


class Family(Document, frozen=True):
    """What a family's files leave unsaid: see the head of families.yaml."""

    keys: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    defaults: dict[str, Size] = Field(default_factory=dict)
    fixed: dict[str, int] = Field(default_factory=dict)
    gated: bool = True
    tied: bool = False
    latent: bool = False
    experts: bool = False
    norms: int = 2
    norm_bias: bool = False
    final_norm: bool = True
    embedding_norm: bool = False
    qk_norm: Literal["none", "head", "wide"] = "none"
    qk_norm_if: Switch = True
    qk_norm_bias: bool = False
    bias: dict[str, Switch] = Field(default_factory=dict)
    expert_bias: bool = False
    vectors: dict[str, int] = Field(default_factory=dict)
    moe_vectors: dict[str, int] = Field(default_factory=dict)
    positions: dict[str, int] = Field(default_factory=dict)
    needs: dict[str, list[Any] | None] = Field(default_factory=dict)
    own: str | None = None

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """Field of a model -> the keys that may say it; the first one given counts."""
        read = USUAL | (EXPERTS if self.experts else {}) | (LATENT if self.latent else {})
        return read | self.keys


@lru_cache(maxsize=1)
def families() -> dict[str, Family]:
    """Every model_type that is read -> its family.

    >>> families()["aquila"] == families()["llama"], families()["arcee"].gated
    (True, False)
    """
    table: dict[str, dict[str, Any]] = _loaded("families.yaml")
    found: dict[str, Family] = {}
    for name, entry in table.items():
        also = entry.pop("also", ())
        own = Family(**_whole(name, table))
        found |= dict.fromkeys((name, *also), own)
    return found


def _whole(name: str, table: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The entry with what it takes over from the family that it is like."""
    entry = {key: value for key, value in table[name].items() if key not in ("like", "also")}
    if "like" not in table[name]:
        return entry
    base = _whole(table[name]["like"], table)
    merged = {key: {**base.get(key, {}), **entry.get(key, {})} for key in MERGED if key in base or key in entry}
    return {**base, **entry, **merged}


@lru_cache(maxsize=1)
def kinds() -> dict[str, str]:
    """Every model_type that is known and not read -> what kind of model it is.

    >>> kinds()["mamba"]
    'a state-space model'
    """
    return {name: kind for kind, names in _loaded("kinds.yaml").items() for name in names}


@lru_cache(maxsize=1)
def key_lists() -> dict[str, Any]:
    """Keys beyond the families' own: harmless, acts, left_out, matters."""
    return _loaded("keys.yaml")


def _loaded(name: str) -> Any:
    return yaml.load((HERE / name).read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
