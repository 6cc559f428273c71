"""Parameters of config.json files: made-up shapes against the library's own models, real ones against what is published.

counted.jsonl   made-up files of every family, and of each key that it reads, with the parameters of the model that transformers
                5.24 builds of them on torch's meta device
public.jsonl    shapes of public config.json files, with the total of the weights that their publishers keep
"""

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.catalog.hf_config import families, model_of_config, reading_of_config, reduced
from engine.catalog.hf_config.family import key_lists
from engine.catalog.hf_config.reading import known_to_matter
from engine.language.refusal import Refusal
from engine.memory.parameters import count

HERE = Path(__file__).parent
NEVER_THERE = {  # families that keep their code beside their weights, and text parts whose files the library makes whole
    *("aquila", "minicpm", "baichuan", "internlm2", "internlm", "qwen", "chatglm", "RefinedWeb", "RefinedWebModel"),
    *(
        "phi4mm",
        "kimi_k2",
        "deepseek",
        "qwen2_audio_text",
        "qwen2_vl",
        "qwen2_5_vl",
        "qwen2_vl_text",
        "qwen2_5_vl_text",
    ),
    *("qwen3_vl_text", "qwen3_vl_moe_text", "glm4v_text", "glm4v_moe_text"),
}
REFUSABLE = (
    *("word_embed_proj_dim", "mlp_only_layers", "use_bias", "mlp_bias", "moe_layer_end_index", "num_key_value_heads"),
    *("use_qk_norm", "attn_config.kv_n_heads", "head_dim", "first_k_dense_replace"),
)


@cache
def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("family", sorted(set(families()) - NEVER_THERE))
def test_made_up_shapes_count_as_the_library_builds_them_or_are_refused_by_key(family: str) -> None:
    mine = [row for row in rows("counted.jsonl") if row["config"]["model_type"] == family]
    counted = 0
    for row in mine:
        try:
            total = count(model_of_config(row["config"])).total
        except Refusal as refusal:
            assert refusal.field.removeprefix("model.hf_config.") in REFUSABLE, refusal.sentence
            continue
        assert total == pytest.approx(row["total"], rel=1e-4), row["config"]
        counted += 1
    assert counted >= 2


@pytest.mark.parametrize("row", rows("public.jsonl"), ids=lambda row: row["name"])
def test_public_files_count_as_published(row: dict[str, Any]) -> None:
    found = reading_of_config(row["config"])
    assert count(found.model).total == pytest.approx(row["total"], rel=1e-6)
    assert found.not_read == ()


@pytest.mark.parametrize("row", rows("public.jsonl"), ids=lambda row: row["name"])
def test_a_file_reduced_is_the_same_model_in_a_kilobyte(row: dict[str, Any]) -> None:
    chatter = {f"something_{number}": "x" * 40 for number in range(100)}
    kept = reduced({**row["config"], **chatter, "id2label": {"0": "x" * 2000}, "quantization_config": {"bits": 4}})
    assert model_of_config(kept) == model_of_config(row["config"])
    assert len(json.dumps(kept)) < 1000
    assert reduced(kept) == kept


def test_active_parameters_are_those_published() -> None:
    active = {row["name"]: count(model_of_config(row["config"])).active for row in rows("public.jsonl")}
    assert active["mixtral-8x7b"] == pytest.approx(12.9e9, rel=0.01)
    assert active["gpt-oss-120b"] == pytest.approx(5.7e9, rel=0.01)  # 5.1 B without the embedding, as its card counts
    assert active["deepseek-v3"] == pytest.approx(37e9, rel=0.02)


ODD = (None, True, False, 0, 1, -1, 7, 10**9, 10**400, 1e300, math.nan, -math.inf, "", "false", "8", "x" * 5000)
NESTED = ([], [1], [None], [[1]], ["full_attention"], ["dense"] * 6, {}, {"a": 1}, {"model_type": "llama"})
JUNK = st.sampled_from([*ODD, *NESTED])
KEYS = st.sampled_from(
    [
        *known_to_matter(),
        *key_lists()["acts"],
        *key_lists()["left_out"],
        "text_config",
        "model_type",
        "layer_types",
        "architectures",
    ]
)


@settings(max_examples=400)
@given(
    row=st.sampled_from([*rows("counted.jsonl"), *rows("public.jsonl")]),
    spoiled=st.dictionaries(KEYS, JUNK, max_size=3),
)
def test_a_spoiled_file_of_any_family_is_read_and_reduced_or_refused_by_its_key(
    row: dict[str, Any], spoiled: dict[str, Any]
) -> None:
    try:
        found = reading_of_config({**row["config"], **spoiled})
    except Refusal as refusal:
        assert (
            refusal.field.startswith("model.hf_config") and len(refusal.sentence) < 700 and "\n" not in refusal.sentence
        )
        return
    assert math.isfinite(count(found.model).total)
    assert model_of_config(found.kept) == found.model
