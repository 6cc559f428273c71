"""What a launch text cannot say, written into it as comments: read again, the layout comes back whole."""

import re
from collections.abc import Iterable
from dataclasses import replace

from engine.export.base import File

MARK = "# not said by these options: "
_GAP = re.compile(r"\A((?:layout\.\w+|stack|training\.tokens) = [\w.+-]{1,40}): ")


def with_gaps(file: File, left_out: Iterable[str]) -> File:
    """The file with a comment for each field of the scenario that its options cannot say.

    >>> with_gaps(File("a.toml", "x = 1\\n", "toml"), ["layout.zero = 1: it shards more."]).text
    '# not said by these options: layout.zero = 1\\nx = 1\\n'
    """
    said = [f"{MARK}{found[1]}\n" for sentence in left_out if (found := _GAP.match(sentence))]
    lines = file.text.splitlines(keepends=True)
    head = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return replace(file, text="".join([*lines[:head], *said, *lines[head:]]))
