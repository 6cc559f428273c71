"""What the API takes, as OpenAPI schemas made of the engine's own documents."""

from typing import Any

from pydantic import BaseModel

from engine.document import Document
from engine.hardware import LIMITS, cluster_names
from engine.model import Model, catalogue
from engine.scenario import ScenarioDocument

BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}

# Meaning and unit of fields that the engine's documents name without saying what they are.
MEANINGS: dict[str, tuple[str, str]] = {
    "gpus": ("GPUs of the run", "count"),
    "sequence_tokens": ("length of a sequence", "tokens"),
    "precision": ("what matrix products are computed in", ""),
    "stack": ("whose software runs it; null picks fsdp2 when zero is 3, megatron otherwise", ""),
    "layout": ("how the model is cut over the GPUs", ""),
    "training": ("the run the step is repeated for", ""),
    "layout.schedule": ("order of forward and backward passes in the pipeline", ""),
    "layout.sequence_parallel": ("cut the norms' tokens over tensor-parallel ranks too", ""),
    "layout.recompute": ("what is computed again in the backward pass instead of kept", ""),
    "layout.gradient_bytes": ("size of a gradient: 4 is FP32, 2 is BF16", "bytes"),
    "layout.rank_order": ("which axis changes fastest over the ranks, first to last", ""),
    "training.tokens": ("tokens of the run", "tokens"),
    "training.usd_per_gpu_hour": ("price", "USD per GPU-hour"),
    "model.layers": ("transformer layers", "count"),
    "model.hidden": ("hidden size", "count"),
    "model.heads": ("query heads", "count"),
    "model.vocab": ("vocabulary", "count"),
    "model.gated": ("gated MLP (SwiGLU): three matrices instead of two", ""),
    "model.tied": ("head and embedding are one matrix", ""),
    "model.experts": ("experts of a layer; 0 for a dense model", "count"),
    "model.top_k": ("experts a token goes to", "count"),
    "model.moe_ffn": ("inner size of an expert; 0 for ffn", "count"),
    "model.shared_experts": ("experts every token goes to", "count"),
    "model.q_lora_rank": ("latent attention: rank of the query", "count"),
    "model.qk_nope_head_dim": ("latent attention: head size without position", "count"),
    "model.qk_rope_head_dim": ("latent attention: head size with position", "count"),
    "model.v_head_dim": ("latent attention: head size of the value", "count"),
    "model.round_parameters": ("scale the parameters to this total: a whiteboard's round model", "parameters"),
    "cluster.base": ("the cluster to start from", ""),
    "cluster.gpus_per_node": ("GPUs of one NVLink domain", "count"),
    "cluster.nic_gbit_per_s": ("network adapter of each GPU, each way", "Gb/s"),
    "cluster.oversubscription": ("leaf bandwidth down over up: 1 is a full fat tree", "ratio"),
}


def scenario_schema() -> dict[str, Any]:
    """The schema of a scenario, with every meaning, and with the choices of the catalogue."""
    schema = schema_of(ScenarioDocument)
    fields = schema["properties"]
    names = {"type": "string", "enum": list(catalogue())}
    config = {"type": "object", "properties": {"hf_config": {"type": "object", "description": "a config.json of Hugging Face"}},
              "required": ["hf_config"], "additionalProperties": False}  # fmt: skip
    fields["model"] |= {"anyOf": [names, schema_of(Model), config]}
    fields["cluster"] |= {"anyOf": [{"type": "string", "enum": list(cluster_names())}, _cluster_schema()]}
    _describe(schema, "")
    return schema


def schema_of(kind: type[BaseModel]) -> dict[str, Any]:
    """The schema of a document on its own, its parts in their places, defaults as they are written."""
    schema = kind.model_json_schema()
    return inlined(schema, schema.pop("$defs", {}))


def query_parameters(kind: type[Document]) -> list[dict[str, Any]]:
    """The fields of a flat document as parameters of a query."""
    schema = schema_of(kind)
    needed = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in needed, "description": field.pop("description", ""), "schema": field}
        for name, field in schema["properties"].items()
    ]  # fmt: skip


def _cluster_schema() -> dict[str, Any]:
    numbers = {
        name: {"type": "integer" if limit.whole else "number", "minimum": limit.low, "maximum": limit.high}
        for name, limit in LIMITS.items()
    }
    base = {"type": "string", "enum": list(cluster_names())}
    return {
        "type": "object",
        "properties": {"base": base, **numbers},
        "required": ["base"],
        "additionalProperties": False,
    }


def inlined(part: Any, definitions: dict[str, Any]) -> Any:
    """A schema with each reference replaced by what it refers to, and without the titles that repeat names."""
    if isinstance(part, list):
        return [inlined(inner, definitions) for inner in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        rest = {name: inner for name, inner in part.items() if name != "$ref"}
        part = definitions[part["$ref"].rpartition("/")[2]] | rest
    kept = {name: inner for name, inner in part.items() if not (name == "title" and isinstance(inner, str))}
    if "type" in part:  # inside a union pydantic names bounds in its own words
        kept = {BOUNDS.get(name, name): inner for name, inner in kept.items()}
    return {name: inlined(inner, definitions) for name, inner in kept.items()}


def _describe(schema: dict[str, Any], path: str) -> None:
    """Add the meanings and units that are missing, down to every field."""
    for name, field in schema.get("properties", {}).items():
        where = f"{path}.{name}" if path else name
        meaning, unit = MEANINGS.get(where, ("", ""))
        if meaning:
            field["description"] = meaning
        if unit:
            field.setdefault("unit", unit)
        for part in (field, *field.get("anyOf", [])):
            _describe(part, where)
