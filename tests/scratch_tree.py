"""A scratch copy of the tree in which something is added, and what is then asked of it."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple


class Ask(NamedTuple):
    """What a user does, and the texts that are then to be seen. A path is looked at; words are given to the command line."""

    what: tuple[str, ...]
    shows: tuple[str, ...]
    needs_torch: bool = False


@dataclass
class Tree:
    """A scratch copy; `changed` are the files that were there and had to be touched."""

    root: Path
    changed: set[str] = field(default_factory=set)

    def copy(self, old: str, new: str, *renamed: tuple[str, str]) -> None:
        """A copy of a file or a folder under a new name, each of these texts replaced in it."""
        source = self.root / old
        files = [path for path in source.rglob("*") if path.is_file()] if source.is_dir() else [source]
        for path in files:
            text, target = path.read_text(encoding="utf-8"), self.root / new
            if source.is_dir():
                target = target / path.relative_to(source)
            for before, after in renamed:
                text = text.replace(before, after)
            assert not target.exists(), target
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")

    def edit(self, file: str, *pairs: tuple[str, str]) -> None:
        """Replace the first of each text in a file that exists."""
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        for before, after in pairs:
            assert before in text, f"{file} has no {before!r} any more"
            text = text.replace(before, after, 1)
        path.write_text(text, encoding="utf-8")
        self.changed.add(file)

    def again(self, file: str, start: str, end: str, *renamed: tuple[str, str]) -> None:
        """A second copy of what stands between two texts of a file, put before it."""
        text = (self.root / file).read_text(encoding="utf-8")
        first = text.index(start)
        block = text[first : text.index(end, first + len(start))]
        made = block
        for before, after in renamed:
            assert before in made, f"{before!r} is not in what is copied from {file}"
            made = made.replace(before, after)
        self.edit(file, (block, made + block))

    def entry(self, file: str, name: str, new: str, *renamed: tuple[str, str]) -> None:
        """A second copy of an entry of a YAML file, at whatever depth it stands."""
        text = (self.root / file).read_text(encoding="utf-8")
        found = re.search(rf"^( *){re.escape(name)}:.*\n(?:(?:\1 +.*)?\n)*?(?=\1?\S|\Z)", text, re.MULTILINE)
        assert found, f"{file} has no {name}"
        made = found[0].replace(f"{name}:", f"{new}:", 1)
        for before, after in renamed:
            made = made.replace(before, after)
        self.edit(file, (found[0], found[0].rstrip("\n") + "\n\n" + made if not found[1] else found[0] + made))
