"""What our own files say beside their options: it counts instead of what the options come nearest to."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from engine.export.beside import KEY, MARK
from engine.importing.imported import Imported, Taken
from engine.layout.layout import Layout

PLACE = r"layout\.\w+|stack|training\.tokens|model|cluster|gpus|sequence_tokens|precision"
_PATH = re.compile(PLACE)
_LINE = re.compile(rf"^{re.escape(MARK)}({PLACE}) = (\S.{{0,2000}}?)\s*$")
MODEL_SETTINGS = ("model:", "model.flavor:")


def take_gaps(text: str, found: Imported) -> Imported:
    """What was read, with what stands beside the options instead of what they come nearest to."""
    document, taken = {**found.document, "layout": dict(found.document["layout"])}, list(found.taken)
    said = set[str]()
    for line, path, meant in said_beside(text):
        part, _, name = path.rpartition(".")
        if part == "layout" and name not in Layout.model_fields:
            continue
        place = document if not part else document.setdefault(part, {})
        differs = place.get(name) != meant
        place[name] = meant
        said.add(path)
        taken.append(Taken(line, f"{path} = {_shown(meant)}", f"{path}, said beside the options" if differs else path))
    assumed = tuple(each for each in found.assumed if not any(each.startswith(f"{path}:") for path in said))
    if "model" in said:
        assumed = tuple(each for each in assumed if not each.startswith(MODEL_SETTINGS))
    return replace(found, document=document, taken=tuple(sorted(taken, key=lambda each: each.line)), assumed=assumed)


def said_beside(text: str) -> Iterator[tuple[int, str, Any]]:
    """Line, place and value of each thing that is said so."""
    for number, line in enumerate(text.splitlines(), 1):
        if match := _LINE.match(line):
            yield number, match[1], _value(match[2])
    if text.lstrip().startswith("{"):
        try:
            inside = json.loads(text).get(KEY)
        except (ValueError, RecursionError, AttributeError):
            return
        for path, value in inside.items() if isinstance(inside, dict) else ():
            if _PATH.fullmatch(path):
                yield text[: max(0, text.find(f'"{path}"'))].count("\n") + 1, path, value


def _value(text: str) -> Any:
    known: Mapping[str, Any] = {"true": True, "false": False, "None": None, "null": None}
    if text in known:
        return known[text]
    if text.startswith("{"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _shown(value: object) -> str:
    shown = json.dumps(value) if not isinstance(value, str) else value
    return shown[:60]
