"""A change of a plan, flat by the contract's names: found between two scenarios, put into a document, said in words."""

from collections.abc import Mapping
from typing import Any

from engine.layout.completion import completed
from engine.layout.layout import Layout
from engine.scenario import Scenario

Change = Mapping[str, Any]


def changed(document: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """The scenario document with a change put in: fields of the layout into `layout`, the others beside it.

    >>> changed({"model": "llama-3-70b", "gpus": 64, "layout": {"tp": 8}}, {"tp": 4, "dp": 4, "stack": "megatron"})
    {'model': 'llama-3-70b', 'gpus': 64, 'layout': {'tp': 4, 'dp': 4}, 'stack': 'megatron'}
    """
    inside = {name: value for name, value in change.items() if name in Layout.model_fields}
    beside = {name: value for name, value in change.items() if name not in inside}
    return {**document, "layout": {**document.get("layout", {}), **inside}, **beside}


def changed_scenario(scenario: Scenario, change: Change) -> Scenario:
    """The scenario with a change made and completed, or a Refusal. The software stays what it is.

    >>> from engine.scenario import scenario_from
    >>> card = scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024})
    >>> sharded = changed_scenario(card, {"pp": 1, "zero": 3})
    >>> sharded.layout.dp, sharded.layout.micro_batches, sharded.stack_name
    (128, 4, 'megatron')
    """
    inside = {name: value for name, value in change.items() if name in Layout.model_fields}
    layout = completed(scenario.layout, inside, scenario.model, scenario.gpus, scenario.sequence_tokens)
    if (precision := change.get("precision", scenario.precision)) != scenario.precision:
        scenario.cluster.gpu.peak(precision)  # or a Refusal: not every GPU has it
    stack = change.get("stack", scenario.stack_name)
    return scenario.model_copy(update={"layout": layout, "precision": precision, "stack_name": stack})


def change_between(before: Scenario, after: Scenario) -> dict[str, Any]:
    """What to put into the document of the first to get the second.

    `stack` is among it where a document that leaves it to the layout would otherwise get another.
    """
    was, now = before.layout.model_dump(), after.layout.model_dump()
    change = {name: value for name, value in now.items() if value != was[name]}
    if after.stack_name != before.stack_name or (was["zero"] == 3) != (now["zero"] == 3):
        change["stack"] = after.stack_name
    if after.precision != before.precision:
        change["precision"] = after.precision
    return change


def change_words(before: Scenario, change: Change) -> str:
    """A change as it is read: what was, and what is to be.

    >>> from engine.scenario import scenario_from
    >>> card = scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024})
    >>> change_words(card, {"pp": 2, "dp": 64, "micro_batches": 8, "stack": "megatron"})
    'pp 4 → 2, dp 32 → 64, micro_batches 16 → 8, on the same software'
    """
    was = {**before.layout.model_dump(), "stack": before.stack_name, "precision": before.precision}
    moved = [f"{name} {_said(was[name])} → {_said(now)}" for name, now in change.items() if was[name] != now]
    pinned = change.get("stack") == before.stack_name  # or the document would get other software
    return ", ".join(moved) + (", on the same software" if pinned else "")


def asked_words(change: Change) -> str:
    """What a change asks for, without what else it moves.

    >>> asked_words({"tp": 4, "hsdp_shard": None})
    'tp 4, hsdp_shard none'
    """
    return ", ".join(f"{name} {_said(value)}" for name, value in change.items())


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else str(value)
