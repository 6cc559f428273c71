"""Lessons: Markdown files with front matter in app/content/lessons, in the order of their numbers.

    ---
    title: A statement
    block: 2                 # of the card, 1 to 5; or follow-up, or deeper
    minutes: 10              # of that block, if it has some
    summary: One sentence.
    scenes: [ddp, zero]
    ---

    Text, with calls.

What a text may call is in lesson_calls.py, how it is read in prose.py.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import yaml
from markupsafe import Markup
from pydantic import BaseModel, ConfigDict, ValidationError

from app.lessons.calls import Calls, Posed, Used
from app.lessons.exercises import exercises
from app.lessons.glossary import CONTENT, named
from app.lessons.prose import MARK, Heading, ProseError, marked, prose
from engine.language.choice import choose

FOLDER = CONTENT / "lessons"
SPARE = ("glossary.yaml", "sources.yaml", "exercises.yaml")  # a text also depends on these
FILE = re.compile(r"^(\d\d)-([a-z0-9-]+)\.md$")
BRACES = re.compile(r"\{[{%].*?[}%]\}", re.DOTALL)
CALL = re.compile(r"\b(\w+)\(\s*\"([^\"]+)\"")
WORDS_A_MINUTE, PIECES_A_MINUTE = 200, 4  # how fast one reads, and looks at figures

BlockName = Literal[1, 2, 3, 4, 5, "follow-up", "deeper"]


@dataclass(frozen=True)
class Block:
    """A block of the card's answer; `drawing` is one of the doodles. Without minutes it is no part of the road."""

    name: BlockName
    title: str
    words: str
    minutes: int = 0
    drawing: str = ""


BLOCKS = (
    Block(1, "Four strategies", "Copy it, shard it, cut the layers, chain the stages.", 5, "strategies"),
    Block(2, "Memory and messages", "What each GPU holds under each of them, and what it has to send.", 10, "memory"),
    Block(
        3,
        "Layout on the wires",
        "The talkative axes on the fast links: which GPU does what, and why there.",
        10,
        "topology",
    ),
    Block(
        4,
        "FLOPs, days and failures",
        "How much work, at what share of the peak, and what breaks on the way.",
        10,
        "clock",
    ),
    Block(5, "Who owns what", "Framework, launcher, hyperparameters.", 5, "ownership"),
    Block("follow-up", "Then they push", "The questions that come once the first answer stands."),
    Block("deeper", "Deeper", "What lies behind the forty minutes."),
)


class Front(BaseModel):
    """What stands above a lesson's text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    block: BlockName
    summary: str
    minutes: int | None = None
    scenes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lesson:
    """A lesson's text as it was written; `first_line` is where it begins in its file."""

    slug: str
    number: int
    path: Path
    front: Front
    text: str
    first_line: int

    @property
    def href(self) -> str:
        return f"/lessons/{self.slug}"

    @property
    def minutes(self) -> int:
        """About how long it takes to read, without making it ready."""
        words = len(re.findall(r"\w+", BRACES.sub("x", self.text)))
        looked = sum(1 for kind, _ in self.calls if kind in ("scene", "figure", "exercise"))
        return max(1, round(words / WORDS_A_MINUTE + looked / PIECES_A_MINUTE))

    @property
    def calls(self) -> list[tuple[str, str]]:
        """Each call with its first argument, as they stand in the text."""
        return CALL.findall(self.text)


@dataclass(frozen=True)
class Rendered:
    """A lesson made ready; `used` are the words, sources, scenes, exercises and formulas it names."""

    lesson: Lesson
    html: Markup
    headings: tuple[Heading, ...]
    used: Used


def lessons(folder: Path = FOLDER) -> tuple[Lesson, ...]:
    """All lessons, in order."""
    return tuple(_read(path, path.stat().st_mtime_ns) for path in sorted(folder.glob("*.md")))


def lesson_named(slug: str) -> Lesson:
    """The lesson of this name, or a Refusal with the name most like it."""
    known = {lesson.slug: lesson for lesson in lessons()}
    return choose("lesson", slug, known, "there is no such lesson")


@lru_cache(maxsize=64)
def _read(path: Path, changed: int) -> Lesson:
    named = FILE.match(path.name)
    if not named:
        raise ProseError(path.name, 1, "a lesson is called NN-slug.md")
    head, text, first_line = _parted(path)
    try:
        front = Front(**(yaml.safe_load(head) or {}))
    except (ValidationError, yaml.YAMLError, TypeError) as error:
        raise ProseError(path.name, 1, f"front matter: {' '.join(str(error).split())}") from None
    return Lesson(named[2], int(named[1]), path, front, text, first_line)


def _parted(path: Path) -> tuple[str, str, int]:
    """Front matter, text, and the line on which the text begins."""
    lines = path.read_text(encoding="utf-8").split("\n")
    if lines[0] != "---" or "---" not in lines[1:]:
        raise ProseError(path.name, 1, "a lesson begins with front matter between two lines of ---")
    end = lines.index("---", 1)
    return "\n".join(lines[1:end]), "\n".join(lines[end + 1 :]), end + 2


def rendered(lesson: Lesson) -> Rendered:
    """The lesson as HTML; made again when its file, or one it draws from, has changed."""
    return _rendered(lesson, *(path.stat().st_mtime_ns for path in (lesson.path, *(CONTENT / name for name in SPARE))))


@lru_cache(maxsize=64)
def _rendered(lesson: Lesson, *changed: int) -> Rendered:
    calls = Calls(lesson.slug, lesson.path.name)
    made = prose(lesson.text, calls.by_name, calls.pieces, lesson.path.name, lesson.first_line)
    return Rendered(lesson, made.html, made.headings, calls.used)


def by_hand(lesson: Lesson) -> list[tuple[int, str]]:
    """The lines that were typed, without what calls gave, with their numbers in the file."""
    calls = Calls(lesson.slug, lesson.path.name)
    text = marked(lesson.text, calls.by_name, lesson.path.name, lesson.first_line)
    return [(lesson.first_line + at, MARK.sub("", line)) for at, line in enumerate(text.split("\n"))]


def uses(call: Literal["term", "source", "scene", "exercise"]) -> dict[str, list[Lesson]]:
    """In which lessons each word, source, scene or exercise is met, by its name."""
    found: dict[str, list[Lesson]] = {}
    known = named() if call == "term" else {}
    for lesson in lessons():
        for name in dict.fromkeys(name for kind, name in lesson.calls if kind == call):
            met = found.setdefault(known[name.lower()].name if name.lower() in known else name, [])
            if lesson not in met:
                met.append(lesson)
    return found


def posed(key: str, answer: str = "", lesson: str = "") -> Posed:
    """An exercise on its own; `answer` is what somebody chose, `lesson` where it stood."""
    return Calls(f"exercise-{key}", "exercises.yaml").posed(key, answer, lesson)


def all_posed() -> list[Posed]:
    """Every exercise, unanswered."""
    calls = Calls("exercises", "exercises.yaml")
    return [calls.posed(key) for key in exercises()]
