"""A config.json read on the command line: the shape, its parameters, and what became of every key."""

from typing import Any

from app.web.json_text import value_of
from engine.catalog.hf_config import reading_of_config
from engine.export.named import shape_of
from engine.memory.parameters import count


def model_answer(data: bytes, limit: int) -> dict[str, Any]:
    """The model of a config.json, and where each of its keys went.

    >>> found = model_answer(b'{"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "vocab_size": 50257}', 1000)
    >>> found["parameters"], found["read"]["n_embd"], found["assumed"]["positions"]
    (124439808, {'value': 768, 'field': 'hidden'}, 1024)
    """
    found = reading_of_config(value_of(data, limit))
    parts = count(found.model)
    return {
        "family": found.family,
        "parameters": int(parts.total),
        "active_parameters": int(parts.active),
        "model": shape_of(found.model),
        "read": {key: {"value": value, "field": found.fields.get(key)} for key, value in found.used.items()},
        "assumed": dict(found.assumed),
        "acts_not_counted": list(found.acts),
        "left_out": list(found.left_out),
        "no_effect_on_counts": list(found.harmless),
        "not_read": list(found.not_read),
        "reduced": found.kept,
    }


def model_text(answer: dict[str, Any]) -> str:
    """The same for a person: a line for each key."""
    active = f", {answer['active_parameters']:,} active" if answer["active_parameters"] != answer["parameters"] else ""
    lines = [f"{answer['family']}: {answer['parameters']:,} parameters{active}", ""]
    for key, went in answer["read"].items():
        lines.append(f"  {key} = {went['value']}" + (f"  ->  {went['field']}" if went["field"] else ""))
    lines += [f"  {name} = {value}, as usual there: the file is silent" for name, value in answer["assumed"].items()]
    lines += ["", *answer["acts_not_counted"], *answer["left_out"]]
    for title, name in (("No effect on counts", "no_effect_on_counts"), ("Not read", "not_read")):
        if answer[name]:
            lines.append(f"{title}: {', '.join(answer[name])}.")
    return "\n".join(lines)
