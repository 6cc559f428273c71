"""Matrices of activations in the tensor parallel film: made row by row, whole in pieces, with the line that computes them."""

from app.board.film.composition import Composition
from app.board.film.lens import Lens, Span
from app.board.film.pieces import LETTERS, tile
from app.board.film.track import Way
from app.board.scenes.tp.places import Box, Places
from app.board.scenes.tp.ring import Gesture
from app.board.svg import OWNERS

SMALLEST = 12.0  # a slice thinner than this has no room for its letter
PARTIAL = 0.4  # opacity of a matrix that is one of several parts of a sum
LEAVE = 0.3  # s in which something leaves with its act


def made(
    picture: Composition,
    key: str,
    box: Box,
    span: Span,
    until: float,
    *,
    opacity: float = 1.0,
    fill: str = "activations",
    why: str = "",
    over: float = LEAVE,
) -> None:
    """A matrix that comes into being from its first row to its last."""
    way = Way(box.x, box.y, here=False, tall=0).show(span[0][0], 0.0, opacity).grow(span, tall=1).hide(until, over)
    with picture.actor(key, "field", way, why=why):
        picture.rectangle(0, 0, box.wide, box.tall, fill=fill, radius=min(6.0, box.wide / 3), key=f"field-{box.wide}")


def banded(picture: Composition, box: Box, owner: int, along: str, fill: str = "activations") -> None:
    """A piece of a matrix with the colour of its owner at its edge, its corner at the origin."""
    picture.cells([(0, 0, box.wide, box.tall)], fill=fill)
    edge = (0, 0, 5, box.tall) if along == "rows" else (0, 0, box.wide, 6)
    picture.cells([edge], fill=OWNERS[owner])


def pieces(
    picture: Composition,
    key: str,
    box: Box,
    gpu: int,
    n: int,
    along: str,
    gesture: Gesture,
    lens: Lens,
    until: float,
    *,
    fill: str = "activations",
    over: float = LEAVE,
) -> None:
    """A matrix that a collective makes whole on a GPU, piece by piece."""
    for piece in range(n):
        since = gesture.whole_at(gpu, piece, n)
        if since is None:
            continue
        part = box.part(piece, n, along)
        way = Way(part.x, part.y, here=False).show(lens.ends(since), 0.0).hide(until, over)
        why = "whole: all parts are in it" if gesture.scatters else "whole: it came from its owner"
        with picture.actor(f"{key}-{piece}", "piece", way, why=why):
            banded(picture, part, piece, along, fill)


def row_line(picture: Composition, key: str, left: float, right: float, box: Box, span: Span) -> None:
    """The row that is being multiplied: it runs down both factors and what they make."""
    start, end = span[0][0], span[-1][0]
    way = Way(left - 4, box.y, here=False).show(start, 0.0).go(span, left - 4, box.y + box.tall, eased=False)
    with picture.actor(key, "sweep", way.hide(end), why="computed now: the shade is as far as the work"):
        picture.line(0, 0, right - left + 8, 0, ink="bad", stroke="thick", key="row")


def label(
    picture: Composition, key: str, box: Box, words: str, since: float, until: float, *, over: float = LEAVE
) -> None:
    """What a matrix is, in its middle."""
    way = Way(box.middle, box.y + box.tall / 2 + 6, here=False).show(since).hide(max(until, since), over)
    with picture.actor(key, "words", way):
        picture.text(0, 0, words, "read", anchor="middle")


def seated(picture: Composition, name: str, at: Places, gpu: int, since: float, until: float) -> None:
    """The slices of A, by columns, and of B, by rows, in their seats on a GPU."""
    for matrix, along in (("A", "columns"), ("B", "rows")):
        seat = at.matrix(gpu, matrix).part(gpu, at.n, along)
        way = Way(seat.x, seat.y, here=False).show(since, LEAVE).hide(until, LEAVE)
        with picture.actor(f"{name}-{matrix}-{gpu}", "slice", way, why=f"GPU {LETTERS[gpu]}'s {along} of {matrix}"):
            letter = min(seat.wide, seat.tall) >= SMALLEST
            tile(picture, seat.wide, seat.tall, gpu, f"slice-{matrix}-{gpu}", letter=letter)
