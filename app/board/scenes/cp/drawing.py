"""What the frames of the context-parallel scene are made of: the causal triangle, rows of ranks, bars of work, a ring."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.board.scenes.base import WIDTH, SceneFigure
from app.board.scenes.pieces import block
from engine.lens.ring_attention import Partial

LEFT, TOP, SIDE = 84.0, 32.0, 264.0  # of the square of queries by keys
RIGHT = LEFT + SIDE + 26  # where a rank's row goes on
BARS, LONGEST = RIGHT + 72, WIDTH - 16 - (RIGHT + 72)

Shade = Callable[[int, int], str]  # row and column of a cell -> its fill, or "" for none


def triangle(figure: SceneFigure, strips: int, shade: Shade, side: str = "queries") -> None:
    """Queries by keys under a causal mask, cut into strips of queries; what the mask hides is left out.

    side   what stands beside the strips
    """
    cell = SIDE / strips
    figure.text(LEFT, TOP - 12, "keys", "remark")
    figure.text(0 if side == "queries" else 36, TOP - 12, side, "remark")
    for row in range(strips):
        for column in range(row + 1):
            _cell(figure, LEFT + column * cell, TOP + row * cell, cell, row == column, shade(row, column))
    for row in range(strips + 1):
        y = TOP + row * cell
        figure.line(LEFT, y, LEFT + SIDE, y, ink="rule", stroke="thin", key=f"cut-{strips}-{row}")
    corners = ((LEFT, TOP), (LEFT + SIDE, TOP + SIDE), (LEFT, TOP + SIDE), (LEFT, TOP))
    with figure.tip("above the diagonal lie keys of the future: the mask hides them"):
        figure.polyline(corners, key="triangle")


def _cell(figure: SceneFigure, x: float, y: float, size: float, half: bool, fill: str) -> None:
    if not fill:
        return
    far, low = f"{x + size:.1f}", f"{y + size:.1f}"
    corner = f"M{x:.1f} {y:.1f}L{far} {low}L{x:.1f} {low}Z" if half else f"M{x:.1f} {y:.1f}H{far}V{low}H{x:.1f}Z"
    figure.path(corner, fill=fill, ink="ink" if fill == "cp" else "rule", stroke="thin")


def owners(figure: SceneFigure, ranks: Sequence[int], names: bool = True) -> None:
    """Beside each strip, the rank that works on it."""
    tall = SIDE / len(ranks)
    for row, rank in enumerate(ranks):
        words = f"GPU {rank}" if names else f"{rank}"
        figure.text(LEFT - 10, TOP + row * tall + tall / 2 + 6, words, "read", anchor="end")


def middle(row: int, rows: int) -> float:
    """The height of a rank's row."""
    return TOP + SIDE * (row + 0.5) / rows


def tall(rows: int) -> float:
    """How high a piece in a rank's row may be."""
    return min(34.0, SIDE / rows - 7)


def chips(figure: SceneFigure, rank: int, rows: int, source: int, ink: str = "ink") -> None:
    """A rank's queries, which stay, and the keys and values it has now, which travel. `source` is whose they are."""
    y, high = middle(rank, rows) - tall(rows) / 2, tall(rows)
    with figure.tip("queries stay where they are"), figure.at(f"q-{rank}", RIGHT, y):
        block(figure, 0, 0, 54, high, "activations", f"q-{rank}", f"Q{rank}", radius=9)
    with figure.tip("keys and values go from rank to rank"), figure.at(f"kv-{source}", RIGHT + 72, y):
        block(figure, 0, 0, 58, high, "activations", f"k-{source}", f"K{source}", radius=9, ink=ink)
        block(figure, 62, 0, 58, high, "activations", f"v-{source}", f"V{source}", radius=9, ink=ink)


def gradient_chips(figure: SceneFigure, rank: int, rows: int, source: int) -> None:
    """The gradients of keys and values, which ride behind them."""
    y, high = middle(rank, rows) - tall(rows) / 2, tall(rows)
    with (
        figure.tip("each rank adds its part; after a full round they are home"),
        figure.at(f"dkv-{source}", RIGHT + 194, y),
    ):
        block(figure, 0, 0, 46, high, "gradients", f"dkv-{source}", radius=9, ink="cp")


def ring(figure: SceneFigure, rows: int, x: float, stroke: str = "thick") -> None:
    """Each rank hands to the next one down; the last to the first."""
    for row in range(rows - 1):
        figure.arrow(
            x,
            middle(row, rows) + 3,
            x,
            middle(row + 1, rows) - 3,
            ink="cp",
            stroke=stroke,
            lift=-7,
            size=9,
            key=f"hop-{row}",
        )
    out = x + 34
    first, last = middle(0, rows), middle(rows - 1, rows)
    figure.polyline(
        ((x + 4, last), (out, last), (out, first), (x + 12, first)), ink="cp", stroke=stroke, key="hop-back"
    )
    figure.polyline(((x + 15, first - 6), (x + 5, first), (x + 15, first + 6)), ink="cp", stroke=stroke, key="hop-head")


