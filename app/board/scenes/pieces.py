"""Pieces that scenes share: a GPU, a field of memory, lanes of time, a legend line. All numbers come from the caller."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.board.legend import words_width
from app.board.scenes.base import WIDTH, SceneFigure

LANE, LANE_GAP = 26.0, 10.0


@dataclass(frozen=True)
class Bar:
    """A piece of work on a lane.

    start, end   in the unit of the lane's time
    fill         as in svg.py: f, b, w, tp-pale, dp …
    words        inside, where they fit
    why          told to those who point at it
    """

    start: float
    end: float
    fill: str
    words: str = ""
    why: str = ""
    ink: str = "ink"


@dataclass(frozen=True)
class Lane:
    """What one resource does over time."""

    name: str
    bars: tuple[Bar, ...]


def gpu(figure: SceneFigure, x: float, y: float, width: float, height: float, title: str, ink: str = "ink") -> None:
    """The outline of a GPU with its name on top."""
    figure.rectangle(x, y, width, height, fill="board", ink=ink, key=f"gpu-{title}")
    figure.text(x + width / 2, y + 22, title, "caption", anchor="middle")


def block(
    figure: SceneFigure,
    x: float,
    y: float,
    width: float,
    height: float,
    fill: str,
    key: str,
    words: str = "",
    *,
    ghost: bool = False,
    radius: float = 0,
    ink: str = "ink",
) -> None:
    """A field of memory: weights solid, gradients hatched, optimizer dotted, activations round. A ghost is not here now."""
    if ghost:
        figure.rectangle(x, y, width, height, ink="ghost", stroke="dashed", key=key, radius=radius)
    else:
        stroke = "normal" if min(width, height) > 8 else "thin"
        figure.rectangle(x, y, width, height, fill=fill, stroke=stroke, key=key, radius=radius, ink=ink)
    if words and words_width(words) < width - 4:
        figure.text(x + width / 2, y + height / 2 + 6, words, "read", anchor="middle", ink="soft" if ghost else "ink")


def lanes(
    figure: SceneFigure,
    y: float,
    rows: Sequence[Lane],
    end: float,
    *,
    left: float = 92,
    right: float = WIDTH - 8,
    now: float | None = None,
    marks: Sequence[tuple[float, str]] = (),
) -> float:
    """Rows of work on one axis of time; `now` is a line through all. Gives the y below them.

    end     of the axis, in the bars' unit of time
    marks   moments worth a name below the axis
    """
    scale = (right - left) / end if end else 0.0
    for at, lane in enumerate(rows):
        top = y + at * (LANE + LANE_GAP)
        figure.text(0, top + LANE - 8, lane.name, "remark", ink="ink")
        figure.line(left, top + LANE, right, top + LANE, ink="rule", stroke="thin", key=f"axis-{lane.name}")
        for bar in lane.bars:
            _bar(figure, bar, left + bar.start * scale, top, max(2.0, (bar.end - bar.start) * scale))
    bottom = y + len(rows) * (LANE + LANE_GAP)
    for time, words in marks:
        figure.text(left + time * scale, bottom + 12, words, "read", anchor="middle", ink="soft")
    if now is not None:
        figure.line(left + now * scale, y - 8, left + now * scale, bottom - 4, ink="bad", stroke="thick", key="now")
    return bottom + (20 if marks else 0)


def _bar(figure: SceneFigure, bar: Bar, x: float, top: float, width: float) -> None:
    """Straight, so that work which follows on work touches it."""

    def draw() -> None:
        stroke = "normal" if width > 10 else "thin"
        figure.cells([(x, top, width, LANE)], fill=bar.fill, ink=bar.ink, stroke=stroke)

    if bar.why:
        with figure.tip(bar.why):
            draw()
    else:
        draw()
    if bar.words and words_width(bar.words) < width - 6:
        figure.text(x + width / 2, top + LANE - 8, bar.words, "read", anchor="middle")


def strip(
    figure: SceneFigure,
    x: float,
    y: float,
    width: float,
    height: float,
    parts: Sequence[tuple[str, float]],
    capacity: float,
    key: str,
    words: str = "",
) -> None:
    """Memory of one GPU as a strip: parts (fill, amount) side by side against its capacity, in one unit."""
    figure.rectangle(x, y, width, height, fill="board", key=f"{key}-capacity")
    at, scale = x, width / capacity
    for fill, amount in parts:
        size = min(amount * scale, x + width - at)
        if size > 0.5:
            block(figure, at, y, size, height, fill, f"{key}-{fill}")
        at += size
    if words:
        figure.text(x, y + height + 20, words, "number")
