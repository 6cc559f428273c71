"""The API, asked as its own description says: each formula, each schedule, good documents and bad ones."""

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from tests.compare.bad_values import BAD_NUMBERS, STRANGER, UNKNOWN, ask_bad_documents
from tests.compare.site import Site

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
FORM = "application/x-www-form-urlencoded"


def described(site: Site) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The schema of a scenario and its example, from the description of POST /api/estimate."""
    paths = json.loads(site.get("/openapi.json").body)["paths"]
    content = paths["/api/estimate"]["post"]["requestBody"]["content"]["application/json"]
    return content["schema"], content["example"]


def names_in(schema: Mapping[str, Any]) -> list[Any]:
    """The names a field may have.

    >>> names_in({"anyOf": [{"enum": ["a"]}, {"type": "null"}]})
    ['a']
    """
    return next((list(each["enum"]) for each in (schema, *schema.get("anyOf", ())) if "enum" in each), [])


def ask_api(site: Site) -> None:
    """Everything but the scenarios, which are many."""
    schema, good = described(site)
    ask_bad_documents(site, "/api/estimate", schema, good)
    for address in formula_addresses(site):
        site.get(address)
    schedules = names_in(schema["properties"]["layout"]["properties"]["schedule"])
    for address in schedule_addresses(schedules):
        site.get(address)
    for document in (json.dumps(good), "", "no document", json.dumps({**good, "gpus": -1})):
        for htmx in (False, True):
            site.ask("POST", "/docs", urlencode({"document": document}), FORM, htmx)


def formula_addresses(site: Site) -> Iterator[str]:
    """Each formula with ones, with values that differ (as a slip too), and in one of several bad ways."""
    for number, entry in enumerate(sorted(json.loads(site.get("/api/formulas").body), key=lambda each: each["name"])):
        place, given = f"/api/formulas/{entry['name']}", entry["parameters"]
        varied = {
            each["name"]: likely(each["rule"], prime)
            for each, prime in zip(given, itertools.cycle(PRIMES), strict=False)
        }
        yield f"{place}?{urlencode({each['name']: 1 for each in given})}"
        yield f"{place}?{urlencode(varied)}"
        yield f"/working/{entry['name']}?{urlencode(varied)}"
        spoilt = [
            {},
            *({**varied, min(varied, default="x"): bad} for bad in (*BAD_NUMBERS, "0")),
            {**varied, STRANGER: "1"},
        ]
        yield f"{place}?{urlencode(spoilt[number % len(spoilt)])}"


def likely(rule: str, prime: int) -> float:
    """A value that a rule in words allows.

    >>> likely("a number from 0 to 1", 7), likely("a whole number from 0 to 3", 7), likely("a whole number of at least 1", 7)
    (0.29, 1, 7)
    """
    upper = re.search(r" to (\d+)$", rule)
    if not upper:
        return prime
    return 1 if "whole" in rule else round(int(upper[1]) * 2 / prime, 2) if prime > 2 else int(upper[1]) / 2


def schedule_addresses(names: list[str]) -> Iterator[str]:
    """Each schedule in several sizes, those it refuses among them."""
    for name in names:
        for stages, micro, chunks in ((1, 1, 1), (2, 4, 1), (4, 8, 1), (4, 8, 2), (4, 6, 3), (8, 32, 1), (3, 5, 1)):
            size = {"name": name, "stages": stages, "micro_batches": micro} | ({"chunks": chunks} if chunks > 1 else {})
            yield f"/api/schedule?{urlencode(size)}"
        uneven = {"forward": 1.5, "backward_input": 2, "backward_weight": 0.25}
        yield f"/api/schedule?{urlencode({'name': name, 'stages': 4, 'micro_batches': 8, **uneven})}"
    good = {"name": names[0], "stages": "4", "micro_batches": "8"}
    yield f"/api/schedule?{urlencode({**good, 'name': UNKNOWN})}"
    yield f"/api/schedule?{urlencode({**good, STRANGER: 1})}"
    for field in ("stages", "micro_batches", "chunks", "forward", "backward_input", "backward_weight"):
        for bad in (*BAD_NUMBERS, "0", ""):
            yield f"/api/schedule?{urlencode({**good, field: bad})}"
