"""Documents from outside: frozen pydantic models whose complaints are sentences with the nearest value that works."""

import math
from collections.abc import Iterable
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, Field, ValidationError
from pydantic_core import CoreSchema, ErrorDetails, core_schema

from engine.language.choice import nearest
from engine.language.refusal import Refusal, together


class Document(BaseModel, frozen=True, extra="forbid", allow_inf_nan=False):
    """A frozen record that refuses unknown keys."""

    def refusals(self) -> list[Refusal]:
        """What has no meaning although each field is well formed."""
        return []


def _number(value: object) -> object:
    """Text and booleans are no numbers; a whole float (1e3) is a whole number."""
    if isinstance(value, (str, bool)):
        raise ValueError("needs a number")
    return int(value) if isinstance(value, float) and math.isfinite(value) and value == int(value) else value


def Count(default: Any = ..., *, ge: int | None = None, le: int, meaning: str = "", unit: str = "count") -> Any:
    """A whole number: at least 1 when it has no default, at least 0 or `ge` otherwise."""
    low = ge if ge is not None else (1 if default is ... else 0)
    return Says(meaning, unit, default=default, ge=low, le=le)


def Says(meaning: str, unit: str = "", *, default: Any = ..., **limits: Any) -> Any:
    """A field with what it means, its unit where it is a quantity, and its limits."""
    return Field(default, description=meaning or None, json_schema_extra={"unit": unit} if unit else None, **limits)


class OneOf:
    """Marks a text as a name out of a family: no other is taken, and the API's description lists them all.

    >>> class Cut(Document, frozen=True):
    ...     side: Annotated[str, OneOf({"left": 1, "right": 2})]
    >>> read(Cut, {"side": "lift"})
    Traceback (most recent call last):
    engine.language.refusal.Refusal: side = lift: must be one of left, right; the nearest that works: left
    """

    def __init__(self, family: Iterable[str]):
        self.names = tuple(family)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.literal_schema(list(self.names))


Whole = Annotated[int, BeforeValidator(_number)]
Real = Annotated[float, BeforeValidator(_number)]
EITHER = ("str", "dict[str,any]")  # what pydantic adds to the path of a field that takes a name or an object
Record = TypeVar("Record", bound=Document)


def read(kind: type[Record], document: object, where: str = "") -> Record:
    """The document as a record of this kind; what is wrong with it is raised as one Refusal that carries all."""
    if not isinstance(document, dict):
        raise Refusal(where or "document", document, f"needs an object with {_names(kind)}")
    try:
        record = kind(**document)
    except ValidationError as error:
        found = {each.field: each for each in (_refusal(kind, detail, where) for detail in error.errors())}
        raise together(list(found.values())) from None
    if found := record.refusals():
        raise together(found)
    return record


def _names(kind: type[BaseModel]) -> str:
    return ", ".join(kind.model_fields)


def _refusal(kind: type[BaseModel], detail: ErrorDetails, where: str) -> Refusal:
    path = [str(part) for part in detail["loc"] if part not in EITHER]
    field = ".".join([*([where] if where else []), *path])
    given, context, what = detail["input"], detail.get("ctx", {}), detail["type"]
    if detail["loc"][-1] in EITHER:
        return Refusal(field, given, "needs a name or an object")
    if what == "extra_forbidden":
        names = _fields_at(kind, path[:-1])
        return Refusal(field, given, f"unknown key; known are {', '.join(names)}", nearest(path[-1], names))
    if what == "model_type":
        return Refusal(field, given, f"needs an object with {', '.join(_fields_at(kind, path))}")
    if what == "missing":
        return Refusal(field, None, "is needed")
    if what in ("greater_than_equal", "greater_than"):
        bound = context.get("ge", context.get("gt"))
        return Refusal(
            field,
            given,
            f"must be {'at least' if what.endswith('equal') else 'above'} {bound:g}",
            f"{bound:g}" if what.endswith("equal") else None,
        )
    if what in ("less_than_equal", "less_than"):
        bound = float(context.get("le", context.get("lt", 0)))
        most = f"{bound:,.0f}" if bound < 1e15 and bound == int(bound) else f"{bound:g}"
        return Refusal(field, given, f"must be at most {most}", most.replace(",", ""))
    if what == "literal_error":
        choices = _choices(kind, path)
        return Refusal(field, given, f"must be one of {', '.join(choices)}", nearest(str(given), choices))
    if what.startswith("int") or what == "value_error":
        near = f"{round(given)}" if isinstance(given, float) and math.isfinite(given) else None
        wants = "a whole number" if _is_whole(kind, path) else "a number"
        return Refusal(field, given, f"needs {wants}", near)
    if what.startswith(("float", "finite")):
        return Refusal(field, given, "needs a number")
    if what.startswith("bool"):
        return Refusal(field, given, "needs true or false")
    if what.startswith("string"):
        return Refusal(field, given, "needs text")
    return Refusal(field, given, detail["msg"][:1].lower() + detail["msg"][1:])


def _kind_at(kind: type[BaseModel], path: list[str]) -> Any:
    at: Any = kind
    for part in path:
        at = at.model_fields[part].annotation if hasattr(at, "model_fields") and part in at.model_fields else None
        at = next((a for a in get_args(at) if hasattr(a, "model_fields")), at) if at is not None else None
    return at


def _fields_at(kind: type[BaseModel], path: list[str]) -> list[str]:
    at = _kind_at(kind, path)
    return list(at.model_fields) if hasattr(at, "model_fields") else []


def _choices(kind: type[BaseModel], path: list[str]) -> list[str]:
    field = _kind_at(kind, path[:-1]).model_fields[path[-1]]
    parts = [field.annotation, *get_args(field.annotation)]
    choices = [choice for part in parts for choice in get_args(part) if isinstance(choice, (str, int))]
    marks = [mark for part in parts for mark in getattr(part, "__metadata__", ())]
    families = [mark.names for mark in (*field.metadata, *marks) if isinstance(mark, OneOf)]
    return [str(choice) for choice in (*choices, *(name for names in families for name in names))]


def _is_whole(kind: type[BaseModel], path: list[str]) -> bool:
    owner = _kind_at(kind, path[:-1])
    field = getattr(owner, "model_fields", {}).get(path[-1])
    return field is not None and (field.annotation is int or int in get_args(field.annotation))


def divisors(number: int) -> list[int]:
    """All whole numbers that divide this one, ascending.

    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    small = [d for d in range(1, math.isqrt(number) + 1) if number % d == 0]
    return small + [number // d for d in reversed(small) if d * d != number]


def whole(given: int, *, divides: int) -> str:
    """The divisors of a number that stand next to a given one, in words.

    >>> whole(6, divides=64)
    '4 or 8'
    """
    return beside(given, divisors(divides))


def beside(given: int, options: list[int]) -> str:
    """The options on either side of a number, in words."""
    below = max((d for d in options if d <= given), default=None)
    above = min((d for d in options if d >= given), default=None)
    return " or ".join(str(d) for d in dict.fromkeys((below, above)) if d is not None)
