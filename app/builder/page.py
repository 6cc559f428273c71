"""Build a pipeline schedule by hand: press what a stage runs next, and the engine answers. The state is the URL's query."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.board.figures.builder_lane import Lane, lane
from app.board.figures.pipeline_timeline import NAMES
from app.board.svg import Figure
from app.builder.builder import Built, Choice, read, sentence
from app.builder.game import SIZE, Game, Move, known_timeline
from app.builder.verdict import Verdict, verdict_on
from app.web.beside import Said, dealt
from app.web.query import labels_of, own_query
from app.web.render import page, part
from engine.language.inputs import Input, read_all, texts_of
from engine.language.refusal import Refusal

PATH = "/scenes/pp/build"
router = APIRouter(prefix=PATH, default_response_class=HTMLResponse, include_in_schema=False)
PLACED = ("moves", "try")  # what stands in the address beside the size


@dataclass(frozen=True)
class Chip:
    """An operation to press. `why` tells what is missing where it cannot run yet; pressing it says so."""

    choice: Choice
    query: str

    @property
    def id(self) -> str:
        return f"chip-{self.choice.move.stage}-{self.choice.move.letter}"

    @property
    def kind(self) -> str:
        return self.choice.op.kind

    @property
    def chunk(self) -> str:
        return "second chunk" if self.choice.op.chunk else ""

    @property
    def name(self) -> str:
        """For people who hear the page."""
        words = f"stage {self.choice.move.stage}: {NAMES[self.kind]} {self.choice.op.micro_batch}"
        return words + (f", {self.chunk}" if self.chunk else "") + (", not possible yet" if self.choice.why else "")


@dataclass(frozen=True)
class Row:
    """One stage: its lane in two widths, what it holds now, and what it may run next."""

    stage: int
    wide: Figure
    narrow: Figure
    holds: float
    chips: tuple[Chip, ...]


@dataclass(frozen=True)
class Board:
    """What has been built, drawn. `said` is about the last press; `refused` whether it was not possible."""

    built: Built
    rows: tuple[Row, ...]
    said: str
    refused: bool
    undo: str
    fresh: str
    likes: tuple[tuple[str, str], ...]
    verdict: Verdict | None

    @property
    def query(self) -> str:
        return query_of(self.built)

    @property
    def waited(self) -> float:
        """What all stages together have waited for what they run.   [slots]"""
        return sum(wait.end - wait.start for wait in self.built.waits if wait.op)

    @property
    def names(self) -> Mapping[str, str]:
        return {kind: NAMES[kind] for kind in self.built.game.kinds.kinds}


@dataclass(frozen=True)
class Page:
    """Everything the page shows. `board` is missing where the size has no meaning; `said` then tells why."""

    state: Mapping[str, str]
    said: Said
    board: Board | None
    path: str = PATH

    @property
    def size(self) -> tuple[Input, ...]:
        return SIZE


@router.get("")
def build(request: Request) -> HTMLResponse:
    """The whole page."""
    return page(request, "builder/page.html", view=page_of(_query(request)))


@router.get("/board")
def board(request: Request) -> HTMLResponse:
    """The board alone, for a press. The address of the page follows."""
    view = page_of(_query(request))
    if view.board is None:
        raise Refusal("board", None, " ".join(view.said.all))
    answer = part(request, "builder/_answer.html", view=view)
    answer.headers["HX-Push-Url"] = f"{PATH}?{view.board.query}"
    return answer


def _query(request: Request) -> dict[str, str]:
    return own_query(request, labels_of(SIZE), "this board has no such part", PLACED)


def page_of(given: Mapping[str, str]) -> Page:
    """The view model of a query."""
    state = texts_of(SIZE, given)
    try:
        size = read_all(SIZE, state, "")
    except Refusal as refusal:
        return Page(state, dealt(refusal, state), None)
    game = Game(size["stages"], size["micro"], size["cut"])
    built, said = read(game, given.get("moves", ""))
    refused = bool(said)
    if pressed := given.get("try", ""):
        built, said = _press(built, pressed)
        refused = bool(said)
    return Page(state, Said(), board_of(built, said or _told(built), refused))


def _told(built: Built) -> str:
    """What is said about the last move."""
    return "Every operation is placed." if built.finished else built.last_wait


def _press(built: Built, pressed: str) -> tuple[Built, str]:
    """The press of an operation that looked impossible: what is missing, or the board with it placed after all."""
    if len(pressed) != 2 or pressed[0] not in "0123456789":
        return built, "An operation is a stage and a letter, such as 0F."
    try:
        return built.placed(Move(int(pressed[0]), pressed[1])), ""
    except Refusal as refusal:
        return built, sentence(refusal.rule)


def query_of(built: Built, **more: str) -> str:
    """The query of a state."""
    game = built.game
    size = {"stages": game.stages, "micro": game.micro_batches, "cut": game.cut}
    return urlencode({**size, **({"moves": built.text} if built.moves else {}), **more})


def board_of(built: Built, said: str, refused: bool) -> Board:
    """The board of a state."""
    game = built.game
    best = built.best
    end = max(known_timeline("gpipe", game).makespan, built.timeline.makespan)
    rows = tuple(_row(built, stage, end, best.slots if best else 0.0, refused) for stage in range(game.stages))
    likes = (
        ()
        if built.finished
        else tuple((schedule.title, query_of(built.as_in(name))) for name, schedule in game.known.items())
    )
    return Board(
        built=built,
        rows=rows,
        said=said,
        refused=refused,
        likes=likes,
        undo=query_of(built.undone),
        fresh=query_of(Built(game)),
        verdict=verdict_on(built) if built.finished else None,
    )


def _row(built: Built, stage: int, end: float, goal: float, refused: bool) -> Row:
    ops = built.timeline.by_stage[stage]
    last = bool(built.moves) and built.moves[-1].stage == stage and not refused
    shown = tuple(wait for wait in built.waits if wait.stage == stage and (wait.op or built.finished))
    drawn = Lane(stage, ops, shown, end, goal, ops[-1] if last else None)
    chips = tuple(Chip(choice, _pressed(built, choice)) for choice in built.choices(stage))
    return Row(stage, lane(drawn), lane(drawn, narrow=True), built.holds(stage), chips)


def _pressed(built: Built, choice: Choice) -> str:
    """Where the press of a chip leads."""
    if choice.why:
        return query_of(built, **{"try": f"{choice.move.stage}{choice.move.letter}"})
    return query_of(built.placed(choice.move))
