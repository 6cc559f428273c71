"""The API's own description, read for people: each route, what it takes and gives, how to call it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from app.api.request_schema import inlined
from app.web.json_text import sentence_of, value_of
from app.web.limits import BODY_BYTES
from engine.answer import estimate_answer
from engine.catalog.scenarios import preset_document
from engine.language.refusal import Refusal
from engine.language.units import power_text

EXAMPLE: dict[str, Any] = {
    **preset_document(),
    "layout": {"tp": 8, "pp": 4, "dp": 32, "zero": 1, "micro_batches": 16},
}
QUERIES: dict[str, tuple[str, dict[str, Any]]] = {
    "/api/schedule": ("/api/schedule", {"name": "1f1b", "stages": 4, "micro_batches": 16}),
    "/api/formulas": ("/api/formulas", {}),
    "/api/formulas/{name}": ("/api/formulas/bubble_of_total", {"p": 4, "m": 16}),
}
KINDS = {
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "string": "text",
    "object": "object",
    "array": "list",
    "null": "null",
}


@dataclass(frozen=True)
class FieldRow:
    """One field: its dotted name, what it may be, what it means."""

    name: str
    kind: str
    limits: str
    meaning: str
    unit: str
    needed: bool


@dataclass(frozen=True)
class FieldGroup:
    """Fields that belong together."""

    title: str
    rows: tuple[FieldRow, ...]
    open: bool = False


@dataclass(frozen=True)
class RouteGuide:
    """One address: what it takes and gives, and how to call it."""

    id: str
    method: str
    path: str
    words: str
    takes: tuple[FieldGroup, ...]
    gives: tuple[FieldGroup, ...]
    curl: str
    link: str


@dataclass(frozen=True)
class Guide:
    """The whole page."""

    routes: tuple[RouteGuide, ...]
    example: str


@dataclass(frozen=True)
class Tried:
    """What became of a scenario that was typed on the page."""

    document: str
    answer: Mapping[str, Any] | None
    refusal: str

    @classmethod
    def of(cls, text: str) -> "Tried":
        try:
            return cls(text, estimate_answer(value_of(text.encode("utf-8", "replace"), BODY_BYTES)), "")
        except Refusal as refusal:
            return cls(text, None, sentence_of(refusal))

    @property
    def shown(self) -> str:
        """The answer as indented JSON, without the workings."""
        return json.dumps(
            {name: part for name, part in (self.answer or {}).items() if name != "terms"}, indent=2, ensure_ascii=False
        )


def guide_of(description: Mapping[str, Any], base: str) -> Guide:
    """The page's view model.

    description   as OpenAPI
    base          address of this server, for the lines to copy
    """
    parts = description.get("components", {}).get("schemas", {})
    routes = [
        _route(path, method, inlined(operation, parts), base)
        for path, operations in description["paths"].items()
        if path.startswith("/api/")
        for method, operation in operations.items()
    ]
    return Guide(tuple(routes), json.dumps(EXAMPLE, indent=2))


def _route(path: str, method: str, operation: Mapping[str, Any], base: str) -> RouteGuide:
    answer = operation["responses"]["200"]["content"]["application/json"]["schema"]
    sent = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    address, query = QUERIES.get(path, (path, {}))
    link = address + (f"?{urlencode(query)}" if query else "")
    name = path.removeprefix("/api/").replace("/", "-").replace("{", "").replace("}", "")
    return RouteGuide(
        id=f"api-{name}",
        method=method.upper(),
        path=path,
        words=operation.get("description", ""),
        takes=_groups(sent, "scenario") if sent else _query_group(operation.get("parameters", ())),
        gives=_groups(answer, "answer"),
        curl=_curl(base, link, sent is not None),
        link="" if sent else link,
    )


def _curl(base: str, link: str, sends: bool) -> str:
    if not sends:
        return f"curl -s '{base}{link}'"
    return f"curl -s {base}{link} -H 'content-type: application/json' -d '{json.dumps(EXAMPLE)}'"


def _query_group(parameters: tuple[Mapping[str, Any], ...]) -> tuple[FieldGroup, ...]:
    rows = [
        _row(one["name"], one["schema"] | {"description": one.get("description", "")}, one.get("required", False))
        for one in parameters
    ]
    return (FieldGroup("in the address", tuple(rows), open=True),) if rows else ()


def _groups(schema: Mapping[str, Any], title: str) -> tuple[FieldGroup, ...]:
    """The plain fields first, then those of each part under the part's name."""
    whole = schema.get("items", schema)
    own, groups = [], []
    for row, inner in _fields(whole, ""):
        own.append(row)
        if inner:
            groups.append(FieldGroup(row.name, tuple(inner)))
    return (FieldGroup(title, tuple(own), open=True), *groups)


def _fields(schema: Mapping[str, Any], path: str) -> Iterator[tuple[FieldRow, list[FieldRow]]]:
    needed = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        where = f"{path}{name}"
        inner = [
            row
            for below, part in _parts(field, where)
            for one, deeper in _fields(part, f"{below}.")
            for row in (one, *deeper)
        ]
        yield _row(where, field, name in needed), inner


def _parts(field: Mapping[str, Any], where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects a field may hold, with how their fields are reached."""
    for option in (field, *field.get("anyOf", ())):
        yield where, option
        if "items" in option:
            yield f"{where}[]", option["items"]
        if isinstance(option.get("additionalProperties"), Mapping):
            yield f"{where}[path]", option["additionalProperties"]


def _row(name: str, field: Mapping[str, Any], needed: bool) -> FieldRow:
    options = list(field.get("anyOf", (field,)))
    kinds = dict.fromkeys(KINDS[option["type"]] for option in options if "type" in option)
    limits = [text for option in options if (text := _limits(option))]
    default = field.get("default")
    if default is not None and not isinstance(default, Mapping):
        limits.append(f"default {_number(default)}")
    return FieldRow(
        name, " or ".join(kinds), "; ".join(limits), field.get("description", ""), field.get("unit", ""), needed
    )


def _limits(option: Mapping[str, Any]) -> str:
    if "enum" in option:
        return ", ".join(str(choice) for choice in option["enum"])
    low, above, high = (option.get(name) for name in ("minimum", "exclusiveMinimum", "maximum"))
    bottom = f"above {_number(above)}" if above is not None else f"from {_number(low)}" if low is not None else ""
    return " ".join(text for text in (bottom, f"to {_number(high)}" if high is not None else "") if text)


def _number(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, int | float):
        return str(value)
    return f"{value:,.10g}" if abs(value) < 1e10 else power_text(value)
