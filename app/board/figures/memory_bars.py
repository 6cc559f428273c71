"""What one GPU holds: a bar for each pipeline stage, its parts side by side, against the memory of the GPU."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from app.board import pen
from app.board.legend import Entry, legend, spaced, words_width
from app.board.linked import LinkedFigure
from engine.language.formula import Term
from engine.language.units import GB, GIB, KB, KIB, MB, MIB, TB, TIB, bytes_text, digits_text
from engine.memory.stage import StageMemory

Link = Callable[[int, str], str]  # (stage, part) -> address; the part "total" is the whole stage

PARTS = ("weights", "gradients", "optimizer", "activations", "buffers")
LARGEST_AXIS = 3.0  # GPUs that the axis spans at most: longer bars are torn off
UNITS = {"KiB": KIB, "MiB": MIB, "GiB": GIB, "TiB": TIB, "kB": KB, "MB": MB, "GB": GB, "TB": TB}
DRAWN, OUTLINED = 8, 16  # stages up to which bars are drawn by hand, and have an outline at all
LABEL_GAP = 17.0


@dataclass(frozen=True)
class _Sheet:
    """Where everything stands."""

    stages: Sequence[StageMemory]
    capacity_bytes: float
    binary: bool
    narrow: bool

    left, top = 66.0, 28.0

    @property
    def width(self) -> float:
        return 360 if self.narrow else 720

    @cached_property
    def right(self) -> float:
        return self.width - 92

    @cached_property
    def fullest(self) -> StageMemory:
        return max(self.stages, key=lambda stage: stage.total.value)

    @cached_property
    def axis_bytes(self) -> float:
        longest = max(stage.needed.value for stage in self.stages)
        return min(max(longest, self.capacity_bytes), LARGEST_AXIS * self.capacity_bytes)

    @cached_property
    def limit(self) -> float:
        return self.x(self.capacity_bytes)

    @cached_property
    def pitch(self) -> float:
        count = len(self.stages)
        return (34 if count <= 4 else 29) if count <= DRAWN else max(4.2, min(20.0, 290 / count))

    @cached_property
    def bar(self) -> float:
        return self.pitch * (0.74 if len(self.stages) <= DRAWN else 0.8 if len(self.stages) <= OUTLINED else 1.0)

    @property
    def bottom(self) -> float:
        return self.top + self.pitch * len(self.stages)

    @cached_property
    def labelled(self) -> tuple[int, ...]:
        """Rows that have room for words: the fullest, the ends, then as many as fit evenly."""
        count = len(self.stages)
        ys = [self.y(row) for row in range(count)]
        even = [
            row for step in (8, 4, 2, 1) if step * self.pitch >= LABEL_GAP or step == 8 for row in range(0, count, step)
        ]
        return tuple(sorted(spaced([self.stages.index(self.fullest), 0, count - 1, *even], ys, LABEL_GAP)))

    def x(self, held_bytes: float) -> float:
        return self.left + min(held_bytes, self.axis_bytes) / self.axis_bytes * (self.right - self.left)

    def y(self, row: int) -> float:
        return self.top + row * self.pitch

    def torn(self, stage: StageMemory) -> bool:
        return stage.needed.value > self.axis_bytes * 1.0001

    def segments(self, stage: StageMemory) -> Iterator[tuple[str, Term, float, float]]:
        """Name, bytes, left edge and width of each part that can be seen."""
        start = 0.0
        for name, term in zip(PARTS, stage.parts, strict=True):
            left, end = self.x(start), self.x(start + term.value)
            start += term.value
            if end - left >= 0.3:
                yield name, term, left, end - left

    def text(self, held_bytes: float) -> str:
        return bytes_text(held_bytes, self.binary)


def memory_bars(
    stages: Sequence[StageMemory],
    capacity_bytes: float,
    *,
    narrow: bool = False,
    link: Link | None = None,
    binary: bool = True,
    name: str = "memory-bars",
) -> LinkedFigure:
    """A bar for each stage: its parts, then as a ghost what allocator and CUDA context take, against the capacity.

    capacity_bytes   memory of the GPU   [bytes]
    narrow           the composition for a phone
    link             gives each part an address, where its working is shown
    binary           GiB rather than GB

    Up to 8 stages are drawn by hand, more as thin straight bars, of which only some have words. A bar past the
    capacity is crossed out in red from there on; one of more than three times the capacity is torn off and says how
    much it needs.
    """
    sheet = _Sheet(stages, capacity_bytes, binary, narrow)
    name = f"{name}-narrow" if narrow else name
    css = "memory-bars " + ("drawing-narrow" if narrow else "drawing-wide")
    figure = LinkedFigure(name, sheet.width, 0, "What one GPU holds", description(stages, capacity_bytes, binary), css)
    draw = _rows_by_hand if len(stages) <= DRAWN else _rows_straight
    draw(figure, sheet, link)
    for row in sheet.labelled:
        _row_words(figure, sheet, row, link)
    figure.line(sheet.limit, 3, sheet.limit, sheet.bottom + 2, ink="bad", stroke="thick", key="limit")
    figure.text(sheet.limit + 7, 17, sheet.text(capacity_bytes), "caption", ink="bad")
    figure.height = _legend(figure, sheet, sheet.bottom + 12) + 4
    return figure


def description(stages: Sequence[StageMemory], capacity_bytes: float, binary: bool = True) -> str:
    """The bars in words: the fullest stage, its parts, and whether it fits."""
    fullest = max(stages, key=lambda stage: stage.total.value)
    parts = ", ".join(
        f"{name} {bytes_text(term.value, binary)}" for name, term in zip(PARTS, fullest.parts, strict=True)
    )
    spare = capacity_bytes - fullest.needed.value
    verdict = (
        f"which fits with {bytes_text(spare, binary)} to spare"
        if spare >= 0
        else f"{bytes_text(-spare, binary)} too much"
    )
    least = min(stage.total.value for stage in stages)
    others = f" The emptiest of {len(stages)} stages holds {bytes_text(least, binary)}." if len(stages) > 1 else ""
    return (
        f"Stage {fullest.stage} is the fullest with {bytes_text(fullest.total.value, binary)}: {parts}. With what allocator and"
        f" CUDA context reserve it needs {bytes_text(fullest.needed.value, binary)} of {bytes_text(capacity_bytes, binary)}, {verdict}.{others}"
    )


def _rows_by_hand(figure: LinkedFigure, sheet: _Sheet, link: Link | None) -> None:
    for row, stage in enumerate(sheet.stages):
        y, height = sheet.y(row), sheet.bar
        _tail(figure, sheet, stage, y)
        for part, term, x, width in sheet.segments(stage):
            stroke = "normal" if width > 9 else "thin"
            with _linked(figure, sheet, stage, part, term, link):
                figure.rectangle(
                    x,
                    y,
                    width,
                    height,
                    fill=part,
                    stroke=stroke,
                    radius=7 if part == "activations" else 0,
                    key=f"{stage.stage}-{part}",
                )
        if stage.needed.value > sheet.capacity_bytes:
            end = sheet.x(stage.needed.value)
            figure.rectangle(
                sheet.limit, y, end - sheet.limit, height, fill="overflow", ink="bad", key=f"{stage.stage}-over"
            )
            if sheet.torn(stage):
                _torn(figure, sheet, stage, end, y)


def _linked(figure: LinkedFigure, sheet: _Sheet, stage: StageMemory, part: str, term: Term, link: Link | None):
    """A link around a part. The tab key stops at the parts of the fullest stage, and once for each other stage."""
    if link is None:
        return figure.group(f"part-{part}")
    label = f"stage {stage.stage}, {part}: {sheet.text(term.value)}"
    return figure.link(link(stage.stage, part), label, tab=stage is sheet.fullest)


def _tail(figure: LinkedFigure, sheet: _Sheet, stage: StageMemory, y: float) -> None:
    start, end = sheet.x(stage.total.value), sheet.x(stage.needed.value)
    if end - start > 1.5:
        figure.rectangle(
            start, y + 1, end - start, sheet.bar - 2, ink="ghost", stroke="dashed", key=f"{stage.stage}-tail"
        )


def _torn(figure: LinkedFigure, sheet: _Sheet, stage: StageMemory, x: float, y: float) -> None:
    """The end of a bar that goes on: a zigzag in the colour of the board, and how far it would go."""
    step = sheet.bar / 4
    edge = [(x - (4 if at % 2 else -4), y - 3 + at * (sheet.bar + 6) / 5) for at in range(6)]
    figure.polyline([*edge, (x + 12, y + sheet.bar + 4), (x + 12, y - 4)], fill="board", ink="", key="tear")
    figure.polyline(edge, ink="bad", key="edge")
    words = f"needs {digits_text(stage.needed.value / sheet.capacity_bytes, 2)} GPUs"
    wide = words_width(words, "read") + 12
    figure.rectangle(x - wide - 12, y + step / 2, wide, sheet.bar - step, fill="board", ink="", key="plate")
    figure.text(x - wide - 6, y + sheet.bar / 2 + 5.5, words, ink="bad")


def _rows_straight(figure: LinkedFigure, sheet: _Sheet, link: Link | None) -> None:
    """One path for each kind of part, over all stages: it leads to the fullest stage's working."""
    boxes: dict[str, list[tuple[float, float, float, float]]] = {part: [] for part in PARTS}
    for row, stage in enumerate(sheet.stages):
        for part, _, x, width in sheet.segments(stage):
            boxes[part].append((x, sheet.y(row), width, sheet.bar))
    ink = "ink" if len(sheet.stages) <= OUTLINED else ""
    for part, term in zip(PARTS, sheet.fullest.parts, strict=True):
        if boxes[part]:
            with _linked(figure, sheet, sheet.fullest, part, term, link):
                figure.cells(boxes[part], fill=part, ink=ink)
    rows = [(row, sheet.x(stage.total.value), sheet.x(stage.needed.value)) for row, stage in enumerate(sheet.stages)]
    if ink:
        figure.cells(
            [(start, sheet.y(row), end - start, sheet.bar) for row, start, end in rows if end - start > 1.5],
            ink="ghost",
        )
    else:
        steps = "".join(f"H{pen.number(end)}v{pen.number(sheet.pitch)}" for _, _, end in rows)
        figure.path(f"M{pen.number(rows[0][1])} {pen.number(sheet.top)}{steps}", ink="ghost", stroke="dashed")
    over = [
        (sheet.limit, sheet.y(row), end - sheet.limit, sheet.bar) for row, _, end in rows if end > sheet.limit + 0.1
    ]
    if over:
        figure.cells(over, fill="overflow", ink="bad" if ink else "")
    torn = [row for row, stage in enumerate(sheet.stages) if sheet.torn(stage)]
    if torn:
        edge = [
            (sheet.right + (4 if at % 2 else -4), sheet.y(torn[0]) + at * sheet.pitch * len(torn) / 12)
            for at in range(13)
        ]
        figure.polyline(edge, ink="bad", key="edge")


