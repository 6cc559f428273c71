"""One stage of a schedule that is being built: what it runs, when it waits and why, as far as it has been placed."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.board.figures.pipeline_sheet import FILLS
from app.board.figures.pipeline_timeline import NAMES
from app.board.legend import SIZES, words_width
from app.board.scenes.base import SceneFigure
from engine.pipeline.timeline import Interval
from engine.pipeline.waits import Wait

TALL, TOP, BAR = 52.0, 5.0, 38.0
WIDE, NARROW = 720.0, 330.0


@dataclass(frozen=True)
class Lane:
    """What one stage has been given.

    end     of the axis that all lanes share          [slots]
    goal    where the shortest known schedule ends    [slots]; 0 if none is known
    fresh   the operation placed last, if it is here
    """

    stage: int
    ops: tuple[Interval, ...]
    waits: tuple[Wait, ...]
    end: float
    goal: float
    fresh: Interval | None = None

    @property
    def words(self) -> str:
        """What it shows, for people who hear the page."""
        if not self.ops:
            return f"stage {self.stage} has run nothing yet"
        told = (
            f"{NAMES[op.kind]} {op.micro_batch}" + (" of the second chunk" if op.chunk else "") + f" at {op.start:g}"
            for op in self.ops
        )
        return f"stage {self.stage} runs {', '.join(told)}; done at {self.ops[-1].end:g}"


def lane(given: Lane, narrow: bool = False) -> SceneFigure:
    """The drawing of a lane, in one of two widths; each window sees one."""
    figure = SceneFigure("lane-narrow" if narrow else "lane", given.stage, f"stage {given.stage}", given.words, TALL)
    figure.width = NARROW if narrow else WIDE
    figure.css = f"build-drawing drawing-{'narrow' if narrow else 'wide'}"
    scale = (figure.width - 6) / given.end
    figure.line(2, TOP + BAR + 4, figure.width - 2, TOP + BAR + 4, ink="rule", stroke="thin", key="axis")
    figure.path(
        "".join(f"M{2 + slot * scale:.1f} {TOP + BAR + 4}v5" for slot in range(int(given.end) + 1)),
        ink="rule",
        stroke="thin",
    )
    for wait in given.waits:
        with figure.tip(wait.sentence):
            figure.cells([(2 + wait.start * scale, TOP, (wait.end - wait.start) * scale, BAR)], fill="waiting", ink="")
    for op in given.ops:
        _cell(figure, op, scale, op == given.fresh)
    if given.goal:
        x = 2 + given.goal * scale
        figure.line(x, 0, x, TALL, ink="good", stroke="dashed", key="goal")
    return figure


def _cell(figure: SceneFigure, op: Interval, scale: float, fresh: bool) -> None:
    x, width = 2 + op.start * scale, (op.end - op.start) * scale
    with figure.group(f"op-{op.kind.lower()} shade-{3 if op.chunk else 0}{' build-fresh' if fresh else ''}"):
        figure.cells([(x, TOP, width, BAR)], fill=FILLS[op.kind], stroke="normal" if width > 12 else "thin")
    letter = op.kind.lower() if op.chunk else op.kind
    words = _fitting((f"{letter}{op.micro_batch}", str(op.micro_batch)), width - 4)
    if words:
        figure.text(x + width / 2, TOP + BAR / 2 + SIZES["number"] * 0.35, words, "number", anchor="middle")


def _fitting(words: Sequence[str], room: float) -> str:
    """The first of these that there is room for."""
    return next((each for each in words if words_width(each, "number") <= room), "")
