"""What has ended, on disk: one file of JSON lines each, so that an address still works after a restart."""

import re
from dataclasses import dataclass
from pathlib import Path

NAME = re.compile(r"\A[A-Za-z0-9_-]{8,24}\Z")  # nothing in it can name another place


@dataclass(frozen=True)
class Kept:
    """A folder of what has ended. most: the oldest beyond these go."""

    folder: Path
    most: int = 500

    def save(self, name: str, lines: bytes) -> None:
        """Write one down, whole or not at all; make room where there are many."""
        assert NAME.match(name)
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f"{name}.part"
        part.write_bytes(lines)
        part.replace(self.folder / f"{name}.jsonl")
        for old in sorted(self.folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime)[: -self.most]:
            old.unlink(missing_ok=True)

    def load(self, name: str) -> bytes | None:
        """The lines of one that is kept, or None."""
        path = self.folder / f"{name}.jsonl"
        return path.read_bytes() if NAME.match(name) and path.exists() else None
