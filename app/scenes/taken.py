"""What one takes away of a film: a moment as a picture of its own, and a strip of all its stops on one page."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from app.board.film.composition import FORMS, Composition
from app.board.film.film import Film
from app.board.legend import words_width
from app.board.pen import number
from app.board.scenes import Scene
from app.scenes.view import moment_of, staged
from app.web.alone import BOARDS, standing_alone
from app.web.assets import Assets
from engine.language.choice import one_of
from engine.language.refusal import Refusal

LOOKS = {"board": tuple(BOARDS), "form": FORMS}  # beside knobs and moment in the query, the first one usual
ACROSS = 3  # stops beside one another on a strip
MARGIN, BELOW = 24.0, 84.0  # units: around a picture, and below it for what happens on the way to it
LINE = 26.0


@dataclass(frozen=True)
class Taken:
    """A film at a moment, for one of the boards, in one of its forms."""

    film: Film
    at: int
    t: float
    board: str
    form: str


def taken(scene: Scene, given: Mapping[str, str]) -> Taken:
    """What a query asks for, or a Refusal of what is wrong with it."""
    looks = {name: one_of(name, given.get(name, names[0]), names) for name, names in LOOKS.items()}
    knobs = {name: text for name, text in given.items() if name not in LOOKS}
    stage = staged(scene, scene.values(knobs))
    if not stage.film:
        raise Refusal("scene", scene.name, "this scene is a row of frames and no film: it has no moments to take away")
    return Taken(stage.film, *moment_of(stage, given), **looks)


def moment_svg(asked: Taken, assets: Assets) -> str:
    """The picture of a moment, as a file."""
    film, stop = asked.film, asked.film.stops[asked.at]
    picture = film.composition(asked.form)
    drawing = picture.at(asked.t, f"{picture.scene}-moment", stop.description, still=True)
    placed = _placed(drawing, 0.0, picture)
    return standing_alone(placed, picture.width, picture.height, asked.board, assets)


def strip_svg(asked: Taken, assets: Assets) -> str:
    """All stops on one page, each with its caption."""
    film, wide = asked.film, asked.film.wide
    width, tall = wide.width + 2 * MARGIN, wide.height + MARGIN + BELOW
    cells = []
    for at, stop in enumerate(film.stops):
        picture = wide.at(stop.t, f"{wide.scene}-strip-{at}", stop.description, still=True)
        where = f"translate({number(at % ACROSS * width)} {number(at // ACROSS * tall)})"
        cells.append(
            f'<g transform="{where}">{_placed(picture, MARGIN, wide)}{_caption(f"{at + 1}. {stop.caption}", width, wide.height)}</g>'
        )
    rows = -(-len(film.stops) // ACROSS)
    return standing_alone("".join(cells), ACROSS * width, rows * tall, asked.board, assets)


def _placed(drawn: str, at: float, picture: Composition) -> str:
    """A drawing in its size, so far from the left and from above."""
    size = f'x="{at:g}" y="{at:g}" width="{picture.width:g}" height="{picture.height:g}"'
    return drawn.replace("<svg ", f"<svg {size} ", 1)


def _caption(words: str, width: float, below: float) -> str:
    """What is said of a stop, in the middle below its picture, in as many lines as it takes."""
    lines = [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".strip()
        if words_width(longer, "caption") > width - 4 * MARGIN and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    written = "".join(
        f'<text class="t-caption" text-anchor="middle" x="{width / 2:g}" y="{below + MARGIN + (at + 1) * LINE:g}">{escape(line)}</text>'
        for at, line in enumerate(lines)
    )
    return f'<g class="drawing">{written}</g>'
