"""What changed between two JSON documents: the path of each value that did, with both values."""

import json
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

Found = tuple[str, str, str, str]  # kind, path without its numbers, old, new
MISSING = ""


def json_changes(old: Any, new: Any, path: str = "") -> Iterator[Found]:
    """(kind, path, old, new) of every value that differs. Places in lists are *, so that like paths are alike.

    >>> list(json_changes({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}], "c": None}))
    [('value', 'a.*.b', '2', '3'), ('added', 'c', '', 'null')]
    """
    if _same(old, new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            inner = _joined(path, re.sub(r"\d+", "*", name))
            if name not in new:
                yield "removed", inner, _text(old[name]), MISSING
            elif name not in old:
                yield "added", inner, MISSING, _text(new[name])
            else:
                yield from json_changes(old[name], new[name], inner)
        if list(old) != list(new) and old.keys() == new.keys():
            yield "order of names", path, ", ".join(old), ", ".join(new)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _lists(old, new, _joined(path, "*"))
    else:
        yield "value", path, _text(old), _text(new)


def _lists(old: list[Any], new: list[Any], path: str) -> Iterator[Found]:
    """Lists of one length place by place; else what was put in and taken out."""
    if len(old) == len(new):
        for before, after in zip(old, new, strict=True):
            yield from json_changes(before, after, path)
        return
    texts = [_text(each) for each in old], [_text(each) for each in new]
    for what, a, b, c, d in SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        if what == "equal":
            continue
        both = min(b - a, d - c)
        for before, after in zip(old[a : a + both], new[c : c + both], strict=True):
            yield from json_changes(before, after, path)
        yield from (("removed", path, text, MISSING) for text in texts[0][a + both : b])
        yield from (("added", path, MISSING, text) for text in texts[1][c + both : d])


def _same(old: Any, new: Any) -> bool:
    """Equal in what is written: 1 is not 1.0, and the order of names counts."""
    return _text(old) == _text(new)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
