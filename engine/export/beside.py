"""What a launch text cannot say, written into it as comments: read again, the layout comes back whole."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from engine.export.base import File, Imported
from engine.layout.layout import Layout

MARK = "# not said by these options: "
_GAP = re.compile(r"\A((?:layout\.\w+|stack|training\.tokens) = [\w.+-]{1,40}): ")
_LINE = re.compile(rf"^{re.escape(MARK)}(layout\.\w+|stack|training\.tokens) = ([\w.+-]{{1,40}})\s*$", re.MULTILINE)


def with_gaps(file: File, left_out: Iterable[str]) -> File:
    """The file with a comment for each field of the scenario that its options cannot say.

    >>> with_gaps(File("a.toml", "x = 1\\n", "toml"), ["layout.zero = 1: it shards more."]).text
    '# not said by these options: layout.zero = 1\\nx = 1\\n'
    """
    said = [f"{MARK}{found[1]}\n" for sentence in left_out if (found := _GAP.match(sentence))]
    lines = file.text.splitlines(keepends=True)
    head = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return replace(file, text="".join([*lines[:head], *said, *lines[head:]]))


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
