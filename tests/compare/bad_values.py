"""What is asked in order to be refused: unknown names, text for numbers, numbers out of range, fields nobody knows."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from tests.compare.crawl import Crawl
from tests.compare.site import Site, by_chance, filled

UNKNOWN, STRANGER = "nothing-like-it", "stranger"
BAD_NUMBERS = ("many", "-1", "1e30")
BAD_TEXTS = (UNKNOWN, "", "-1", "1e30")
TEXTS = (
    "",
    "[1, 2]",
    "null",
    "tp: 8",
    '{"model": "llama-3-70b",\n "cluster": ',
    '{"gpus": NaN}',
    '{"gpus": 1e400}',
    '{"gpus": 8, "gpus": 16}',
    "[" * 60 + "]" * 60,
    '{"model": "\\ud800"}',
    "{}",
)


def bad_addresses(crawl: Crawl) -> Iterator[tuple[str, str]]:
    """(method, address): for each route one stranger field, one unknown name for each of its parameters, and a method it
    does not take; for each field of each form values that no form offers."""
    for route in (each for each in crawl.site.routes if each.methods & {"GET", "POST"}):
        good = next(iter(by_chance(sorted(crawl.paths.get(route.path, ())))), "")
        if good and "GET" in route.methods:
            yield "GET", f"{good}?{STRANGER}=1"
        for place in range(len(route.parameters)):
            for value in (UNKNOWN, "-1", "1e30"):
                values = _values(route.path, good) if good else [UNKNOWN] * len(route.parameters)
                path = filled(route.path, [*values[:place], value, *values[place + 1 :]])
                yield ("GET" if "GET" in route.methods else "POST"), path
        for method in ("GET", "DELETE"):
            if method not in route.methods:
                yield method, good or filled(route.path, [UNKNOWN] * len(route.parameters))
    yield from _borrowed(crawl)
    for fields in crawl.fields.values():
        for name, (path, field) in fields.items():
            for value in BAD_NUMBERS if field.kind == "number" else BAD_TEXTS:
                yield "GET", f"{path}?{urlencode({name: value})}"
            yield "GET", f"{path}?{urlencode([(name, (*field.values, '1')[0])] * 2)}"


def _borrowed(crawl: Crawl) -> Iterator[tuple[str, str]]:
    """For routes whose fields stand in the form of another page: a few of the fields of forms that begin with the same word,
    with a value that is offered and with a bad one."""
    for route in crawl.site.routes:
        good = next(iter(by_chance(sorted(crawl.paths.get(route.path, ())))), "")
        first = route.path.split("/")[1]
        near = {
            name: field
            for owner, fields in crawl.fields.items()
            if owner.split("/")[1] == first
            for name, (_, field) in fields.items()
        }
        if good and route.path not in crawl.fields:
            for name in by_chance(sorted(near), route.path)[:4]:
                for value in (*near[name].values[:1], *near[name].values[-1:], "many", "1e30"):
                    yield "GET", f"{good}?{urlencode({name: value})}"


def _values(pattern: str, path: str) -> list[str]:
    """The values that a path has for the parameters of its pattern, where each fills a part between slashes."""
    pairs = zip(pattern.split("/"), path.split("/"), strict=False)
    return [there.removesuffix(here.rpartition("}")[2]) for here, there in pairs if "{" in here]


def bad_documents(schema: Mapping[str, Any], good: Mapping[str, Any]) -> Iterator[str]:
    """Bodies: texts that are no document, and a good one with each field of its schema spoilt, one at a time."""
    yield from TEXTS
    yield json.dumps({"padding": "x" * 1_100_000})
    for path, field in leaves(schema):
        ends = [field[end] for end in ("minimum", "maximum") if end in field]
        for value in ("many", -1, 2.5, 1e30, None, {}, *ends):
            yield json.dumps(with_value(good, path, value))
        yield json.dumps(with_value(good, (*path[:-1], path[-1] + "x"), 1))
    for name in good:
        yield json.dumps({key: value for key, value in good.items() if key != name})


def leaves(
    schema: Mapping[str, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """The fields of a schema that hold no further ones, with the path of each; alternatives count as they stand."""
    for option in schema.get("anyOf", [schema]):
        for name, inner in option.get("properties", {}).items():
            nested = [each for each in inner.get("anyOf", [inner]) if "properties" in each]
            if nested:
                yield from leaves(inner, (*path, name))
            if not nested or "anyOf" in inner:
                first = next((each for each in inner.get("anyOf", ()) if "properties" not in each), {})
                yield (*path, name), {**first, **inner}


def with_value(document: Mapping[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """The document with one value changed.

    >>> with_value({"gpus": 8, "layout": {"tp": 4}}, ("layout", "pp"), 2)
    {'gpus': 8, 'layout': {'tp': 4, 'pp': 2}}
    """
    if len(path) == 1:
        return {**document, path[0]: value}
    inner = document.get(path[0])
    return {**document, path[0]: with_value(inner if isinstance(inner, Mapping) else {}, path[1:], value)}


def ask_bad(crawl: Crawl) -> int:
    """Ask them all; how many there were."""
    site, before = crawl.site, len(crawl.site.records)
    for method, address in bad_addresses(crawl):
        site.ask(method, address)
    for address in ("/nothing", "/api/nothing", "/assets/nothing.js", "/lessons/", "//", "/plan/../plan"):
        site.get(address)
    return len(site.records) - before


def ask_bad_documents(site: Site, address: str, schema: Mapping[str, Any], good: Mapping[str, Any]) -> None:
    """Ask one address of the API all that it should refuse."""
    for text in bad_documents(schema, good):
        site.ask("POST", address, text, "application/json")
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/vnd.api+json"):
        site.ask("POST", address, json.dumps(good), kind)
    site.ask("POST", address, b'{"model": "\xff"}', "application/json")
