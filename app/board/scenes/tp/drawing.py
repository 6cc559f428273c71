"""What the tensor parallel scene draws: matrices whole, cut or in sheets, and the frames made of them."""

from app.board.legend import words_width
from app.board.scenes.base import SceneFigure
from app.board.scenes.pieces import block

Box = tuple[float, float, float, float]

# A product is drawn as on paper: the left factor left of the result, the right factor above it.
X: Box = (28, 268, 84, 92)
Y: Box = (146, 268, 250, 92)
A: Box = (146, 156, 250, 76)
B: Box = (430, 16, 84, 216)
Z: Box = (430, 268, 84, 92)


def pieces(box: Box, n: int, along: str, gap: float) -> list[Box]:
    """A box cut into n: `along` columns, rows, or sheets that lie on each other."""
    x, y, width, height = box
    if along == "columns":
        size = (width - gap * (n - 1)) / n
        return [(x + i * (size + gap), y, size, height) for i in range(n)]
    if along == "rows":
        size = (height - gap * (n - 1)) / n
        return [(x, y + i * (size + gap), width, size) for i in range(n)]
    step = min(9.0, 36.0 / n)
    return [(x + (n - 1 - i) * step, y - (n - 1 - i) * step, width, height) for i in range(n)]


def matrix(
    figure: SceneFigure,
    name: str,
    box: Box,
    n: int = 1,
    along: str = "",
    *,
    fill: str = "activations",
    gap: float = 5,
    ghost: bool = False,
    tip: str = "",
) -> None:
    """A matrix: whole with its name in it, or in n pieces with the numbers of their GPUs."""
    x, y, width, height = box
    if not along:
        with figure.at(name, x, y):
            _piece(figure, name, width, height, fill, name, ghost)
        return
    for i, (left, top, wide, high) in enumerate(pieces(box, n, along, gap)):
        words = "" if along == "sheets" else str(i)
        with figure.tip(tip or f"GPU {i} has this piece of {name}"), figure.at(f"{name}-{i}", left, top):
            _piece(figure, f"{name}-{i}", wide, high, fill, words, ghost)


def joined(figure: SceneFigure, name: str, box: Box, n: int, along: str, fill: str) -> None:
    """A whole matrix made of the pieces that it will be cut into, so that the cut can be seen to open."""
    x, y, width, height = box
    for i, (left, top, wide, high) in enumerate(pieces(box, n, along, 0)):
        with figure.at(f"{name}-{i}", left, top):
            figure.cells([(0, 0, wide + 0.4, high + 0.4)], fill=fill, ink="")
    figure.rectangle(x, y, width, height, key=f"{name}-whole")
    with figure.group("on-solid"):
        figure.text(x + width / 2, y + height / 2 + 9, name, "title", anchor="middle")


def _piece(figure: SceneFigure, key: str, width: float, height: float, fill: str, words: str, ghost: bool) -> None:
    radius = 9 if fill == "activations" else 0
    block(figure, 0, 0, width, height, fill, key, ghost=ghost, radius=radius)
    style = "title" if words.isalpha() else "read"
    if words and words_width(words, style) < width and height > 18:
        with figure.group("on-solid" if fill == "weights" and not ghost else ""):
            figure.text(
                width / 2,
                height / 2 + (9 if style == "title" else 6),
                words,
                style,
                anchor="middle",
                ink="soft" if ghost else "ink",
            )


def mark(figure: SceneFigure, x: float, y: float, words: str, *, strong: bool, key: str, radius: float = 18) -> None:
    """A round sign where ranks meet: a sum is strong, passing on is pale."""
    figure.circle(x, y, radius, fill="tp" if strong else "board", ink="ink" if strong else "ghost", key=key)
    with figure.group("on-solid" if strong else ""):
        figure.text(x, y + 7, words, "caption", anchor="middle", ink="ink" if strong else "soft")


def note(figure: SceneFigure, x: float, y: float, rows: tuple[tuple[str, str], ...], ink: str = "ink") -> None:
    """Names with the numbers below them."""
    for at, (name, text) in enumerate(rows):
        figure.text(x, y + at * 62, name, "remark")
        figure.text(x, y + 30 + at * 62, text, "title", ink=ink)
