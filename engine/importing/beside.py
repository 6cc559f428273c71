"""What our own files say in comments beside their options: it counts instead of what the options come nearest to."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.export.beside import MARK
from engine.importing.imported import Imported
from engine.layout.layout import Layout

_LINE = re.compile(rf"^{re.escape(MARK)}(layout\.\w+|stack|training\.tokens) = ([\w.+-]{{1,40}})\s*$", re.MULTILINE)


def take_gaps(text: str, found: Imported) -> Imported:
    """What was read, with what the comments say instead of what the options come nearest to."""
    document, notes = {**found.document, "layout": dict(found.document["layout"])}, list(found.notes)
    for path, value in _LINE.findall(text):
        part, _, name = path.rpartition(".")
        if part == "layout" and name not in Layout.model_fields:
            continue
        place = document if not part else document.setdefault(part, {})
        if place.get(name) == (meant := _value(value)):
            continue
        notes.append(
            f"{path} = {value}: it stands in a comment; the options alone come nearest to {_shown(place.get(name))}."
        )
        place[name] = meant
    return replace(found, document=document, notes=tuple(notes))


def _value(text: str) -> Any:
    known: Mapping[str, Any] = {"true": True, "false": False, "None": None, "null": None}
    if text in known:
        return known[text]
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def _shown(value: object) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
