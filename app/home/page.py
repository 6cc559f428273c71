"""The front of the board: the question, why it is hard, and the way through it."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from app.board.figures.doodles import doodle
from app.board.film.data import film_data
from app.board.film.film import Film
from app.board.scenes.zero.film import state_film
from app.board.scenes.zero.scene import ZERO
from app.board.svg import Figure
from app.home.wall import Part, Row, Wall
from app.lessons.lesson import BLOCKS, Block, Lesson, lessons
from app.web.render import page
from engine.catalog.hardware import gpu_named
from engine.catalog.model import catalogue
from engine.catalog.scenarios import preset_document
from engine.language.formula import Term
from engine.language.units import count_text
from engine.memory.state import held_bytes, state_bytes

CARD = preset_document()  # the question
PARAMETERS: float = catalogue()[CARD["model"]]["called_parameters"]
GPUS: int = CARD["gpus"]
DATA_WIDTH = 64  # replicas

PARTS = (
    Part("weights", 2),
    Part("gradients", 2),
    Part("optimizer", 12),
)
SHARDED_FROM = {"weights": 3, "gradients": 2, "optimizer": 1}  # the ZeRO stage that first deals a part out
STAGES = ("DDP", "ZeRO-1", "ZeRO-2", "ZeRO-3")


@dataclass(frozen=True)
class Stop:
    """One block of the answer with its drawing, and the lesson that teaches it."""

    block: Block
    drawing: Figure
    lesson: Lesson


@dataclass(frozen=True)
class Door:
    """A way to another page."""

    path: str
    title: str
    words: str


@dataclass(frozen=True)
class Home:
    """Everything the front page shows."""

    wall: Wall
    film: Film
    terms: tuple[Term, ...]
    stops: tuple[Stop, ...]
    doors: tuple[Door, ...]
    parameters: float = PARAMETERS
    gpus: int = GPUS
    data_width: int = DATA_WIDTH

    @cached_property
    def film_data(self) -> Markup:
        """The film for the script, as JSON; made once."""
        return Markup(film_data(self.film))

    @cached_property
    def rest(self) -> dict[str, Markup]:
        """Both compositions of the film at its end: so they are where no script plays them."""
        return {form: Markup(getattr(self.film, form).at(self.film.length)) for form in ("wide", "tall")}

    @property
    def size(self) -> str:
        """The model of the question, as one says it: 70B."""
        return count_text(self.parameters).replace(" ", "")

    @property
    def minutes(self) -> int:
        return sum(stop.block.minutes for stop in self.stops)


DOORS = (
    Door("/scenes", "Watch it move", "Scenes to predict, then play."),
    Door("/plan", "Plan a run", "Sliders in, days and dollars out."),
    Door("/topology", "On the wires", "Drag the order of the axes, break it."),
    Door("/demos", "Run it for real", "Processes agree with the picture."),
)

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)


@router.get("/")
def home(request: Request) -> HTMLResponse:
    """The front page."""
    return page(request, "home/page.html", view=front(request.app.state.paths))


@lru_cache
def front(paths: frozenset[str]) -> Home:
    """The view model; `paths` are the addresses that answer, so that no door leads nowhere."""
    return Home(
        wall=sharding_wall(),
        film=state_film(ZERO.values({"gpus": str(DATA_WIDTH), "billions": f"{PARAMETERS / 1e9:g}"})),
        terms=tuple(
            state_bytes.explain(f"{name}: training state of one GPU", N=PARAMETERS, zero=stage, D=DATA_WIDTH)
            for stage, name in enumerate(STAGES)
        ),
        stops=tuple(
            Stop(block, doodle(block.drawing), next(lesson for lesson in lessons() if lesson.front.block == block.name))
            for block in BLOCKS
            if block.minutes
        ),
        doors=tuple(door for door in DOORS if door.path in paths),
    )


def sharding_wall() -> Wall:
    """The training state of the question's model on one GPU, for DDP and the three ZeRO stages."""
    rows = []
    for stage, name in enumerate(STAGES):
        widths = (DATA_WIDTH if stage >= SHARDED_FROM[part.kind] else 1 for part in PARTS)
        held = tuple(
            float(held_bytes(part.bytes_per_parameter, PARAMETERS, width))
            for part, width in zip(PARTS, widths, strict=True)
        )
        rows.append(Row(name, held))
    return Wall(tuple(rows), PARTS, gpu_named("h100").memory_bytes)