def state(figure: SceneFigure, rank: int, rows: int, works: bool) -> None:
    """Whether a rank computes in this step or has nothing it may look at."""
    y = middle(rank, rows) + 6
    figure.text(WIDTH - 4, y, "computes" if works else "waits", "read", anchor="end", ink="ink" if works else "bad")
    if not works:
        with figure.tip("these keys are in the future of all its queries"):
            block(figure, WIDTH - 76, y - 17, 24, 22, "waiting", f"waits-{rank}", ink="ghost")


def work_bars(figure: SceneFigure, pieces: Sequence[Sequence[tuple[int, float]]], most: float, accent: int) -> None:
    """Work of each rank as a bar of its pieces, (strip, work), with a flag where it is done and the wait for the last one.

    most     work that fills the width: the same in all frames that are to be compared
    accent   the rank that is spoken of
    """
    rows, high = len(pieces), tall(len(pieces))
    last = max(sum(work for _, work in mine) for mine in pieces)
    for rank, mine in enumerate(pieces):
        y, x = middle(rank, rows) - high / 2, BARS
        figure.text(RIGHT, y + high / 2 + 6, f"GPU {rank}", "read")
        for strip, work in mine:
            long = work / most * LONGEST
            with figure.tip(f"strip {strip}"), figure.at(f"work-{strip}", x, y):
                block(figure, 0, 0, long, high, "cp" if rank == accent else "f", f"work-{strip}")
            x += long
        end = BARS + last / most * LONGEST
        if x < end - 3:
            with figure.tip("idle: done early, waits for the last one"):
                block(figure, x, y, end - x, high, "waiting", f"idle-{rank}", ink="ghost")
        _flag(figure, x, y - 3, high + 3, "bad" if x >= end - 3 and last >= most * (1 - 1e-9) else "good", rank)


def _flag(figure: SceneFigure, x: float, y: float, high: float, ink: str, rank: int) -> None:
    """Done."""
    figure.line(x, y + high, x, y, ink=ink, stroke="thick", key=f"pole-{rank}")
    figure.polyline(((x, y), (x + 12, y + 5), (x, y + 10)), fill="board", ink=ink, key=f"flag-{rank}")


def in_order_mark(figure: SceneFigure) -> None:
    """Where the last rank would be done if strips were dealt in order."""
    x = BARS + LONGEST
    figure.line(x, TOP - 4, x, TOP + SIDE, ink="bad", stroke="dashed", key="in-order")
    figure.text(x + 8, TOP - 12, "in order: here", "read", ink="bad", anchor="end")


def answers(figure: SceneFigure, rows: Sequence[tuple[str, str]], y: float = 326) -> None:
    """Answers side by side under their names."""
    for at, (name, text) in enumerate(rows):
        x = 4 + at * (WIDTH - 8) / len(rows)
        figure.text(x, y, name, "remark")
        figure.text(x, y + 38, text, "answer")


COLUMNS = (("old sum times", 290), ("largest score", 440), ("sum", 550), ("output", 690))


@dataclass(frozen=True)
class Running:
    """A query after one more block of keys.

    source   whose keys
    result   over all keys so far
    scale    what the sum so far was multiplied with, to fit a larger maximum; None for the first block
    """

    source: int
    result: Partial
    scale: float | None


def merging(figure: SceneFigure, rank: int, rows: Sequence[Running], whole: Partial) -> None:
    """One query's running softmax, a row for each block that arrives; below, the same over all keys at once."""
    pitch = min(62.0, 280 / len(rows))
    high = min(34.0, pitch - 6)
    for name, x in COLUMNS:
        figure.text(x, 62, name, "remark", anchor="end")
    figure.text(4, 24, f"one query of GPU {rank}, a block at a time", "caption")
    for at, row in enumerate(rows):
        y = 74 + at * pitch
        with figure.at(f"kv-{row.source}", 4, y):
            block(figure, 0, 0, 58, high, "activations", f"k-{row.source}", f"K{row.source}", radius=9, ink="cp")
            block(figure, 62, 0, 58, high, "activations", f"v-{row.source}", f"V{row.source}", radius=9, ink="cp")
        _values(figure, y + high / 2 + 6, row.result, row.scale)
    y = 76 + len(rows) * pitch
    figure.line(4, y, WIDTH - 8, y, ink="rule", key="total")
    figure.text(4, y + 28, "all keys at once", "caption")
    _values(figure, y + 28, whole)
    figure.tick(COLUMNS[-1][1] + 14, y + 28, 16, key="same")


def _values(figure: SceneFigure, y: float, result: Partial, scale: float | None = None) -> None:
    for (_, x), value in zip(COLUMNS, (scale, result.maximum, result.total, result.output), strict=True):
        if value is not None:
            ink = "bad" if value == scale and value < 1 else "ink"
            figure.text(x, y, f"{value:.3f}", "number", anchor="end", ink=ink)
