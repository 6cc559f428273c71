"""Pieces that films share: owners' tiles and coins, an axis of engine time with lanes that are written, a meter of memory.

A letter is whose it is, a digit is when. A coin is a slice on its way: smaller, on its wire, so that it covers nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.board.film.composition import Composition, Flight
from app.board.film.lens import Lens, Span
from app.board.film.track import BLINK, Way
from app.board.film.wire import Wire
from app.board.legend import words_width
from app.board.svg import OWNERS

LETTERS = "ABCDEFGH"
COIN = (22.0, 20.0)
LANE = 24.0


def tile(
    picture: Composition, width: float, height: float, owner: int, key: str, over: str = "", letter: bool = True
) -> None:
    """A slice in its place, its upper left corner at the origin.

    over   hatched for gradients, dotted for optimizer state; weights have nothing over their colour
    """
    picture.rectangle(0, 0, width, height, fill=OWNERS[owner], key=key)
    if over:
        picture.path(f"M0 0h{width:.1f}v{height:.1f}h{-width:.1f}z", fill=over, ink="")
    if letter:
        picture.text(width / 2, height / 2 + 6, LETTERS[owner], "read", anchor="middle", ink="letter")


def coin(
    picture: Composition,
    key: str,
    owner: int,
    rides: Sequence[tuple[float, float, Wire, float]],
    lens: Lens,
    over: str = "",
    letter: bool = True,
) -> None:
    """A slice on its way, there only while its bytes move.

    rides   start and end of each in engine time, the wire, bytes
    """
    wide, tall = COIN
    start = rides[0][2].at(0)
    way, flights = Way(*start, here=False), []
    for begins, ends, wire, n_bytes in rides:
        span = lens.span(begins, ends)
        way.show(span[0][0], 0.0).ride(span, wire).hide(span[-1][0], 0.0)
        flights.append(Flight(wire, span[0][0], span[-1][0], n_bytes))
    with picture.actor(key, "coin", way, flights=flights, why="on its way: it is on its wire only while its bytes are"):
        picture.path(f"M{-wide / 2} {-tall / 2}h{wide}v{tall}h{-wide}z", fill=OWNERS[owner], stroke="thin")
        if over:
            picture.path(f"M{-wide / 2} {-tall / 2}h{wide}v{tall}h{-wide}z", fill=over, ink="")
        if letter:
            picture.text(0, 6, LETTERS[owner], "read", anchor="middle", ink="letter")


def badge(picture: Composition, x: float, y: float, owner: int, words: str = "") -> None:
    """Whose it is, in a circle, and a name beside it."""
    picture.circle(x, y, 11, fill=OWNERS[owner], key=f"badge-{owner}")
    picture.text(x, y + 6, LETTERS[owner], "read", anchor="middle", ink="letter")
    if words:
        picture.text(x + 18, y + 7, words, "caption")


@dataclass(frozen=True)
class Axis:
    """Engine time across the picture: straight, always.

    left, right   of the picture
    start, end    engine time there
    """

    left: float
    right: float
    start: float
    end: float

    def x(self, e: float) -> float:
        """Where a moment is."""
        return self.left + (self.right - self.left) * (e - self.start) / (self.end - self.start)


@dataclass(frozen=True)
class Cell:
    """A piece of work on a lane, in engine time.

    words   inside, where they fit
    fill    once it is done
    why     for those who ask it
    """

    start: float
    end: float
    words: str = ""
    fill: str = "f"
    why: str = ""


def lane(picture: Composition, axis: Axis, y: float, cells: Sequence[Cell], tall: float = LANE) -> None:
    """The outlines of a lane's work, straight: what follows on something touches it."""
    picture.cells(
        [(axis.x(cell.start), y, max(axis.x(cell.end) - axis.x(cell.start), 1.2), tall) for cell in cells], ink="ghost"
    )


def named(picture: Composition, axis: Axis, y: float, cells: Sequence[Cell], tall: float = LANE) -> None:
    """The words of a lane's work, where they fit. Drawn last, they lie above what has been written."""
    for cell in cells:
        x, width = axis.x(cell.start), axis.x(cell.end) - axis.x(cell.start)
        if cell.words and words_width(cell.words) < width - 4:
            picture.text(x + width / 2, y + tall / 2 + 6, cell.words, "read", anchor="middle")


