"""What each rank of a real run holds: weights, gradients and optimizer state side by side, against what was predicted."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.board.legend import Entry, legend, words_width
from app.board.linked import LinkedFigure
from engine.language.units import bytes_text

PARTS = ("weights", "gradients", "optimizer")
WIDE, NARROW = 720.0, 360.0
LEFT, RIGHT, TOP, ROW, BAR = 66.0, 96.0, 8.0, 32.0, 24.0


@dataclass(frozen=True)
class RankState:
    """Bytes of one rank, in the order of PARTS."""

    name: str
    bytes: tuple[float, ...]

    @property
    def total(self) -> float:
        return sum(self.bytes)


def held_bars(ranks: Sequence[RankState], predicted: Sequence[float], *, narrow: bool = False) -> LinkedFigure:
    """A bar for each rank, in the fills of the memory figure; a dashed line stands where the prediction ends.

    predicted   bytes that each rank should hold in all
    """
    width, rows = (NARROW if narrow else WIDE), len(ranks)
    longest = max([rank.total for rank in ranks] + list(predicted) + [1.0])
    scale = (width - LEFT - RIGHT) / longest
    told = "; ".join(f"{rank.name} {bytes_text(rank.total)}" for rank in ranks)
    figure = LinkedFigure("held-bars", width, 0, "What each rank holds", told, "memory-bars")
    for at, rank in enumerate(ranks):
        y, x = TOP + at * ROW, LEFT
        figure.text(0, y + 17, rank.name)
        for part, held in zip(PARTS, rank.bytes, strict=True):
            if held * scale > 0.5:
                figure.rectangle(x, y, held * scale, BAR, fill=part, key=f"{rank.name}-{part}")
                x += held * scale
        end = LEFT + (predicted[at] if at < len(predicted) else 0.0) * scale
        if predicted:
            figure.line(end, y - 5, end, y + BAR + 5, ink="good", stroke="dashed", key=f"{rank.name}-said")
        total = bytes_text(rank.total)
        figure.text(min(max(x, end) + 8, width - words_width(total, "number")), y + 17, total, "number")
    entries = [Entry(part, part) for part in PARTS] + (
        [Entry("", "predicted", ink="good", stroke="dashed")] if predicted else []
    )
    figure.height = legend(figure, entries, LEFT, TOP + rows * ROW + 8, width - LEFT)[1] + 4
    return figure
