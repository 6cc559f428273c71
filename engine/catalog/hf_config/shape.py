"""The keys of a config.json as the shape of a Model."""

from typing import Any

from engine.catalog.hf_config.asked import ABSENT, Asked
from engine.catalog.hf_config.experts import placed
from engine.catalog.hf_config.family import Family, Size
from engine.catalog.hf_config.own import OWN, Draft
from engine.language.refusal import Refusal

NULL: dict[str, Size] = {"kv_heads": "heads", "head_dim": "hidden/heads", "q_lora_rank": 0, "shared_experts": 0}
FIRST = ("layers", "hidden", "heads", "vocab")
OF_EXPERTS = ("experts", "top_k", "moe_ffn", "shared_experts", "shared_ffn", "routed_nodes", "dense_layers", "moe_step")
ROPE_BASE = ("rope_theta", "rope_parameters.rope_theta", "attn_config.rope_theta", "rotary_emb_base")
EPSILON = ("rms_norm_eps", "layer_norm_epsilon", "layer_norm_eps", "norm_epsilon", "norm_eps", "layernorm_epsilon")


def drafted(asked: Asked, name: str, family: Family, tied: bool | None) -> Draft:
    """The shape that the keys give, or a Refusal that names the key.

    name   of the family
    tied   what the file around this one says of the embedding, if anything
    """
    draft = Draft({}, family.norms, family.final_norm)
    for field, keys in sorted(family.names.items(), key=lambda item: item[0] not in FIRST):
        if keys:
            _read(asked, draft, name, family, field, keys)
    draft.shape |= family.fixed
    if family.own:
        OWN[family.own](asked, draft)
    _needed(asked, family)
    _fill(draft)
    if family.experts:
        _experts(asked, draft, family)
    own = asked.switch({"tie_word_embeddings": family.tied})
    draft.shape |= {"gated": family.gated, "tied": own if tied is None else tied}
    if tied is None and "tie_word_embeddings" not in asked.used:
        draft.assumed["tied"] = family.tied
    _positions(asked, draft, family)
    _vectors(asked, draft, family)
    _facts(asked, draft, family)
    return draft


def _read(asked: Asked, draft: Draft, name: str, family: Family, field: str, keys: tuple[str, ...]) -> None:
    key = asked.first(keys)
    given = ABSENT if key is None else asked.value(key)
    if key is not None and given is not None:
        draft.say(field, asked.whole(key), key)
        return
    silent = NULL.get(field) if given is None and field in NULL else family.defaults.get(field, NULL.get(field))
    if silent is not None:
        if (value := size(silent, draft.shape)) is not None:
            draft.shape[field] = draft.assumed[field] = value
    elif field in (*FIRST, "ffn") or field in ("experts", "top_k", *family.names.keys() & {"kv_lora_rank"}):
        raise Refusal(asked.path(keys[0]), None, f"is needed: {name} has no usual value for it")


def size(said: Size, shape: dict[str, Any]) -> int | None:
    """A default as a number; None where it rests on what is not known.

    >>> size("4 hidden", {"hidden": 64}), size("hidden/heads", {"hidden": 64, "heads": 4}), size(7, {})
    (256, 16, 7)
    """
    if isinstance(said, int):
        return said
    if said == "hidden/heads":
        return shape["hidden"] // shape["heads"] if shape["heads"] else None
    times, _, field = said.rpartition(" ")
    return int(times or 1) * shape[field] if field in shape else None


def _needed(asked: Asked, family: Family) -> None:
    for key, allowed in family.needs.items():
        value = asked.value(key)
        if allowed is not None and value not in (ABSENT, None) and value not in allowed:
            only = " or ".join(str(each).lower() for each in allowed)
            raise Refusal(asked.path(key), value, "changes the model in a way that is not modelled", only)