def written(
    picture: Composition,
    key: str,
    axis: Axis,
    y: float,
    cells: Sequence[Cell],
    lens: Lens,
    until: float,
    tall: float = LANE,
    since: float = 0.0,
) -> None:
    """The same work as it is done: each cell fills behind the playhead.

    since, until   film seconds between which the lane is there
    """
    for at, cell in enumerate(cells):
        span = lens.span(cell.start, cell.end)
        if span[0][0] >= until:
            continue
        way = Way(axis.x(cell.start), y, here=False, wide=0).show(max(span[0][0], since), 0.0).grow(span, wide=1)
        if until < lens.length:
            way.hide(until)
        with picture.actor(f"{key}-{at}", "work", way, why=cell.why):
            width = max(axis.x(cell.end) - axis.x(cell.start), 1.2)
            picture.cells([(0, 0, width, tall)], fill=cell.fill)


def playhead(
    picture: Composition, key: str, axis: Axis, top: float, bottom: float, lens: Lens, since: float, until: float
) -> None:
    """Now, through all lanes.

    since, until   film seconds between which it is there
    """
    span = lens.span(axis.start, axis.end)
    way = Way(axis.left, top, here=since <= 0)
    if since > 0:
        way.show(since)
    way.go(span, axis.right, top, eased=False)
    if until < lens.length:
        way.hide(until)
    with picture.actor(key, "playhead", way):
        picture.line(0, 0, 0, bottom - top, ink="bad", stroke="thick", key="playhead")


def sweep(
    picture: Composition,
    key: str,
    x: float,
    y: float,
    width: float,
    tall: float,
    spans: Sequence[tuple[float, float]],
    lens: Lens,
) -> None:
    """Work on what lies there: a shade that crosses it while it is computed, each time anew.

    spans   start and end in engine time
    """
    way = Way(x, y, here=False, wide=0)
    for start, end in spans:
        span = lens.span(start, end)
        way.show(span[0][0], 0.0).grow(_at(span[0][0]), wide=0).grow(span, wide=1).hide(span[-1][0])
    with picture.actor(key, "sweep", way, why="computed now: the shade is as far as the work"):
        picture.cells([(0, 0, width, tall)], fill="sweep", ink="rule")


def level(lens: Lens, changes: Sequence[tuple[float, float]], x: float, y: float) -> Way:
    """A way whose width is an amount over engine time, in steps: (from when on, how much).

    The drawing is one unit wide; what is held jumps when it is taken or given back. Nothing is there before the first.
    """
    way = (
        Way(x, y, here=False, wide=0.0)
        .show(lens.begins(changes[0][0]), 0.0)
        .grow(_at(lens.begins(changes[0][0])), wide=changes[0][1])
    )
    for e, amount in changes[1:]:
        t = lens.begins(e)
        way.grow(_at(t), wide=amount)
    return way


def _at(t: float) -> Span:
    """A way that is done at once."""
    return ((t, 0.0), (t, 1.0))


def faded(way: Way, lens: Lens, since: float, until: float) -> Way:
    """Part of one act only: comes at `since`, goes at `until`, both film seconds."""
    if since > 0:
        way.show(since + 3 * BLINK, 3 * BLINK)
    if until < lens.length:
        way.hide(until, 3 * BLINK)
    return way


def hue(owner: int, owners: int) -> str:
    """An owner's fill. There are four hues: of more owners the first and the last three have one, the others are grey."""
    if owners <= len(OWNERS) or owner == 0:
        return OWNERS[owner]
    return OWNERS[owner - owners] if owner >= owners - 3 else "plain"


def waited(
    picture: Composition, key: str, axis: Axis, y: float, cells: Sequence[Cell], lens: Lens, until: float, tall: float
) -> None:
    """Idle time on a lane, hatched behind the playhead. It is uncovered, not stretched: a hatch keeps its pitch.

    until   film seconds from which the lane is gone
    """
    for at, cell in enumerate(cells):
        span, width = lens.span(cell.start, cell.end), max(axis.x(cell.end) - axis.x(cell.start), 1.2)
        way = Way(axis.x(cell.start), y, here=False, shown=0).show(span[0][0], 0.0).uncover(span)
        if until < lens.length:
            way.hide(max(until, span[-1][0]))
        with picture.actor(f"{key}-{at}", "waiting", way, window=(width, tall), why=cell.why):
            picture.cells([(0, 0, width, tall)], fill="waiting", ink="ghost")
