"""What the API takes, as OpenAPI schemas made of the engine's own documents."""

from typing import Any

from pydantic import BaseModel

from engine.catalog.hardware import LIMITS, cluster_names
from engine.catalog.model import Model, catalogue
from engine.language.document import Document
from engine.scenario import ScenarioDocument

BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}

# What of a cluster a scenario may change: meaning and unit.
CLUSTER = {
    "base": ("the cluster to start from", ""),
    "gpus_per_node": ("GPUs of one NVLink domain", "count"),
    "nic_gbit_per_s": ("network adapter of each GPU, each way", "Gb/s"),
    "oversubscription": ("leaf bandwidth down over up: 1 is a full fat tree", "ratio"),
}


def scenario_schema() -> dict[str, Any]:
    """The schema of a scenario, with every meaning, and with the choices of the catalogue."""
    schema = schema_of(ScenarioDocument)
    fields = schema["properties"]
    names = {"type": "string", "enum": list(catalogue())}
    config = {
        "type": "object",
        "properties": {"hf_config": {"type": "object", "description": "a config.json of Hugging Face"}},
        "required": ["hf_config"],
        "additionalProperties": False,
    }
    fields["model"] |= {"anyOf": [names, schema_of(Model), config]}
    fields["cluster"] |= {"anyOf": [{"type": "string", "enum": list(cluster_names())}, _cluster_schema()]}
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
        {
            "name": name,
            "in": "query",
            "required": name in needed,
            "description": field.pop("description", ""),
            "schema": field,
        }
        for name, field in schema["properties"].items()
    ]


def _cluster_schema() -> dict[str, Any]:
    numbers = {
        name: {"type": "integer" if limit.whole else "number", "minimum": limit.low, "maximum": limit.high}
        for name, limit in LIMITS.items()
    }
    fields = {"base": {"type": "string", "enum": list(cluster_names())}, **numbers}
    said = {
        name: {"description": meaning} | ({"unit": unit} if unit else {}) for name, (meaning, unit) in CLUSTER.items()
    }
    return {
        "type": "object",
        "properties": {name: field | said[name] for name, field in fields.items()},
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
