"""How wide words come out in a drawing, and swatches with their names: what a fill means, by pattern or letter."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.board.linked import LinkedFigure

SIZES = {"title": 26, "answer": 34, "caption": 20, "remark": 20, "read": 16, "small": 13, "number": 16, "cell": 12}
MONO = ("number", "cell")
HAND = ("title", "answer", "caption", "remark")
SLIM, WIDE, BROAD = "fijlrt.,:;'|!()[] ·", "w0123456789", "mMW%@"  # letters of a like width, over both faces


def words_width(words: str, style: str = "read") -> float:
    """Width that words take, a little on the safe side: a drawing has no browser to ask.   [units of the drawing]

    >>> words_width("34.4 GiB", "number"), round(words_width("activations"))
    (76.8, 80)
    """
    size = SIZES[style]
    if style in MONO:
        return 0.6 * size * len(words)
    slim, plain = (0.37, 0.52) if style in HAND else (0.31, 0.54)
    return size * sum(
        slim if sign in SLIM else 0.9 if sign in BROAD else 0.63 if sign in WIDE or sign.isupper() else plain
        for sign in words
    )


@dataclass(frozen=True)
class Entry:
    """What one fill means.

    value    a number to print below the name, as text
    letter   written into the swatch where a colour has no pattern to go with it
    css      a class that tints the fill, if any
    """

    fill: str
    name: str
    value: str = ""
    letter: str = ""
    radius: float = 0
    ink: str = "ink"
    stroke: str = "thin"
    css: str = ""

    @property
    def width(self) -> float:
        return SWATCH + 7 + max(words_width(self.name), words_width(self.value))


SWATCH, GAP = 20, 14


def swatch(figure: LinkedFigure, entry: Entry, x: float, y: float, height: float = SWATCH) -> None:
    """A small sample of a fill with its letter."""
    with figure.group(entry.css):
        figure.rectangle(
            x,
            y,
            SWATCH,
            height,
            fill=entry.fill,
            ink=entry.ink,
            stroke=entry.stroke,
            radius=entry.radius,
            key=f"legend-{entry.name}",
        )
    if entry.letter:
        figure.text(x + SWATCH / 2, y + height / 2 + 4.5, entry.letter, "small", anchor="middle")


def legend(
    figure: LinkedFigure, entries: Iterable[Entry], x: float, y: float, width: float, columns: int = 0
) -> tuple[float, float]:
    """Entries from (x, y) on, wrapped at `width`. Gives where the last one ends: (right edge, base of its block).

    columns   so many of equal width; 0: each as wide as its words
    """
    entries = tuple(entries)
    tall = 38 if any(entry.value for entry in entries) else SWATCH
    at_x, at_y, column = x, y, (width / columns if columns else 0)
    for entry in entries:
        if at_x > x and at_x + entry.width > x + width + 0.1:
            at_x, at_y = x, at_y + tall + 8
        _entry(figure, entry, at_x, at_y, tall)
        at_x += column or entry.width + GAP
    return at_x - (column or GAP), at_y + tall


def _entry(figure: LinkedFigure, entry: Entry, x: float, y: float, tall: float) -> None:
    swatch(figure, entry, x, y, tall)
    figure.text(x + SWATCH + 7, y + 15, entry.name)
    if entry.value:
        figure.text(x + SWATCH + 7, y + 34, entry.value, ink="soft")


def spaced(wanted: Sequence[int], at: Sequence[float], least: float) -> list[int]:
    """Which of the wanted places can be labelled so that no two labels come closer than `least`; earlier ones win.

    >>> spaced([5, 0, 4, 9], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], least=3)
    [5, 0, 9]
    """
    kept: list[int] = []
    for place in wanted:
        if all(abs(at[place] - at[other]) >= least for other in kept):
            kept.append(place)
    return kept
