"""A Hugging Face config.json read as a Model."""

from collections.abc import Mapping
from typing import Any

from engine.catalog.model import Model
from engine.language.choice import one_of
from engine.language.document import read
from engine.language.refusal import Refusal

GATED = ("llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "deepseek_v2", "deepseek_v3", "gemma",
         "gemma2", "gemma3_text", "phi3", "olmo", "olmo2", "granite", "cohere", "smollm3", "glm4", "kimi_k2")  # fmt: skip
UNGATED = ("gpt2", "gpt_neox", "opt", "bloom", "gpt_bigcode", "starcoder2", "falcon", "mpt")
KNOWN = (*GATED, *UNGATED)
TIED = (
    "gpt2",
    "bloom",
    "opt",
    "gemma",
    "gemma2",
    "gemma3_text",
    "gpt_bigcode",
    "starcoder2",
    "falcon",
    "mpt",
    "cohere",
    "smollm3",
)  # unless the file says otherwise

# What a model's shape calls each field, in the words the families use; the first that is present counts.
NAMES = {
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "hidden": ("hidden_size", "n_embd", "d_model"),
    "heads": ("num_attention_heads", "n_head", "n_heads"),
    "vocab": ("vocab_size",),
    "kv_heads": ("num_key_value_heads", "num_kv_heads"),
    "head_dim": ("head_dim",),
    "ffn": ("intermediate_size", "n_inner", "ffn_dim"),
    "experts": ("num_local_experts", "num_experts", "n_routed_experts"),
    "top_k": ("num_experts_per_tok",),
    "moe_ffn": ("moe_intermediate_size",),
    "shared_experts": ("n_shared_experts",),
    "dense_layers": ("first_k_dense_replace",),
    "routed_nodes": ("topk_group",),
    "q_lora_rank": ("q_lora_rank",),
    "kv_lora_rank": ("kv_lora_rank",),
    "qk_nope_head_dim": ("qk_nope_head_dim",),
    "qk_rope_head_dim": ("qk_rope_head_dim",),
    "v_head_dim": ("v_head_dim",),
}


def model_of_config(config: object) -> Model:
    """The model a config.json describes.

    config   the parsed file: an object with model_type, or with names one of the known families uses

    >>> model_of_config({"model_type": "llama", "num_hidden_layers": 80, "hidden_size": 8192, "num_attention_heads": 64,
    ...                  "num_key_value_heads": 8, "intermediate_size": 28672, "vocab_size": 128256}).gated
    True

    Breaks down for encoder-decoders and state-space models, which are refused.
    """
    if not isinstance(config, Mapping):
        raise Refusal("model.hf_config", config, "needs the object of a config.json")
    given = config.get("text_config") or config
    if not isinstance(given, Mapping):
        raise Refusal("model.hf_config.text_config", given, "needs an object, or to be left out")
    family = _family(given if "model_type" in given else config)
    shape: dict[str, Any] = {}
    for field, names in NAMES.items():
        found = next((given[name] for name in names if given.get(name) is not None), None)
        if found is not None:
            shape[field] = found
    missing = [field for field in ("layers", "hidden", "heads", "vocab") if field not in shape]
    if missing:
        raise Refusal("model.hf_config", None, f"needs {' or '.join(NAMES[missing[0]])}")
    if family == "falcon" and given.get("multi_query") and not given.get("new_decoder_architecture"):
        shape["kv_heads"] = 1
    shape["gated"] = family in GATED
    shape["tied"] = bool(given.get("tie_word_embeddings", family in TIED))
    if family in ("gpt2", "opt", "gpt_bigcode"):
        shape["positions"] = given.get("n_positions", given.get("max_position_embeddings", 0))
    if not given.get("n_group") or given.get("n_group") == given.get("topk_group"):
        shape.pop("routed_nodes", None)  # all groups may be asked: no limit
    if "experts" in shape and "moe_ffn" not in shape and "ffn" in shape:
        shape["moe_ffn"] = shape["ffn"]
    if given.get("decoder_sparse_step", 1) != 1 or given.get("moe_layer_freq", 1) not in (1, None):
        raise Refusal(
            "model.hf_config",
            None,
            "experts in only some of the layers are not modelled yet, except leading dense ones",
        )
    return read(Model, shape, "model.hf_config")


def _family(config: Mapping[str, Any]) -> str:
    family = config.get("model_type")
    if family is None:
        if "n_embd" in config:
            return "gpt2"
        return "llama"
    return one_of("model.hf_config.model_type", family, KNOWN, "known are {names}")
