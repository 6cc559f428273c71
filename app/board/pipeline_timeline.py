"""One step through the pipe: a row for each stage, what it computes and when it waits. Draws any Timeline."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from app.board import pen
from app.board.legend import GAP, SWATCH, Entry, legend, spaced, swatch, words_width
from app.board.linked import LinkedFigure
from engine.timeline import Interval, Timeline
from engine.units import count_text, seconds_text, share_text

FILLS = {"F": "f", "B": "b", "I": "b", "W": "w"}
NAMES = {"F": "forward", "B": "backward", "I": "input gradient", "W": "weight gradient"}
DRAWN = 150  # operations up to which cells are drawn by hand
STEADY, FINE, MERGED = 10.0, 7.0, 3.0  # mean widths of a cell below which it is straight, has a fine outline, joins a run
GAP_SEEN = 0.6  # shorter waits do not end a run
READABLE = 7.0  # mean width of a cell where the middle of a step is left out
SHADES = 4
BREAK = 30.0
LABEL_GAP = 16.0

Window = tuple[float, float, float, float]  # from time, to time, left edge, units of the drawing a unit of time


@dataclass(frozen=True)
class _Sheet:
    """Where everything stands."""

    timeline: Timeline
    left_out: bool
    narrow: bool

    top = 3.0

    @property
    def width(self) -> float:
        return 360 if self.narrow else 720

    @cached_property
    def left(self) -> float:
        return 62 if self.narrow else 66

    @cached_property
    def pitch(self) -> float:
        return max(5.0, min(36.0, 290 / self.timeline.stages))

    @property
    def bar(self) -> float:
        return self.pitch * 0.86 if self.pitch > 12 else self.pitch - 1

    @property
    def bottom(self) -> float:
        return self.top + self.pitch * self.timeline.stages

    @cached_property
    def windows(self) -> tuple[Window, ...]:
        """The part, or the two parts, of the step that are drawn."""
        room, whole = self.width - self.left - 2, self.timeline.makespan
        each = len(self.timeline.intervals) / self.timeline.stages
        if not self.left_out:
            return ((0.0, whole, self.left, room / whole),)
        scale = max(READABLE * each / whole, (room - BREAK) / whole)
        first = (room - BREAK) * 0.55
        last = room - BREAK - first
        return ((0.0, first / scale, self.left, scale), (whole - last / scale, whole, self.left + first + BREAK, scale))

    @cached_property
    def mean_cell(self) -> float:
        return sum(map(self.width_of, self.shown)) / max(1, len(self.shown))

    @cached_property
    def shown(self) -> tuple[Interval, ...]:
        """The intervals that are drawn, cut off at a break."""
        if len(self.windows) == 1:
            return self.timeline.intervals
        return tuple(
            interval._replace(start=max(interval.start, start), end=min(interval.end, end))
            for start, end, _, _ in self.windows
            for interval in self.timeline.intervals
            if interval.start < end and interval.end > start
        )

    @cached_property
    def kinds(self) -> str:
        present = {interval.kind for interval in self.shown}
        return "".join(kind for kind in FILLS if kind in present)

    @cached_property
    def chunks(self) -> int:
        return 1 + max((interval.chunk for interval in self.timeline.intervals), default=0)

    def shade(self, chunk: int) -> int:
        """Shade of a chunk, from 0 for the first to 3 for the last."""
        return round(chunk * (min(SHADES, self.chunks) - 1) / max(1, self.chunks - 1))

    def y(self, stage: int) -> float:
        return self.top + stage * self.pitch

    def width_of(self, interval: Interval) -> float:
        return (interval.end - interval.start) * self.windows[0][3]

    def box(self, interval: Interval) -> tuple[float, float, float, float]:
        start, _, left, scale = self.windows[-1 if interval.start >= self.windows[-1][0] else 0]
        x = left + (interval.start - start) * scale
        return x, self.top + interval.stage * self.pitch, (interval.end - interval.start) * scale, self.bar


def pipeline_timeline(
    timeline: Timeline, *, bubble_of_total: float | None = None, bubble_of_ideal: float | None = None,
    micro_batches: int | None = None, in_seconds: bool = True, narrow: bool = False, name: str = "pipeline-timeline",
) -> LinkedFigure:  # fmt: skip
    """A row for each stage: forward, backward (or its two parts) and waiting, to scale.

    bubble_of_total   the bubble to quote, over the whole step         [share]; left out: the timeline's own
    bubble_of_ideal   the same over the time the work alone would take [share]
    micro_batches     of the step that is meant, when `timeline` is a shorter one like it: its middle is then left out
    in_seconds        whether times are seconds, so that the step's length can be told
    narrow            the composition for a phone

    Up to 150 operations are drawn by hand; more are straight. Of a step too long for the page the beginning and the end
    are drawn, with a break between them that says so.
    """
    drawn = len({interval.micro_batch for interval in timeline.intervals})
    whole = micro_batches or drawn
    sheet = _Sheet(timeline, whole > drawn, narrow)
    total = timeline.bubble_of_total if bubble_of_total is None else bubble_of_total
    ideal = timeline.bubble_of_ideal if bubble_of_ideal is None else bubble_of_ideal
    name, css = (f"{name}-narrow", "drawing-narrow") if narrow else (name, "drawing-wide")
    about = _description(timeline, whole, drawn, total, ideal, in_seconds)
    figure = LinkedFigure(name, sheet.width, 0, "One step through the pipe", about, f"pipeline-timeline {css}")
    _rows(figure, sheet)
    _numbers(figure, sheet)
    _stages(figure, sheet)
    if len(sheet.windows) > 1:
        _break(figure, sheet)
    figure.height = _words(figure, sheet, whole, f"bubble {share_text(total)} of the step · {share_text(ideal)} of ideal")
    return figure


def _description(timeline: Timeline, whole: int, drawn: int, total: float, ideal: float, in_seconds: bool) -> str:
    length = f" and takes {seconds_text(timeline.makespan)}" if in_seconds and whole == drawn else ""
    return (
        f"{count_text(timeline.stages)} stages run {count_text(whole)} micro-batches{length}. Stages wait"
        f" {share_text(total)} of the step, which is {share_text(ideal)} of the time that the work alone would take."
    )


def _rows(figure: LinkedFigure, sheet: _Sheet) -> None:
    """Waiting lies under everything; then the operations, one path for each kind and chunk."""
    stages = range(sheet.timeline.stages)
    waits = [(left, sheet.y(stage), (end - start) * scale, sheet.bar) for start, end, left, scale in sheet.windows for stage in stages]
    figure.cells(waits, fill="waiting", ink="")
    if sheet.mean_cell < MERGED:
        _runs(figure, sheet)
        return
    groups: dict[tuple[str, int], list[Interval]] = defaultdict(list)
    for interval in sheet.shown:
        groups[interval.kind, interval.chunk].append(interval)
    by_hand = len(sheet.shown) <= DRAWN and sheet.bar >= 12 and sheet.mean_cell >= STEADY
    fine = " fine" if sheet.mean_cell < FINE else ""
    for (kind, chunk), intervals in sorted(groups.items()):
        boxes = map(sheet.box, intervals)
        data = _by_hand(boxes, f"{sheet.timeline.stages}/{kind}/{chunk}") if by_hand else _straight(boxes)
        with figure.group(f"op-{kind.lower()} shade-{sheet.shade(chunk)}{fine}"):
            figure.path(data, fill=FILLS[kind], stroke="thin")


def _runs(figure: LinkedFigure, sheet: _Sheet) -> None:
    """Operations too narrow to tell apart: a run of one kind is one box; where kinds take turns, each has its own lane."""
    boxes: dict[str, list[tuple[float, float, float, float]]] = defaultdict(list)
    for kinds, start, end, stage in _merged(sheet):
        x, y, width, height = sheet.box(Interval(stage, "", 0, 0, start, end))
        lanes = sorted({FILLS[kind]: kind for kind in FILLS if kind in kinds}.values())
        for lane, kind in enumerate(lanes):
            boxes[kind].append((x, y + lane * height / len(lanes), width, height / len(lanes)))
    for kind, found in sorted(boxes.items()):
        with figure.group(f"op-{kind.lower()} run"):
            figure.path(_straight(found), fill=FILLS[kind], ink="")


def _merged(sheet: _Sheet) -> Iterator[tuple[frozenset[str], float, float, int]]:
    """Kinds, start, end and stage of each run: operations that follow each other without a wait that could be seen.

    Three of a kind in a row begin a run of their own, so that ramps stay apart from the steady middle.
    """
    hair = GAP_SEEN / sheet.windows[0][3]
    rows: dict[int, list[Interval]] = defaultdict(list)
    for interval in sheet.shown:
        rows[interval.stage].append(interval)
    for stage, row in rows.items():
        alike = ["".join(interval.kind for interval in row[at : at + 3]) == row[at].kind * 3 for at in range(len(row))]
        kinds, start, end, pure = {row[0].kind}, row[0].start, row[0].start, alike[0]
        for at, interval in enumerate(row):
            in_row = alike[at] or (pure and interval.kind in kinds)
            if interval.start - end > hair or in_row != pure or (pure and interval.kind not in kinds):
                yield frozenset(kinds), start, end, stage
                kinds, start, pure = set(), interval.start, in_row
            kinds.add(interval.kind)
            end = interval.end
        yield frozenset(kinds), start, end, stage


def _by_hand(boxes: Iterable[tuple[float, float, float, float]], seed: str) -> str:
    """Boxes that miss by a hair and leave each other air."""
    return "".join(
        pen.rectangle(x + 0.9, y, max(1.0, width - 1.8), height, f"{seed}/{at}") for at, (x, y, width, height) in enumerate(boxes)
    )


def _straight(boxes: Iterable[tuple[float, float, float, float]]) -> str:
    """Boxes as one path, each moved to from the one before; neighbours that touch become one box only by their edges."""
    parts, at_x, at_y = ["M0 0"], 0, 0  # in tenths: what is written is what is added up
    for x, y, width, height in boxes:
        left, top = round(x * 10), round(y * 10)
        wide, tall = max(1, round((x + width) * 10) - left), round(height * 10)
        parts.append(f"m{(left - at_x) / 10:g} {(top - at_y) / 10:g}h{wide / 10:g}v{tall / 10:g}h{-wide / 10:g}z")
        at_x, at_y = left, top
    return "".join(parts)


def _numbers(figure: LinkedFigure, sheet: _Sheet) -> None:
    """Micro-batch numbers, in those kinds of cells that have room for all of theirs."""
    if sheet.bar < 15 or len(sheet.shown) > 400:
        return
    most = max(interval.micro_batch for interval in sheet.shown)
    room = words_width(str(most), "cell") + 2
    complete = [interval for interval in sheet.shown if sheet.box(interval)[2] > 3] if len(sheet.windows) > 1 else sheet.shown
    widths: dict[str, float] = {}
    for interval in complete:
        widths[interval.kind] = min(widths.get(interval.kind, room * 9), sheet.box(interval)[2])
    for interval in complete:
        if widths[interval.kind] >= room:
            x, y, width, height = sheet.box(interval)
            figure.text(x + width / 2, y + height / 2 + 4.2, str(interval.micro_batch), "cell", anchor="middle")


def _stages(figure: LinkedFigure, sheet: _Sheet) -> None:
    count = sheet.timeline.stages
    ys = [sheet.y(stage) + sheet.bar / 2 + 5.5 for stage in range(count)]
    even = [stage for step in (8, 4, 2, 1) if step * sheet.pitch >= LABEL_GAP for stage in range(0, count, step)]
    for stage in spaced([0, count - 1, *even], ys, LABEL_GAP):
        figure.text(0, ys[stage], f"stage {stage}")


def _break(figure: LinkedFigure, sheet: _Sheet) -> None:
    """Two long strokes where the middle of the step is left out."""
    _, end, left, scale = sheet.windows[0]
    edge = left + end * scale
    for at, x in enumerate((edge + 7, edge + BREAK - 7)):
        rows = 2 + int(sheet.bottom / 34)
        zigzag = [(x + (5 if row % 2 else -5), row * sheet.bottom / (rows - 1)) for row in range(rows)]
        figure.polyline(zigzag, ink="soft", stroke="thin", key=f"break-{at}")


def _words(figure: LinkedFigure, sheet: _Sheet, whole: int, bubble: str) -> float:
    """Legend; beside the swatch for waiting, the bubble as a remark; what was left out. Gives the height."""
    room = sheet.width
    entries = [Entry(FILLS[kind], NAMES[kind], letter=kind, css=f"op-{kind.lower()}") for kind in sheet.kinds]
    right, base = legend(figure, entries, 0, sheet.bottom + 8, room)
    if sheet.chunks > 1 and sheet.mean_cell >= MERGED:
        right, base = _chunk_legend(figure, sheet, right, base)
    right += GAP + 2
    if right + SWATCH + 7 + words_width(bubble, "remark") > room:
        right, base = 0, base + SWATCH + 8
    swatch(figure, Entry("waiting", "waiting"), right, base - SWATCH)
    fits = right + SWATCH + 7 + words_width(bubble, "remark") <= room
    for line, words in enumerate([bubble] if fits else bubble.split(" · ")):
        base += 24 if line else 0
        figure.text(right + SWATCH + 7, base - 4, words, "remark")
    if len(sheet.windows) > 1:
        seen = len({interval.micro_batch for interval in sheet.shown})
        base += 26
        words = f"{count_text(seen)} of {count_text(whole)} micro-batches drawn: the middle repeats"
        figure.text(0, base - 4, words, "remark")
    return base + 4


def _chunk_legend(figure: LinkedFigure, sheet: _Sheet, right: float, base: float) -> tuple[float, float]:
    """The shades of the chunks, side by side: lightest is nearest the input."""
    words, shades = "chunk 0", min(SHADES, sheet.chunks)
    last = f"{sheet.chunks - 1}"
    wide = words_width(words) + 8 + shades * (SWATCH - 4) + 8 + words_width(last)
    x = right + 14
    if x + wide > sheet.width:
        x, base = 0, base + SWATCH + 8
    y = base - SWATCH
    figure.text(x, y + 15, words)
    at = x + words_width(words) + 6
    for shade in range(shades):
        with figure.group(f"op-f shade-{shade}"):
            figure.rectangle(at, y, SWATCH - 4, SWATCH, fill="f", stroke="thin", key=f"shade-{shade}")
        at += SWATCH - 4
    figure.text(at + 8, y + 15, last)
    return at + 8 + words_width(last), base

