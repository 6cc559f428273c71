"""Scenarios that exports are tried on: the planner's presets, the catalogue's models, and many legal layouts."""

from typing import Any, cast

from hypothesis import strategies as st

from engine.catalog.calibration import software
from engine.catalog.hardware import cluster_names
from engine.catalog.model import catalogue
from engine.catalog.precision import PRECISIONS
from engine.catalog.scenarios import presets
from engine.language.refusal import Refusal
from engine.pipeline.schedules import SCHEDULES
from engine.scenario import Scenario, scenario_from

DEGREES = st.sampled_from([1, 2, 4, 8])
CUSTOM = {"layers": 12, "hidden": 1024, "heads": 16, "kv_heads": 4, "vocab": 1000, "ffn": 2816, "gated": True}
EXPERTS = {**CUSTOM, "experts": 8, "top_k": 2, "moe_ffn": 512, "shared_experts": 2, "dense_layers": 1}
LATENT = {
    **EXPERTS,
    "kv_lora_rank": 64,
    "q_lora_rank": 96,
    "qk_nope_head_dim": 32,
    "qk_rope_head_dim": 16,
    "v_head_dim": 32,
    "head_dim": 64,
}
OLD = {"layers": 10, "hidden": 512, "heads": 8, "vocab": 50304, "positions": 4096, "tied": True}

LAYOUTS = st.fixed_dictionaries(
    {"tp": DEGREES, "pp": DEGREES, "dp": st.sampled_from([1, 2, 3, 8])},
    optional={
        "cp": st.sampled_from([1, 2, 4]),
        "ep": DEGREES,
        "vp": st.sampled_from([1, 2, 4]),
        "schedule": st.sampled_from(list(SCHEDULES)),
        "micro_batch": st.integers(1, 3),
        "micro_batches": st.sampled_from([1, 4, 8, 16, 24]),
        "zero": st.integers(0, 3),
        "hsdp_shard": st.sampled_from([None, 1, 2, 4]),
        "sequence_parallel": st.booleans(),
        "recompute": st.sampled_from(["none", "selective", "full"]),
        "gradient_bytes": st.sampled_from([2, 4]),
        "rank_order": st.sampled_from(["tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp", "dp-tp-cp-ep-pp"]),
    },
)
DOCUMENTS = st.builds(
    lambda model, cluster, layout, rest: {
        "model": model,
        "cluster": cluster,
        "layout": layout,
        "gpus": layout["tp"] * layout["pp"] * layout["dp"] * layout.get("cp", 1),
        **rest,
    },
    st.sampled_from([*catalogue(), CUSTOM, EXPERTS, LATENT, OLD]),
    st.sampled_from(cluster_names()),
    LAYOUTS,
    st.fixed_dictionaries(
        {},
        optional={
            "sequence_tokens": st.sampled_from([2048, 8192]),
            "precision": st.sampled_from(list(PRECISIONS)),
            "stack": st.sampled_from([None, *software()]),
            "training": st.fixed_dictionaries({"tokens": st.sampled_from([1, 1e12, 15e12])}),
        },
    ),
)


def legal(document: dict[str, Any]) -> Scenario | None:
    """The scenario of a document that has a meaning."""
    try:
        return scenario_from(document)
    except Refusal:
        return None


SCENARIOS = cast(st.SearchStrategy[Scenario], DOCUMENTS.map(legal).filter(lambda scenario: scenario is not None))


def usual() -> dict[str, Scenario]:
    """The catalogue's scenarios, and each model of the catalogue on 128 GPUs."""
    known = {preset.title: scenario_from(preset.document) for preset in presets().values()}
    models = {
        name: scenario_from({"model": name, "cluster": "hgx-h100", "gpus": 128, "layout": {"pp": 2}})
        for name in catalogue()
    }
    experts = {
        "deepseek over 1,024": scenario_from(
            {
                "model": "deepseek-v3",
                "cluster": "hgx-h100",
                "gpus": 1024,
                "sequence_tokens": 4096,
                "precision": "fp8",
                "layout": {"tp": 1, "pp": 16, "ep": 64, "micro_batches": 60},
            }
        )
    }
    return {**known, **models, **experts}
