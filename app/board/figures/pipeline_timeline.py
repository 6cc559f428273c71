"""One step through the pipe: a row for each stage, what it computes and when it waits. Draws any Timeline."""

from collections import defaultdict
from collections.abc import Iterable

from app.board.figures.pipeline_sheet import BREAK, FILLS, SHADES, Sheet, merged
from app.board.legend import GAP, SWATCH, Entry, legend, spaced, swatch, words_width
from app.board.linked import LinkedFigure
from engine.language.units import count_text, seconds_text, share_text
from engine.pipeline.timeline import Interval, Timeline

NAMES = {"F": "forward", "B": "backward", "I": "input gradient", "W": "weight gradient"}
FINE, MERGED = 7.0, 3.0  # mean widths of a cell below which it has a fine outline, joins a run
LABEL_GAP = 16.0


def pipeline_timeline(
    timeline: Timeline,
    *,
    bubble_of_total: float | None = None,
    bubble_of_ideal: float | None = None,
    micro_batches: int | None = None,
    in_seconds: bool = True,
    narrow: bool = False,
    quoted: bool = True,
    name: str = "pipeline-timeline",
) -> LinkedFigure:
    """A row for each stage: forward, backward (or its two parts) and waiting, to scale.

    bubble_of_total   the bubble to quote, over the whole step         [share]; left out: the timeline's own
    bubble_of_ideal   the same over the time the work alone would take [share]
    micro_batches     of the step that is meant, when `timeline` is a shorter one like it: its middle is then left out
    in_seconds        whether times are seconds, so that the step's length can be told
    narrow            the composition for a phone
    quoted            whether to write the bubble beside its swatch; a page may quote it in words that open its working

    Cells are straight and touch, so that nothing but waiting looks idle. Of a step too long for the page the beginning and the end
    are drawn, with a break between them that says so.
    """
    drawn = len({interval.micro_batch for interval in timeline.intervals})
    whole = micro_batches or drawn
    sheet = Sheet(timeline, whole > drawn, narrow)
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
    bubble = f"bubble {share_text(total)} of the step · {share_text(ideal)} of ideal" if quoted else "waiting"
    figure.height = _words(figure, sheet, whole, bubble, "remark" if quoted else "read")
    return figure


def _description(timeline: Timeline, whole: int, drawn: int, total: float, ideal: float, in_seconds: bool) -> str:
    length = f" and takes {seconds_text(timeline.makespan)}" if in_seconds and whole == drawn else ""
    return (
        f"{count_text(timeline.stages)} stages run {count_text(whole)} micro-batches{length}. Stages wait"
        f" {share_text(total)} of the step, which is {share_text(ideal)} of the time that the work alone would take."
    )


def _rows(figure: LinkedFigure, sheet: Sheet) -> None:
    """Waiting lies under everything; then the operations, one path for each kind and chunk."""
    stages = range(sheet.timeline.stages)
    waits = [
        (left, sheet.y(stage), (end - start) * scale, sheet.bar)
        for start, end, left, scale in sheet.windows
        for stage in stages
    ]
    figure.cells(waits, fill="waiting", ink="")
    if sheet.mean_cell < MERGED:
        _runs(figure, sheet)
        return
    groups: dict[tuple[str, int], list[Interval]] = defaultdict(list)
    for interval in sheet.shown:
        groups[interval.kind, interval.chunk].append(interval)
    fine = " fine" if sheet.mean_cell < FINE else ""
    for (kind, chunk), intervals in sorted(groups.items()):
        data = _straight(map(sheet.box, intervals))  # a cell drawn by hand would look idle at its edges
        with figure.group(f"op-{kind.lower()} shade-{sheet.shade(chunk)}{fine}"):
            figure.path(data, fill=FILLS[kind], stroke="thin")


def _runs(figure: LinkedFigure, sheet: Sheet) -> None:
    """Operations too narrow to tell apart: a run of one kind is one box; where kinds take turns, each has its own lane."""
    boxes: dict[str, list[tuple[float, float, float, float]]] = defaultdict(list)
    for kinds, start, end, stage in merged(sheet):
        x, y, width, height = sheet.box(Interval(stage, "", 0, 0, start, end))
        lanes = list({FILLS[kind]: kind for kind in FILLS if kind in kinds}.values())
        for lane, kind in enumerate(lanes):
            boxes[kind].append((x, y + lane * height / len(lanes), width, height / len(lanes)))
    for kind, found in sorted(boxes.items()):
        with figure.group(f"op-{kind.lower()} run"):
            figure.path(_straight(found), fill=FILLS[kind], ink="")


