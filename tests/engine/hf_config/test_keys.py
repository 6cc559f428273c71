"""Every key of a config.json is used, refused by its name, or listed as not read."""

from typing import Any

import pytest

from engine.catalog.hf_config import families, kinds, model_of_config, reading_of_config
from engine.catalog.hf_config.documents import SIGNS
from engine.catalog.hf_config.family import key_lists
from engine.catalog.model import model_named
from engine.language.refusal import Refusal
from engine.memory.parameters import count

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
}
MOE: dict[str, Any] = {
    "model_type": "qwen3_moe",
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "num_hidden_layers": 24,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "vocab_size": 151936,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "moe_intermediate_size": 768,
}
FALCON = {
    "model_type": "falcon",
    "hidden_size": 4544,
    "num_hidden_layers": 32,
    "num_attention_heads": 71,
    "vocab_size": 65024,
}
MPT = {"model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32, "vocab_size": 50432}
BLOOM = {"model_type": "bloom", "n_embed": 1024, "n_layer": 24, "n_head": 16, "vocab_size": 250880}


def said(config: object) -> str:
    with pytest.raises(Refusal) as refused:
        model_of_config(config)
    return refused.value.sentence


def test_a_config_is_the_same_model_as_the_catalogue_has() -> None:
    assert model_of_config(LLAMA).stands_for(model_named("llama-3-8b"))
    assert model_of_config({**LLAMA, "rope_theta": 5e5}).stands_for(model_named("llama-3-8b"))


# a file, and the sentence that refuses it: each names its key
@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (7, "model.hf_config = 7: needs the object of a config.json"),
        ([], "needs the object of a config.json"),
        ({"model_type": "llama"}, "model.hf_config.num_hidden_layers: is needed"),
        ({**LLAMA, "intermediate_size": None}, "model.hf_config.intermediate_size: is needed: llama has no usual value"),
        ({key: LLAMA[key] for key in list(LLAMA)[1:]}, "model.hf_config.model_type: is needed"),
        ({"architectures": ["LlamaForCausalLM"], "hidden_size": 64}, "model_type: is needed: names of keys alone do not tell a family; the nearest that works: llama"),
        ({**LLAMA, "model_type": "lama"}, "is no family that is read; a shape by hand works"),
        ({**LLAMA, "model_type": ["llama"]}, "model.hf_config.model_type"),
        ({**LLAMA, "model_type": "granite4", "mamba_d_state": 128}, "its keys say a hybrid with state-space layers"),
        ({**LLAMA, "num_hidden_layers": "32"}, "model.hf_config.num_hidden_layers = 32: needs a whole number"),
        ({**LLAMA, "hidden_size": -1}, "model.hf_config.hidden_size = -1: must be at least 0"),
        ({**LLAMA, "num_hidden_layers": 20_000}, "model.hf_config.num_hidden_layers = 20000: must be at most 10,000"),
        ({**LLAMA, "num_key_value_heads": 7}, "model.hf_config.num_key_value_heads = 7: kv_heads must divide the 32 heads; the nearest that works: 4 or 8"),
        ({**LLAMA, "tie_word_embeddings": "false"}, "model.hf_config.tie_word_embeddings = false: needs true or false"),
        ({**LLAMA, "attention_bias": 1}, "model.hf_config.attention_bias = 1: needs true or false"),
        ({**LLAMA, "is_encoder_decoder": True}, "model.hf_config.is_encoder_decoder = True"),
        ({**LLAMA, "text_config": [1]}, "model.hf_config.text_config = [1]: needs an object, or to be left out"),
        ({"model_type": "llava", "text_config": {**LLAMA, "num_hidden_layers": "9"}}, "model.hf_config.text_config.num_hidden_layers = 9"),
        ({**LLAMA, "layer_types": ["full_attention", "linear_attention"]}, "model.hf_config.layer_types"),
        ({**LLAMA, "num_local_experts": 8}, "model.hf_config.num_local_experts = 8: changes the model, and is not read for llama"),
        ({**LLAMA, "multi_query": True}, "model.hf_config.multi_query = True"),
        ({**LLAMA, "shared_expert_intermediate_size": 5632}, "model.hf_config.shared_expert_intermediate_size"),
        ({**LLAMA, "kv_lora_rank": 512}, "model.hf_config.kv_lora_rank = 512"),
        ({**LLAMA, "word_embed_proj_dim": 512}, "model.hf_config.word_embed_proj_dim = 512"),
        ({**LLAMA, "expansion_ratio": 8}, "model.hf_config.expansion_ratio = 8"),
        ({**MOE, "num_experts_per_tok": 129}, "model.hf_config.num_experts_per_tok = 129: a token needs 1 to 128 of the experts"),
        ({**MOE, "mlp_only_layers": [5, 9]}, "model.hf_config.mlp_only_layers"),
        ({**MPT, "expansion_ratio": "4"}, "model.hf_config.expansion_ratio = 4: needs a number"),
        ({**MPT, "no_bias": False}, "model.hf_config.no_bias = False"),
        ({**MPT, "attn_config": {"kv_n_heads": 4}}, "model.hf_config.attn_config.kv_n_heads = 4: acts only where"),
        ({**BLOOM, "n_embed": None}, "model.hf_config.hidden_size: is needed"),
    ],
)  # fmt: skip
def test_what_is_refused_names_its_key(config: object, sentence: str) -> None:
    found = said(config)
    assert sentence in found and len(found) < 330 and "\n" not in found