def _row_words(figure: LinkedFigure, sheet: _Sheet, row: int, link: Link | None) -> None:
    """The stage before its bar, its total behind it."""
    stage = sheet.stages[row]
    end, total = sheet.x(stage.needed.value), sheet.text(stage.total.value)
    base = sheet.y(row) + sheet.bar / 2 + 5.5
    strong = stage is sheet.fullest and len(sheet.stages) > 1
    figure.text(0, base, f"stage {stage.stage}", ink="ink" if strong or len(sheet.stages) <= DRAWN else "soft")
    wide = words_width(total, "number")
    x = end + (16 if sheet.torn(stage) else 8)
    if end < sheet.limit + 6 and x + wide > sheet.limit - 6:
        x = sheet.limit + 9
    ink = "bad" if stage.needed.value > sheet.capacity_bytes else "ink"
    if link is None:
        figure.text(x, base, total, "number", ink=ink)
    else:
        with figure.link(link(stage.stage, "total"), f"stage {stage.stage}: {total} in all"):
            figure.text(x, base, total, "number", ink=ink)


def _legend(figure: LinkedFigure, sheet: _Sheet, y: float) -> float:
    """What the fills mean, with what the fullest stage holds of each, all in one unit. Gives where it ends."""
    whose, unit = f"stage {sheet.fullest.stage}", sheet.text(sheet.capacity_bytes).rpartition(" ")[2]
    size = UNITS.get(unit, 1.0)
    values = {name: digits_text(term.value / size) for name, term in zip(PARTS, sheet.fullest.parts, strict=True)}
    entries = [Entry(name, name, values[name], radius=6 if name == "activations" else 0) for name in PARTS]
    reserved = sheet.fullest.needed.value - sheet.fullest.total.value
    entries.append(Entry("", "reserved", digits_text(reserved / size), ink="ghost", stroke="dashed"))
    if sheet.narrow:
        figure.text(0, y + 14, f"{whose} in {unit}", "remark")
        return legend(figure, entries, 0, y + 24, sheet.width, 3)[1]
    figure.text(0, y + 15, whose, ink="soft")
    figure.text(0, y + 34, f"in {unit}", ink="soft")
    return legend(figure, entries, sheet.left, y, sheet.width - sheet.left)[1]
