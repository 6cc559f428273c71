"""A line that is none of the events known here, told in a sentence: the line, the field, what stands there, what may, and
the nearest that works. Nothing of pydantic's own words is passed on."""

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, cast

from pydantic_core import ErrorDetails

from app.live.bounds import OUTSIDE, TOO_LONG
from engine.language.refusal import Refusal

Path = tuple[str | int, ...]
Check = Callable[[Any], Sequence[ErrorDetails]]  # what is wrong with a line
TYPES = {"int", "float", "str", "bool"}  # what it adds where it has tried several; others have brackets
KEY = "[key]"  # what pydantic adds to the place of a key that is wrong
WANTS = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "a text",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "named_tuple_type": "a list",
    "arguments_type": "a list",
    "dict_type": "an object",
    "dataclass_type": "an object",
    "none_required": "null",
    "too_long": "fewer entries",
    "unexpected_positional_argument": "fewer entries",
}
MISSING = {"missing", "missing_argument"}
LONGEST, MOST_GROWN = 60, 12  # characters of a value that is shown, and what may be lacking in it
SIMPLE: tuple[Any, ...] = (0, 1, "", False, [], {}, None)  # what is tried where nothing of what was given can be kept


def no_such_event(name: str, number: int, given: Any, check: Check) -> Refusal:
    """The first field that is wrong, and what it may be.

    name     of the kind of event
    number   of the line
    given    the fields of the line
    check    what is wrong with such fields; empty where all is well
    """
    problems = check(given)
    paths = [path_in(given, problem["loc"]) for problem in problems]
    path = paths[0]
    same = [problem for problem, other in zip(problems, paths, strict=True) if other == path]
    missing = all(problem["type"] in MISSING for problem in same)
    wants = " or ".join(dict.fromkeys(map(_wants, same)))
    rule = "it needs this field" if missing else f"needs {wants}"
    return Refusal(
        ".".join(map(str, ("events", *path))),
        None if missing else json.dumps(same[0]["input"], ensure_ascii=False, default=str),
        f"line {number} is no {name} event as it is written here: {rule}",
        _nearest(given, path, same, check),
    )


def path_in(given: Any, place: Sequence[str | int]) -> Path:
    """Where in the line: pydantic's place without the types that it has tried of a field of several.

    >>> path_in({"rank": True}, ("rank", "function-after[_read(), int]"))
    ('rank',)
    >>> path_in({"calls": [{}]}, ("calls", 0, "axis"))
    ('calls', 0, 'axis')
    """
    path: list[str | int] = []
    for part in place:
        if isinstance(given, dict) and part in given:
            given = given[part]
        elif isinstance(given, list) and part in range(len(given)):
            given = given[int(part)]
        elif isinstance(part, str) and (part in TYPES or "[" in part):
            continue
        path.append(part)
    return tuple(path)


def _wants(problem: ErrorDetails) -> str:
    """What a value of this type may be."""
    if problem["type"] in {OUTSIDE, TOO_LONG}:
        return str(problem.get("ctx", {})["words"])
    if problem["type"] in MISSING:
        return "more entries"
    return WANTS.get(problem["type"], "something else")


def _nearest(given: Any, path: Path, problems: Sequence[ErrorDetails], check: Check) -> str | None:
    """The first of a few values with which nothing is wrong there any more, as JSON writes it."""
    for problem in problems:
        if problem["type"] == TOO_LONG:
            return str(problem.get("ctx", {})["closest"])
    closest = [problem.get("ctx", {})["closest"] for problem in problems if problem["type"] == OUTSIDE]
    if not path or problems[0]["loc"][-1] == KEY:
        return None
    for value in (*closest, *_kept_of(problems[0]["input"]), *SIMPLE):
        found = _grown(given, path, value, check)
        if found is not None and len(text := json.dumps(found[0], ensure_ascii=False)) <= LONGEST:
            return text
    return None


def _grown(given: Any, path: Path, value: Any, check: Check) -> list[Any] | None:
    """The value, a list or an object with what it lacks, alone in a list; None where it cannot stand there."""
    changed = _put(given, path, value)
    for _ in range(MOST_GROWN):
        wrong = [at for each in check(changed) if (at := path_in(changed, each["loc"]))[: len(path)] == path]
        if not wrong:
            return [_at(changed, path)]
        if wrong[0] == path:
            return None
        changed = next(
            (tried for simple in SIMPLE if wrong[0] not in _wrong(tried := _put(changed, wrong[0], simple), check)),
            None,
        )
        if changed is None:
            return None
    return None


def _wrong(given: Any, check: Check) -> list[Path]:
    return [path_in(given, each["loc"]) for each in check(given)]


def _at(given: Any, path: Path) -> Any:
    for part in path:
        given = given[part]
    return given


def _kept_of(value: Any) -> list[Any]:
    """What can be kept of a value of the wrong type."""
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return []
        return [int(number), number] if number.is_integer() else [number]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return []
    return [round(value), f"{value:g}"] if abs(value) < 1e300 else []


def _put(given: Any, path: Path, value: Any) -> Any:
    """The same line with another value there; at the end of a list that is too short."""
    changed = deepcopy(given)
    inside, last = _at(changed, path[:-1]), cast(Any, path[-1])
    if isinstance(inside, list) and last not in range(len(inside)):
        inside.append(value)
    else:
        inside[last] = value
    return changed
