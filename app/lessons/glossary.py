"""The words and the sources that lessons point to: app/content/glossary.yaml and sources.yaml."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

from engine.language.choice import choose

CONTENT = Path(__file__).parents[1] / "content"


class Word(BaseModel):
    """A word of the field.

    short   what it is, in one sentence
    see     the scene or the lesson that shows it
    also    other names for it
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    short: str
    see: str = ""
    also: tuple[str, ...] = ()

    @property
    def anchor(self) -> str:
        return "term-" + "".join(sign if sign.isalnum() else "-" for sign in self.name.lower())


class Reference(BaseModel):
    """Something that is cited.

    authors   as they are cited: "Narayanan et al."
    where     venue, arXiv number or address
    note      what it is cited for
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    authors: str
    year: int
    title: str
    where: str = ""
    note: str = ""

    @property
    def anchor(self) -> str:
        return f"source-{self.key}"

    @property
    def short(self) -> str:
        return f"{self.authors} {self.year}"

    @property
    def href(self) -> str:
        """Its address on the web, where `where` holds one; empty otherwise.

        >>> Reference(key="x", authors="A", year=2021, title="T", where="SC 2021; arXiv 2104.04473").href
        'https://arxiv.org/abs/2104.04473'
        """
        words = self.where.replace(",", " ").split()
        if "arXiv" in words[:-1]:
            return f"https://arxiv.org/abs/{words[words.index('arXiv') + 1]}"
        return f"https://{words[0]}" if words and "/" in words[0] and "." in words[0] else ""


def content(name: str, folder: Path = CONTENT) -> dict[str, Any]:
    """A file of the content folder, read again when it has changed."""
    path = folder / name
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _read(path: Path, changed: int) -> dict[str, Any]:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}


def words() -> dict[str, Word]:
    """Every word by its name."""
    return {name: Word(name=name, **entry) for name, entry in content("glossary.yaml").items()}


def named() -> dict[str, Word]:
    """Every word by all its names, in small letters; a word's own name wins over another's other name."""
    by_other = {other.lower(): word for word in words().values() for other in word.also}
    return by_other | {word.name.lower(): word for word in words().values()}


def word_named(name: str) -> Word:
    """The word of this name, or of this other name.

    >>> word_named("zero-1").name
    'ZeRO'
    """
    return choose("term", name.lower(), named(), "the glossary has no such word")


def references() -> dict[str, Reference]:
    """Every source by its key."""
    return {key: Reference(key=key, **entry) for key, entry in content("sources.yaml").items()}


def reference_named(key: str) -> Reference:
    """The source with this key.

    >>> reference_named("zero").short
    'Rajbhandari et al. 2020'
    """
    return choose("source", key, references(), "the list of sources has no such key")