def _straight(boxes: Iterable[tuple[float, float, float, float]]) -> str:
    """Boxes as one path, each moved to from the one before; neighbours that touch become one box only by their edges."""
    parts, at_x, at_y = ["M0 0"], 0, 0  # in tenths: what is written is what is added up
    for x, y, width, height in boxes:
        left, top = round(x * 10), round(y * 10)
        wide, tall = max(1, round((x + width) * 10) - left), round(height * 10)
        parts.append(f"m{(left - at_x) / 10:g} {(top - at_y) / 10:g}h{wide / 10:g}v{tall / 10:g}h{-wide / 10:g}z")
        at_x, at_y = left, top
    return "".join(parts)


def _numbers(figure: LinkedFigure, sheet: Sheet) -> None:
    """Micro-batch numbers, in those kinds of cells that have room for all of theirs."""
    if sheet.bar < 15 or len(sheet.shown) > 400:
        return
    most = max(interval.micro_batch for interval in sheet.shown)
    room = words_width(str(most), "cell") + 2
    complete = (
        [interval for interval in sheet.shown if sheet.box(interval)[2] > 3] if len(sheet.windows) > 1 else sheet.shown
    )
    widths: dict[str, float] = {}
    for interval in complete:
        widths[interval.kind] = min(widths.get(interval.kind, room * 9), sheet.box(interval)[2])
    for interval in complete:
        if widths[interval.kind] >= room:
            x, y, width, height = sheet.box(interval)
            figure.text(x + width / 2, y + height / 2 + 4.2, str(interval.micro_batch), "cell", anchor="middle")


def _stages(figure: LinkedFigure, sheet: Sheet) -> None:
    count = sheet.timeline.stages
    ys = [sheet.y(stage) + sheet.bar / 2 + 5.5 for stage in range(count)]
    even = [stage for step in (8, 4, 2, 1) if step * sheet.pitch >= LABEL_GAP for stage in range(0, count, step)]
    for stage in spaced([0, count - 1, *even], ys, LABEL_GAP):
        figure.text(0, ys[stage], f"stage {stage}")


def _break(figure: LinkedFigure, sheet: Sheet) -> None:
    """Two long strokes where the middle of the step is left out."""
    _, end, left, scale = sheet.windows[0]
    edge = left + end * scale
    for at, x in enumerate((edge + 7, edge + BREAK - 7)):
        rows = 2 + int(sheet.bottom / 34)
        zigzag = [(x + (5 if row % 2 else -5), row * sheet.bottom / (rows - 1)) for row in range(rows)]
        figure.polyline(zigzag, ink="soft", stroke="thin", key=f"break-{at}")


def _words(figure: LinkedFigure, sheet: Sheet, whole: int, bubble: str, style: str) -> float:
    """Legend; beside the swatch for waiting, the bubble as a remark; what was left out. Gives the height."""
    room = sheet.width
    entries = [Entry(FILLS[kind], NAMES[kind], letter=kind, css=f"op-{kind.lower()}") for kind in sheet.kinds]
    right, base = legend(figure, entries, 0, sheet.bottom + 8, room)
    if sheet.mean_cell < MERGED:
        right, base = _lane_legend(figure, sheet, right, base)
    elif sheet.chunks > 1:
        right, base = _chunk_legend(figure, sheet, right, base)
    right += GAP + 2
    if right + SWATCH + 7 + words_width(bubble, style) > room:
        right, base = 0, base + SWATCH + 8
    swatch(figure, Entry("waiting", "waiting"), right, base - SWATCH)
    fits = right + SWATCH + 7 + words_width(bubble, style) <= room
    for line, words in enumerate([bubble] if fits else bubble.split(" · ")):
        base += 24 if line else 0
        figure.text(right + SWATCH + 7, base - 4, words, style)
    if len(sheet.windows) > 1:
        seen = len({interval.micro_batch for interval in sheet.shown})
        words = [f"{count_text(seen)} of {count_text(whole)} micro-batches drawn", "the middle repeats"]
        for line in words if sheet.narrow else [": ".join(words)]:
            base += 25
            figure.text(0, base - 4, line, "remark")
    return base + 4


def _lane_legend(figure: LinkedFigure, sheet: Sheet, right: float, base: float) -> tuple[float, float]:
    """What two lanes in one row mean."""
    words = "stacked: in turn"
    x = right + GAP
    if x + words_width(words) > sheet.width:
        x, base = 0, base + SWATCH + 8
    figure.text(x, base - 5, words, ink="soft")
    return x + words_width(words), base


def _chunk_legend(figure: LinkedFigure, sheet: Sheet, right: float, base: float) -> tuple[float, float]:
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
