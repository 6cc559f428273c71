"""What a launch text cannot say, written into it beside its options: read again, the scenario comes back whole."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from engine.catalog.hardware import LIMITS, Cluster, cluster_named
from engine.export.base import File
from engine.export.named import name_of, shape_of
from engine.scenario import Scenario

MARK = "# not said by these options: "
KEY = "shardboard"  # where JSON, which has no comments, holds the same; DeepSpeed passes over names it does not know
PLAIN = ("gpus", "sequence_tokens", "precision")
_GAP = re.compile(r"\A(layout\.\w+|stack|precision|sequence_tokens|gpus|training\.tokens|model)(\.\w+)? = ")


def with_gaps(file: File, scenario: Scenario, left_out: Iterable[str], whole: bool) -> File:
    """The file with each field of the scenario that its options cannot say: as comments, or as one key of its JSON.

    whole   say all of the scenario: the options hold too little of it to read a layout from
    """
    said = dict(_said(scenario, left_out, whole))
    if file.language == "json":
        return replace(file, text=json.dumps({**json.loads(file.text), KEY: said}, indent=2) + "\n")
    comments = [f"{MARK}{path} = {_text(value)}\n" for path, value in said.items()]
    lines = file.text.splitlines(keepends=True)
    head = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return replace(file, text="".join([*lines[:head], *comments, *lines[head:]]))


def _said(scenario: Scenario, left_out: Iterable[str], whole: bool) -> Iterator[tuple[str, Any]]:
    """The fields to say, each by its place in a scenario document."""
    gaps = {found[1] for sentence in left_out if (found := _GAP.match(sentence))}
    if whole or "model" in gaps:
        yield "model", name_of(scenario.model) or shape_of(scenario.model)
    yield "cluster", cluster_document(scenario.cluster)
    for name in PLAIN:
        if whole or name in gaps:
            yield name, getattr(scenario, name)
    if whole or "stack" in gaps:
        yield "stack", scenario.stack_name
    for name, value in scenario.layout:
        if whole or f"layout.{name}" in gaps:
            yield f"layout.{name}", value
    if whole or "training.tokens" in gaps:
        yield "training.tokens", scenario.training.tokens


def cluster_document(cluster: Cluster) -> str | dict[str, Any]:
    """A cluster as a scenario document names it: by the catalogue's name, and what differs from it.

    >>> cluster_document(cluster_named("hgx-h100"))
    'hgx-h100'
    """
    base = cluster_named(cluster.name)
    changed = {name: getattr(cluster, name) for name in LIMITS if getattr(cluster, name) != getattr(base, name)}
    return {"base": cluster.name, **changed} if changed else cluster.name


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return value if isinstance(value, str) else json.dumps(value)
