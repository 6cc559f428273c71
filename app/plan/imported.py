"""A scenario document as the planner's form holds it: a preset of the catalogue, or what a pasted launch text says."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from app.plan.form import ALIASES, BY_PATH, FIELDS, MADE_TOGETHER, PASTED, state_of
from engine.catalog.hardware import cluster_from
from engine.catalog.hf_config import reduced
from engine.export.named import shape_of
from engine.language.document import Document, read
from engine.scenario import ScenarioDocument, model_from, scenario_from


def state_of_document(document: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """The form's state of a scenario document, and a sentence for each thing the form cannot hold.

    >>> state, unsaid = state_of_document({"model": "llama-3-8b", "cluster": "hgx-h100", "gpus": 64, "layout": {"tp": 4, "pp": 2}})
    >>> state["model"], state["tp"], state["batch"], unsaid
    ('llama-3-8b', '4', '128', [])
    """
    scenario, unsaid = scenario_from(document), []
    whole = read(ScenarioDocument, document)
    state = state_of({"cluster": _base(document["cluster"])})
    state |= {name: field.text(whole) for name, field in FIELDS.items() if field.path and name not in MADE_TOGETHER}
    state |= {"batch": f"{scenario.layout.global_batch}"}
    state |= _network(document["cluster"], unsaid)
    state |= _model(document["model"])
    unsaid += [f"{path} = {value}: the form has no field for it." for path, value in _fieldless(whole)]
    return state, unsaid


def _base(cluster: Any) -> str:
    return cluster["base"] if isinstance(cluster, Mapping) else cluster


def _fieldless(document: ScenarioDocument) -> Iterable[tuple[str, object]]:
    """What a document says at paths that no field sets."""
    for part, within in ((document, ""), (document.layout, "layout."), (document.training, "training.")):
        for name, field in type(part).model_fields.items():
            value, path = getattr(part, name), f"{within}{name}"
            if path not in {*BY_PATH, *ALIASES} and not isinstance(value, Document) and value != field.default:
                yield path, value


def _network(document: Any, unsaid: list[str]) -> dict[str, str]:
    cluster, usual = cluster_from(document), cluster_from(_base(document))
    if cluster.gpus_per_node != usual.gpus_per_node:
        unsaid.append(
            f"gpus_per_node = {cluster.gpus_per_node}: the form has no field for it; {usual.title} has {usual.gpus_per_node}."
        )
    return {"nic": f"{cluster.nic_gbit_per_s:g}", "spine": f"{cluster.oversubscription:g}"}


def _model(document: Any) -> dict[str, str]:
    if isinstance(document, str):
        return {"model": document, "config": ""}
    if "hf_config" in document:
        return {"model": PASTED, "config": json.dumps(reduced(document["hf_config"]))}
    return {"model": PASTED, "config": json.dumps(shape_of(model_from(document)))}
