"""The lessons: the road of forty minutes, each lesson, its exercises, the glossary and the sources."""

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.board.figures.doodles import doodle
from app.board.scenes import SCENES
from app.board.svg import Figure
from app.lessons.glossary import Reference, Word, references, words
from app.lessons.lesson import BLOCKS, Block, Lesson, Rendered, all_posed, lesson_named, lessons, posed, rendered, uses
from app.web.query import own_query
from app.web.render import page, part

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)


@dataclass(frozen=True)
class Stretch:
    """A block of the road with its lessons."""

    block: Block
    lessons: tuple[Lesson, ...]
    drawing: Figure | None


@dataclass(frozen=True)
class Road:
    """The index: the blocks of the card, then what lies beside the road."""

    stretches: tuple[Stretch, ...]

    @property
    def on_road(self) -> list[Stretch]:
        return [stretch for stretch in self.stretches if stretch.block.minutes]

    @property
    def beside(self) -> list[Stretch]:
        return [stretch for stretch in self.stretches if not stretch.block.minutes and stretch.lessons]

    @property
    def minutes(self) -> int:
        return sum(stretch.block.minutes for stretch in self.stretches)

    @property
    def count(self) -> int:
        return sum(len(stretch.lessons) for stretch in self.stretches)

    @property
    def reading_minutes(self) -> int:
        return sum(each.minutes for stretch in self.stretches for each in stretch.lessons)


@dataclass(frozen=True)
class Reading:
    """A lesson open on the desk."""

    made: Rendered
    block: Block
    before: Lesson | None
    after: Lesson | None
    scenes: tuple[Any, ...]
    count: int


@dataclass(frozen=True)
class Entry:
    """A word or a source with the lessons that use it."""

    item: Word | Reference
    lessons: tuple[Lesson, ...]
    see: str = ""
    see_words: str = ""


@router.get("/lessons")
def index(request: Request) -> HTMLResponse:
    """All lessons in the card's order."""
    return page(request, "lessons/index.html", view=road())


@router.get("/lessons/exercises")
def exercises(request: Request) -> HTMLResponse:
    """Every exercise on one page."""
    return page(request, "lessons/exercises.html", posed=all_posed(), lesson=None)


@router.get("/lessons/exercises/{exercise}")
def exercise(request: Request, exercise: str) -> HTMLResponse:
    """One exercise and what is said to an answer; `lesson` is where it stood."""
    given = own_query(request, {"answer": "what is wrong"}, beside=("lesson",))
    known = _known(given.get("lesson", ""))
    view = posed(exercise, given.get("answer", ""), known.slug if known else "")
    if view.answer:
        view.exercise.chosen(view.answer)  # refused here, in words, if nobody offered it
    if "HX-Request" in request.headers:
        return part(request, "lessons/_exercise.html", view=view)
    return page(request, "lessons/exercises.html", posed=[view], lesson=known)


@router.get("/lessons/{lesson}")
def lesson(request: Request, lesson: str) -> HTMLResponse:
    """One lesson."""
    return page(request, "lessons/page.html", view=reading(lesson_named(lesson)))


@router.get("/glossary")
def glossary(request: Request) -> HTMLResponse:
    """Every word, with what shows it and where it is met."""
    met = uses("term")
    entries = [Entry(word, tuple(met.get(name, ())), *_shown_by(word)) for name, word in words().items()]
    entries.sort(key=lambda entry: _name(entry.item).lower())
    return page(request, "lessons/glossary.html", entries=entries)


@router.get("/sources")
def sources(request: Request) -> HTMLResponse:
    """Everything that is cited, and where."""
    met = uses("source")
    entries = [Entry(source, tuple(met.get(key, ()))) for key, source in references().items()]
    entries.sort(key=lambda entry: _name(entry.item).lower())
    return page(request, "lessons/sources.html", entries=entries)


def road() -> Road:
    """The index's view model."""
    known = lessons()
    return Road(
        tuple(
            Stretch(
                block,
                tuple(each for each in known if each.front.block == block.name),
                doodle(block.drawing) if block.drawing else None,
            )
            for block in BLOCKS
        )
    )


def reading(lesson: Lesson) -> Reading:
    """A lesson's view model."""
    known = lessons()
    at = known.index(lesson)
    return Reading(
        made=rendered(lesson),
        block=next(block for block in BLOCKS if block.name == lesson.front.block),
        before=known[at - 1] if at else None,
        after=known[at + 1] if at + 1 < len(known) else None,
        scenes=tuple(SCENES[name] for name in lesson.front.scenes if name in SCENES),
        count=len(known),
    )


def _known(slug: str) -> Lesson | None:
    return next((lesson for lesson in lessons() if lesson.slug == slug), None)


def _shown_by(word: Word) -> tuple[str, str]:
    """The address and the title of what a word points to."""
    if found := _known(word.see):
        return found.href, found.front.title
    if word.see in SCENES:
        return f"/scenes/{word.see}", SCENES[word.see].title
    return "", ""


def _name(item: Word | Reference) -> str:
    return item.name if isinstance(item, Word) else f"{item.authors} {item.year}"
