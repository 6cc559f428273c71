"""One step of a real run as its ranks lived it: a lane for each, computing, and the collectives it issued by axis."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.board.legend import Entry, legend
from app.board.linked import LinkedFigure
from engine.language.units import seconds_text

WIDE, NARROW = 720.0, 360.0
LEFT, TOP, ROW = 66.0, 6.0, 36.0
SHORTEST_S = 1e-9  # a step without any length has none to draw to scale
WORK, TALK = 15.0, 11.0  # heights of the two parts of a lane
WORDS = {"f": "forward", "b": "backward", "optimizer": "optimizer", "plain": "computing"}
NAMED = ("tp", "cp", "ep", "pp", "dp")


@dataclass(frozen=True)
class Lane:
    """One rank in one step. Times in seconds from the start of the first rank's step.

    calls   axis, start and end of each collective
    work    fill, start and end of each part of the step: f forward, b backward, optimizer
    """

    name: str
    start_s: float
    end_s: float
    calls: tuple[tuple[str, float, float], ...]
    work: tuple[tuple[str, float, float], ...] = ()

    @property
    def parts(self) -> tuple[tuple[str, float, float], ...]:
        return self.work or (("plain", self.start_s, self.end_s),)


def axis_of(name: str) -> str:
    """The axis whose colour a group of this name takes: dp_shard is dp's.

    >>> axis_of("dp_replicate"), axis_of("world")
    ('dp', 'dp')
    """
    return next((axis for axis in NAMED if name.startswith(axis)), "dp")


def rank_lanes(lanes: Sequence[Lane], *, narrow: bool = False) -> LinkedFigure:
    """A lane for each rank: the step above, its collectives below, all on one clock."""
    width = NARROW if narrow else WIDE
    whole = max((lane.end_s for lane in lanes), default=1.0)
    whole = whole if whole >= SHORTEST_S else 1.0
    scale = (width - LEFT - 4) / whole
    axes = sorted({axis_of(axis) for lane in lanes for axis, _, _ in lane.calls}, key=NAMED.index)
    told = f"{len(lanes)} ranks; the step took {seconds_text(whole)}. " + "; ".join(
        f"{lane.name} issued {len(lane.calls)} collectives" for lane in lanes
    )
    figure = LinkedFigure("rank-lanes", width, 0, "One step, rank by rank", told)
    for at, lane in enumerate(lanes):
        y = TOP + at * ROW
        figure.text(0, y + 17, lane.name)
        for fill, start, end in lane.parts:
            figure.cells([(LEFT + start * scale, y, max(1.0, (end - start) * scale), WORK)], fill=fill)
        for axis in axes:
            spans = [
                (LEFT + start * scale, y + WORK + 2, max(1.4, (end - start) * scale), TALK)
                for name, start, end in lane.calls
                if axis_of(name) == axis
            ]
            if spans:
                figure.cells(spans, fill=axis, ink="")
    bottom = TOP + len(lanes) * ROW + 4
    figure.text(width - 4, bottom + 12, seconds_text(whole), "number", anchor="end")
    kinds = [kind for kind in WORDS if any(kind == part for lane in lanes for part, _, _ in lane.parts)]
    entries = [
        *(Entry(kind, WORDS[kind]) for kind in kinds),
        *(Entry(axis, f"{axis.upper()} on the wire") for axis in axes),
    ]
    figure.height = legend(figure, entries, LEFT, bottom, width - LEFT - 80)[1] + 4
    return figure