def _fill(draft: Draft) -> None:
    """What later steps multiply with, as a Model would fill it in."""
    shape = draft.shape
    shape.setdefault("kv_heads", shape["heads"])
    if not shape.get("head_dim"):
        shape["head_dim"] = shape["hidden"] // shape["heads"] if shape["heads"] else 0
    shape.setdefault("ffn", 4 * shape["hidden"])


def _experts(asked: Asked, draft: Draft, family: Family) -> None:
    shape = draft.shape
    places = (
        placed(asked, shape["layers"], int(family.defaults.get("dense_layers", 0))) if shape.get("experts") else None
    )
    if places is None:
        for field in OF_EXPERTS:
            shape.pop(field, None)
        return
    shape["dense_layers"], shape["moe_step"] = places
    shape.setdefault("moe_ffn", shape["ffn"])
    groups = asked.first(("n_group", "num_expert_group"))
    if not groups or asked.value(groups) in (None, 0, 1) or asked.value(groups) == shape.get("routed_nodes"):
        shape.pop("routed_nodes", None)  # all groups may be asked: no limit
    if shape.get("shared_ffn") and not shape.get("shared_experts"):
        shape["shared_experts"] = max(1, shape["shared_ffn"] // max(1, shape["moe_ffn"]))
    switch = family.bias.get("mlp", False)
    if not isinstance(switch, bool) and asked.switch(switch):
        rule = "biases of experts are not modelled in this family"
        raise Refusal(asked.path(next(iter(switch))), True, rule, "false")


def _positions(asked: Asked, draft: Draft, family: Family) -> None:
    if not family.positions:
        return
    key = asked.first(tuple(family.positions))
    if key and asked.value(key) is not None:
        draft.say("positions", asked.whole(key) + family.positions[key], key)
    else:
        beyond = next(iter(family.positions.values()))
        draft.shape["positions"] = draft.assumed["positions"] = int(family.defaults["positions"]) + beyond


def _vectors(asked: Asked, draft: Draft, family: Family) -> None:
    """Norms and biases: of a layer, of a router, of an expert, and outside the layers."""
    shape = draft.shape
    hidden, query, key = shape["hidden"], shape["heads"] * shape["head_dim"], shape["kv_heads"] * shape["head_dim"]
    norm = hidden * (2 if family.norm_bias else 1)
    bias = {part: asked.switch(family.bias.get(part, False)) for part in ("qkv", "out", "mlp", "head")}
    shape["qk_norm"] = family.qk_norm != "none" and asked.switch(family.qk_norm_if)
    normed = 0
    if shape["qk_norm"]:
        normed = query + key if family.qk_norm == "wide" else 2 * shape["head_dim"]
    inner = shape["ffn"] * (2 if family.gated else 1)
    layer = (
        draft.norms * norm
        + normed * (2 if family.qk_norm_bias else 1)
        + bias["qkv"] * (query + 2 * key)
        + bias["out"] * hidden
        + bias["mlp"] * (inner + hidden)
        + sum(many * shape[field] for field, many in family.vectors.items())
    )
    ends = draft.final_norm * norm + family.embedding_norm * norm + bias["head"] * shape["vocab"]
    shape |= {} if layer == 2 * hidden else {"layer_vectors": layer}
    shape |= {} if ends == hidden else {"end_vectors": ends}
    if shape.get("experts"):
        shape["moe_vectors"] = sum(many * shape[field] for field, many in family.moe_vectors.items())
        shape["expert_vectors"] = family.expert_bias * (2 * shape["moe_ffn"] + hidden)


def _facts(asked: Asked, draft: Draft, family: Family) -> None:
    """What exports write and nothing counts."""
    for field, keys in (("rope_theta", ROPE_BASE), ("norm_eps", EPSILON)):
        key = asked.first(keys)
        value = asked.value(key) if key else None
        if isinstance(value, int | float) and not isinstance(value, bool) and key:
            draft.shape[field], draft.sources[field] = value, key