@pytest.mark.parametrize(
    "key", ["num_hidden_layers", "hidden_size", "intermediate_size", "vocab_size", "num_key_value_heads"]
)
@pytest.mark.parametrize("value", ["8", True, 1.5, [], -3, 1e300, float("nan")])
def test_a_key_with_another_kind_of_value_is_refused_by_its_name(key: str, value: object) -> None:
    assert said({**LLAMA, key: value}).startswith(f"model.hf_config.{key}")


# keys that change the count, and the field of the model that each changes
@pytest.mark.parametrize(
    ("config", "changed", "field", "value"),
    [
        ({"model_type": "gpt_bigcode", "n_embd": 2048, "n_layer": 24, "n_head": 16, "vocab_size": 49152}, {"multi_query": True}, "kv_heads", 1),
        ({"model_type": "gpt_bigcode", "n_embd": 2048, "n_layer": 24, "n_head": 16, "vocab_size": 49152}, {"multi_query": False}, "kv_heads", 16),
        (FALCON, {}, "kv_heads", 1),
        (FALCON, {"multi_query": False}, "kv_heads", 71),
        (FALCON | {"num_attention_heads": 64, "hidden_size": 4096}, {"new_decoder_architecture": True, "num_kv_heads": 8}, "kv_heads", 8),
        (MPT, {"expansion_ratio": 3}, "ffn", 3 * 4096),
        (MPT, {"attn_config": {"kv_n_heads": 8, "attn_type": "grouped_query_attention"}}, "kv_heads", 8),
        (MPT, {"attn_config": {"attn_type": "multiquery_attention"}}, "kv_heads", 1),
        (BLOOM, {}, "hidden", 1024),
        (MOE, {"mlp_only_layers": [0, 1]}, "dense_layers", 2),
        (MOE, {"decoder_sparse_step": 2}, "moe_layers", 12),
        (MOE, {"mlp_only_layers": list(range(24))}, "experts", 0),
        (MOE | {"model_type": "qwen2_moe"}, {"shared_expert_intermediate_size": 5632}, "shared_ffn", 5632),
        (LLAMA, {"head_dim": 96}, "head_dim", 96),
        (LLAMA | {"model_type": "phi3"}, {"tie_word_embeddings": True}, "tied", True),
    ],
)  # fmt: skip
def test_keys_that_change_the_count_are_used(
    config: dict[str, Any], changed: dict[str, Any], field: str, value: int
) -> None:
    found = reading_of_config({**config, **changed})
    assert getattr(found.model, field) == value
    assert all(any(key in used for used in found.used) for key in changed)


def test_routing_is_limited_only_where_a_token_may_not_ask_all_groups() -> None:
    deepseek = {**MOE, "model_type": "deepseek_v3", "first_k_dense_replace": 1, "n_group": 8, "topk_group": 4}
    deepseek = {key: value for key, value in deepseek.items() if key != "num_key_value_heads"}
    assert model_of_config(deepseek).routed_nodes == 4
    assert model_of_config({**deepseek, "n_group": 1, "topk_group": 1}).routed_nodes == 0


def test_what_was_not_read_is_listed_and_what_acts_or_is_left_out_is_said() -> None:
    extra = {"colour": "red", "torch_dtype": "bfloat16", "sliding_window": 4096, "num_nextn_predict_layers": 1}
    found = reading_of_config({**LLAMA, **extra})
    assert found.not_read == ("colour",) and found.harmless == ("torch_dtype",)
    assert [sentence.partition(":")[0] for sentence in (*found.acts, *found.left_out)] == [
        "sliding_window",
        "num_nextn_predict_layers",
    ]
    assert reading_of_config({**LLAMA, "sliding_window": 4096, "use_sliding_window": False}).acts == ()
    assert (
        reading_of_config({key: LLAMA[key] for key in LLAMA if key != "num_key_value_heads"}).assumed["kv_heads"] == 32
    )


def test_the_text_part_of_a_multimodal_file_is_read_and_its_towers_are_said_to_be_left_out() -> None:
    whole = {"model_type": "llava", "text_config": LLAMA, "vision_config": {"hidden_size": 1024}}
    found = reading_of_config(whole)
    assert found.model == model_of_config(LLAMA) and "vision tower" in found.left_out[0]
    assert reading_of_config(found.kept).left_out == found.left_out
    assert model_of_config({**LLAMA, "text_config": None}) == model_of_config(LLAMA)
    gemma = {"hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34}
    tied = model_of_config({"model_type": "gemma3", "text_config": gemma})
    assert tied.tied and count(tied).total == pytest.approx(3.88e9, rel=1e-3)
    assert not model_of_config({"model_type": "gemma3", "text_config": gemma, "tie_word_embeddings": False}).tied


@pytest.mark.parametrize("name", sorted(kinds()))
def test_other_kinds_of_model_are_refused_by_their_kind(name: str) -> None:
    assert f"model.hf_config.model_type = {name}: is {kinds()[name]}" in said({**LLAMA, "model_type": name})
    assert name not in families()


@pytest.mark.parametrize(("keys", "what"), SIGNS, ids=[keys[0] for keys, _ in SIGNS])
def test_another_file_is_called_by_what_it_is(keys: tuple[str, ...], what: str) -> None:
    assert said(dict.fromkeys(keys, 8)) == f"model.hf_config: this is {what}"


def test_a_generation_config_is_called_so() -> None:
    assert "generation_config.json" in said({"_from_model_config": True, "bos_token_id": 1, "temperature": 0.6})


def test_no_key_is_both_harmless_and_known_to_matter() -> None:
    lists = key_lists()
    assert not {*lists["harmless"], *lists["acts"], *lists["left_out"]} & {*lists["matters"]}
