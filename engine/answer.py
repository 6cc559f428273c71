"""An estimate as the document that programs get: plain numbers in base units, and the working of each of them."""

import math
from dataclasses import asdict
from typing import Any

from engine.advice import Advice, advised
from engine.estimate import Estimate, estimate
from engine.language.formula import Value
from engine.language.refusal import Refusal
from engine.scenario import scenario_from
from engine.workings import parts_of

WHOLE_UNITS = frozenset({"stage", "parameters", "bytes", "bytes sent per rank", "times a step", "micro-batches"})


def estimate_answer(document: object) -> dict[str, Any]:
    """The Estimate document of a Scenario document, or a Refusal.

    >>> card = estimate_answer({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024})
    >>> card["pipeline"]["in_flight"], card["terms"]["pipeline.in_flight.0"]["substituted"]
    ([4, 3, 2, 1], '\\\\min(16, 4-0)')
    """
    return answer(estimate(scenario_from(document)))


def answer(estimate: Estimate) -> dict[str, Any]:
    """The Estimate document: numbers in base units, and under `terms` the working of each, by its dotted path."""
    terms: dict[str, Any] = {}
    document = {name: _plain(part, name, terms) for name, part in parts_of(estimate).items()}
    document["findings"] = [_advice(one) for one in advised(estimate)]
    return document | {"terms": terms}


def _advice(one: Advice) -> dict[str, Any]:
    """A finding with what was tried: `change` goes into the scenario as engine.advice.changed puts it there."""
    told = one.finding
    said = {"code": told.code, "severity": told.severity, "title": told.title, "why": told.why}
    return said | {
        "try_this": one.try_this,
        "change": one.change or None,
        "gain": asdict(one.gain) if one.gain else None,
    }


def _plain(part: Any, path: str, terms: dict[str, Any]) -> Any:
    """The part with each Term replaced by its number; the Term's document goes to `terms` under its path."""
    if isinstance(part, Value):
        written = terms[path] = written_value(part)
        return written["value"]
    if isinstance(part, dict):
        return {name: _plain(inner, f"{path}.{name}", terms) for name, inner in part.items()}
    if isinstance(part, list):
        return [_plain(inner, f"{path}.{index}", terms) for index, inner in enumerate(part)]
    return part


def written_value(found: Value) -> dict[str, Any]:
    """The document of a number. Counts are whole numbers where they are whole."""
    value: float | bool = float(found.value)
    if not math.isfinite(value):
        raise Refusal(found.label, None, "becomes too large to be written as a number", code="too-large")
    if found.unit == "yes or no":
        value = bool(value)
    elif found.unit in WHOLE_UNITS and value.is_integer():
        value = int(value)
    return found.document() | {"value": value}
