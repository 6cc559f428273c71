"""Events by chance, drawn from what their kinds declare: each number within its range, often at an end of it, each text no
longer than it may be. A new kind or field is drawn as soon as it is listed."""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from random import Random
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from app.live.bounds import OneOf, Within
from app.live.events import Event
from app.runner.catalog import DEMOS

KNOWN = (
    "pp", "dp", "tp", "dp_shard", "world", "send", "all_reduce", "F", "B", "I", "W", "forward", "backward", "optimizer",
    "steps", "schedule", "1F1B", "micro_batches", "ref", "agent", "parameters", "bytes", "nats", "s", "calls", "share", "later", *DEMOS,
)  # fmt: skip
STRANGE = ("", " ", "<script>", "&amp;", "\u0000", "\u202e", "é" * 3, "\\frac", "{{ 7 }}", "１２")
FEW = 3  # entries of a list or a mapping


def held(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type, and the bounds that are declared with it."""
    if get_origin(annotation) is Annotated:
        inner, *bounds = get_args(annotation)
        return inner, tuple(bounds)
    return annotation, ()


def hints(record: type) -> dict[str, Any]:
    """What each field of a record holds, bounds included."""
    return get_type_hints(record, include_extras=True)


def is_record(kind: Any) -> bool:
    return isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "_fields"))


def leaves(annotation: Any, path: str) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Where numbers and texts are, down to the last: where, the type, its bounds."""
    inner, bounds = held(annotation)
    if is_record(inner):
        for name, each in hints(inner).items():
            if get_origin(each) is not None and "ClassVar" in str(get_origin(each)):
                continue
            yield from leaves(each, f"{path}.{name}")
    elif get_args(inner) and not bounds:
        for each in get_args(inner):
            if each is not Ellipsis:
                yield from leaves(each, path)
    else:
        yield path, inner, bounds


def event_of(kind: type[Event], by: Random) -> dict[str, Any]:
    """The line of one event."""
    return {"event": kind.KIND, **_record(kind, by)}


def disturbed(lines: list[dict[str, Any]], kinds: Mapping[str, type[Event]], by: Random) -> list[dict[str, Any]]:
    """The lines of a run with some fields drawn anew, some lines missing, some doubled, sometimes in another order."""
    found = [dict(line) for line in lines if by.random() > 0.1 * by.random()]
    for line in by.choices(found, k=by.randint(1, 5)):
        known = hints(kinds[line["event"]])
        name = by.choice([each.name for each in fields(kinds[line["event"]])])
        line[name] = value_of(known[name], by)
    found += by.choices(found, k=by.randint(0, 3))
    if by.random() < 0.5:
        by.shuffle(found)
    return found


def _record(record: type, by: Random) -> dict[str, Any]:
    known = hints(record)
    return {each.name: value_of(known[each.name], by) for each in fields(record) if not _left_out(each, by)}


def _left_out(field: Field[Any], by: Random) -> bool:
    return field.default is not MISSING and by.random() < 0.5


def value_of(annotation: Any, by: Random) -> Any:
    """A value that this field may hold, as JSON has it."""
    inner, bounds = held(annotation)
    for bound in bounds:
        if isinstance(bound, Within):
            return _number(inner, bound, by)
        return by.choice(bound.names) if isinstance(bound, OneOf) else _text(bound.most, by)
    if inner is type(None) or inner is bool:
        return None if inner is type(None) else by.random() < 0.5
    if get_origin(inner) in (UnionType, Union):
        return value_of(by.choice(get_args(inner)), by)
    if get_origin(inner) is tuple:
        each = get_args(inner)
        return (
            [value_of(each[0], by) for _ in range(by.randint(0, FEW))]
            if each[-1] is Ellipsis
            else [value_of(one, by) for one in each]
        )
    if get_origin(inner) is Mapping or str(get_origin(inner)).endswith("Mapping'>"):
        key, value = get_args(inner)
        return {value_of(key, by): value_of(value, by) for _ in range(by.randint(0, FEW))}
    if hasattr(inner, "_fields"):
        return [value_of(each, by) for each in hints(inner).values()]
    assert is_dataclass(inner), annotation
    return _record(inner, by)  # type: ignore[arg-type]


def _number(kind: Any, within: Within, by: Random) -> int | float:
    whole = kind is int
    found: int | float = by.choice(
        [0, 1, 2, 3, by.randint(0, 8), within.least, within.most, by.uniform(within.least, within.most)]
        + ([] if whole else [5e-324, 1e-9, 0.1, within.least / 2 + within.most / 3])
    )
    return int(found) if whole else found


def _text(most: int, by: Random) -> str:
    return by.choice([by.choice(KNOWN), by.choice(KNOWN), by.choice(STRANGE), "x" * most])[:most]
