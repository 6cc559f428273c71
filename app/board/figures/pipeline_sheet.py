"""Where everything stands in the drawing of a step: its rows, its scale, and what is too narrow to be told apart."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from engine.pipeline.timeline import Interval, Timeline

FILLS = {"F": "f", "B": "b", "I": "b", "W": "w"}
GAP_SEEN = 0.6  # shorter waits do not end a run
READABLE = 7.0  # mean width of a cell where the middle of a step is left out
SHADES = 4
BREAK = 30.0

Window = tuple[float, float, float, float]  # from time, to time, left edge, units of the drawing a unit of time


@dataclass(frozen=True)
class Sheet:
    """Where everything stands."""

    timeline: Timeline
    left_out: bool
    narrow: bool

    @property
    def top(self) -> float:
        return 3.0 if self.pitch > 14 else 8.0  # the first row's name stands taller than a low row

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


def merged(sheet: Sheet) -> Iterator[tuple[frozenset[str], float, float, int]]:
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
