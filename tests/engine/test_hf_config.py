"""config.json files of several families, against the totals their publishers print. The shapes are from the public files."""

from typing import Any

import pytest

from engine.catalog.hf_config import KNOWN, model_of_config
from engine.catalog.model import model_named
from engine.language.refusal import Refusal
from engine.memory.parameters import count

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
    "rope_theta": 500000.0,
    "torch_dtype": "bfloat16",
}
QWEN3_MOE = {
    "model_type": "qwen3_moe",
    "hidden_size": 4096,
    "intermediate_size": 12288,
    "num_hidden_layers": 94,
    "num_attention_heads": 64,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "moe_intermediate_size": 1536,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "vocab_size": 151936,
    "tie_word_embeddings": False,
}
DEEPSEEK_V3 = {
    "model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432, "moe_intermediate_size": 2048,
    "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128, "n_routed_experts": 256,
    "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3, "moe_layer_freq": 1, "q_lora_rank": 1536,
    "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 129280,
    "tie_word_embeddings": False, "n_group": 8, "topk_group": 4,
}  # fmt: skip
MIXTRAL = {
    "model_type": "mixtral",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
    "vocab_size": 32000,
    "tie_word_embeddings": False,
}
GPT2 = {
    "model_type": "gpt2",
    "n_embd": 768,
    "n_head": 12,
    "n_layer": 12,
    "n_positions": 1024,
    "n_ctx": 1024,
    "vocab_size": 50257,
}
QWEN2 = {
    "model_type": "qwen2",
    "hidden_size": 896,
    "intermediate_size": 4864,
    "num_hidden_layers": 24,
    "num_attention_heads": 14,
    "num_key_value_heads": 2,
    "vocab_size": 151936,
    "tie_word_embeddings": True,
}
MISTRAL = {
    "model_type": "mistral",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 32000,
    "tie_word_embeddings": False,
}

# total and active parameters: model cards and papers of each
PUBLISHED = [
    (LLAMA, 8.030e9, 8.030e9),
    (MISTRAL, 7.242e9, 7.242e9),
    (QWEN2, 0.494e9, 0.494e9),
    (QWEN3_MOE, 235e9, 22e9),
    (DEEPSEEK_V3, 671e9, 37e9),
    (MIXTRAL, 46.7e9, 12.9e9),
    (GPT2, 124.4e6, 124.4e6),
]


@pytest.mark.parametrize(("config", "total", "active"), PUBLISHED, ids=[str(row[0]["model_type"]) for row in PUBLISHED])
def test_the_total_is_what_is_published(config: dict[str, Any], total: float, active: float) -> None:
    parts = count(model_of_config(config))
    assert parts.total == pytest.approx(total, rel=0.005)
    assert parts.active == pytest.approx(active, rel=0.02)


def test_a_config_is_the_same_model_as_the_catalogue_has() -> None:
    assert count(model_of_config(LLAMA)).total == count(model_named("llama-3-8b")).total


def test_a_config_inside_a_multimodal_one_is_found() -> None:
    assert model_of_config({"model_type": "llava", "text_config": LLAMA}) == model_of_config(LLAMA)
    assert model_of_config({**LLAMA, "text_config": None}) == model_of_config(LLAMA)


def test_falcon_shares_one_key_value_head_but_in_its_newer_architecture() -> None:
    falcon = {
        "model_type": "falcon",
        "hidden_size": 8192,
        "num_hidden_layers": 60,
        "num_attention_heads": 128,
        "num_kv_heads": 8,
        "multi_query": True,
        "vocab_size": 65024,
    }
    assert model_of_config(falcon).kv_heads == 1
    assert model_of_config({**falcon, "new_decoder_architecture": True}).kv_heads == 8


@pytest.mark.parametrize("family", KNOWN)
def test_every_known_family_is_read(family: str) -> None:
    config = {
        "model_type": family,
        "num_hidden_layers": 2,
        "hidden_size": 64,
        "num_attention_heads": 4,
        "vocab_size": 100,
    }
    assert model_of_config(config).layers == 2


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (7, "model.hf_config = 7: needs the object of a config.json"),
        ([], "needs the object of a config.json"),
        ({}, "needs num_hidden_layers"),
        ({**LLAMA, "model_type": "lama"}, "the nearest that works: llama"),
        ({**LLAMA, "model_type": "t5"}, "model.hf_config.model_type = t5"),
        ({**LLAMA, "model_type": ["llama"]}, "model.hf_config.model_type"),
        ({**LLAMA, "num_hidden_layers": "32"}, "model.hf_config.layers = 32: needs a whole number"),
        ({**LLAMA, "hidden_size": -1}, "must be at least 1"),
        ({**LLAMA, "num_key_value_heads": 7}, "kv_heads must divide the 32 heads; the nearest that works: 4 or 8"),
        ({**LLAMA, "text_config": [1]}, "model.hf_config"),
        ({**MIXTRAL, "num_experts_per_tok": 9}, "a token needs 1 to 8 of the experts"),
        ({**QWEN3_MOE, "decoder_sparse_step": 2}, "not modelled yet"),
    ],
)
def test_a_config_without_a_meaning_is_refused(config: object, sentence: str) -> None:
    with pytest.raises(Refusal) as refused:
        model_of_config(config)
    assert sentence in str(refused.value)


def test_routing_is_limited_only_where_a_token_may_not_ask_all_groups() -> None:
    assert model_of_config(DEEPSEEK_V3).routed_nodes == model_named("deepseek-v3").routed_nodes == 4
    assert model_of_config({**DEEPSEEK_V3, "n_group": 1, "topk_group": 1}).routed_nodes == 0
    assert model_of_config(MIXTRAL).routed_nodes == 0
