"""Names in an address that no control of a page has: passed over, and told, with the one that may have been meant."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

from app.plan.form import BESIDE, FIELDS
from engine.language.choice import LONGEST

MOST_TOLD = 3
ALIKE = 0.7  # how much a name must look like another to be taken for it


def ignored(query: Iterable[tuple[str, str]], beside: Iterable[str] = BESIDE) -> tuple[str, ...]:
    """A sentence for each name of a query that the planner's form does not know.

    beside   names that mean something else to the page that asks

    >>> ignored([("pipelin", "4"), ("tp", "8")])
    ('pipelin: the planner has no such field and passes it over; the nearest is pp (pipeline · PP)',)
    >>> ignored([("utm_source", "x")])
    ('utm_source: the planner has no such field and passes it over',)
    """
    known = {*FIELDS, *beside}
    strange = dict.fromkeys(name for name, _ in query if name not in known)
    told = [_sentence(name) for name in strange][:MOST_TOLD]
    return (*told, f"{len(strange) - MOST_TOLD} more are passed over") if len(strange) > MOST_TOLD else tuple(told)


def _sentence(name: str) -> str:
    words = {word: field for field in FIELDS.values() for word in re.findall(r"\w+", field.label.lower())}
    words |= {field.name: field for field in FIELDS.values()}
    alike = get_close_matches(name.lower()[:LONGEST], list(words), n=1, cutoff=ALIKE)
    nearest = words[alike[0]] if alike else None
    said = f"; the nearest is {nearest.name} ({nearest.label})" if nearest else ""
    return f"{' '.join(name.split())[:LONGEST] or '(no name)'}: the planner has no such field and passes it over{said}"
