"""What a page was asked in its address: its own names, each once. Names of nobody are passed over, and told."""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from fastapi import Request

from app.web.visitors import once
from engine.language.choice import LONGEST
from engine.language.inputs import Input

MOST_TOLD = 3
ALIKE = 0.7  # how much a name must look like another to be taken for it
LACKS = "this page has no such field"


def own_query(
    request: Request, labels: Mapping[str, str], lacks: str = LACKS, beside: Iterable[str] = ()
) -> dict[str, str]:
    """What the query says under the page's own names; one that is given twice is refused. The page tells of the others.

    labels   name -> label of what a hand may have meant
    lacks    said of a name that is none of them
    beside   names that only the page's links give
    """
    pairs, own = request.query_params.multi_items(), {*labels, *beside}
    request.state.ignored = ignored(pairs, labels, lacks, own)
    return once((name, text) for name, text in pairs if name in own)


def passed_over(request: Request) -> tuple[str, ...]:
    """A sentence for each name in the address of a page that is none of its own: all of them, where it reads none."""
    told = getattr(request.state, "ignored", None)
    return ignored(request.query_params.multi_items(), {}) if told is None else told


def labels_of(inputs: Iterable[Input]) -> dict[str, str]:
    """Name -> label of each input."""
    return {each.name: each.label for each in inputs}


def ignored(
    query: Iterable[tuple[str, str]], labels: Mapping[str, str], lacks: str = LACKS, beside: Iterable[str] = ()
) -> tuple[str, ...]:
    """A sentence for each name of a query that is neither among the labels nor beside them.

    >>> ignored([("pipelin", "4"), ("tp", "8")], {"tp": "tensor · TP", "pp": "pipeline · PP"})
    ('pipelin: this page has no such field and passes it over; the nearest is pp (pipeline · PP)',)
    >>> ignored([("utm_source", "x")], {"tp": "tensor · TP"}, "the planner has no such field")
    ('utm_source: the planner has no such field and passes it over',)
    """
    known = {*labels, *beside}
    strange = dict.fromkeys(name for name, _ in query if name not in known)
    told = [_sentence(name, labels, lacks) for name in strange][:MOST_TOLD]
    return (*told, f"{len(strange) - MOST_TOLD} more are passed over") if len(strange) > MOST_TOLD else tuple(told)


def _sentence(name: str, labels: Mapping[str, str], lacks: str) -> str:
    words = {word: field for field, label in labels.items() for word in re.findall(r"\w+", label.lower())}
    nearest = _most_like(name, {field: field for field in labels}) or _most_like(name, words)
    said = f"; the nearest is {nearest} ({labels[nearest]})" if nearest else ""
    return f"{' '.join(name.split())[:LONGEST] or '(no name)'}: {lacks} and passes it over{said}"


def _most_like(name: str, fields: Mapping[str, str]) -> str:
    """The field of the word most like a name; empty if none is."""
    alike = get_close_matches(name.lower()[:LONGEST], list(fields), n=1, cutoff=ALIKE)
    return fields[alike[0]] if alike else ""
