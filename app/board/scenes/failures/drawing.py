"""Pieces of the failures scene: lanes of GPUs in step, a curve on axes, a calendar, replicas with their checksums."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, sin
from zlib import crc32

from app.board.legend import words_width
from app.board.pen import Point, number
from app.board.scenes.base import WIDTH, SceneFigure
from app.board.scenes.pieces import block
from engine.language.units import DAY_S, count_text
from engine.run.failures import DrawnRun

PANEL = 548.0  # where the words at the right begin
LEFT, RIGHT, TOP, PITCH, LANE = 96.0, 516.0, 30.0, 41.0, 27.0
SHOWN = 7  # lanes drawn of all
ODD = 4  # the lane something happens to
BEAT = ((4, -4), (4, 4), (4, -13), (5, 24), (4, -11))  # strokes of one heartbeat


@dataclass(frozen=True)
class Chart:
    """A field with two axes: places of it from 0 to 1 become places of the drawing, upwards.

    x, y, width, height   of the field
    """

    x: float
    y: float
    width: float
    height: float

    def at(self, across: float, up: float) -> Point:
        """The place of the drawing; what runs past the top stays on it."""
        return self.x + across * self.width, self.y + self.height * (1 - min(1.0, max(0.0, up)))

    def draw(self, figure: SceneFigure, up: str = "") -> None:
        """The axes, and what the upright one measures."""
        bottom, right = self.y + self.height, self.x + self.width
        figure.line(self.x, self.y, self.x, bottom, key="axis-up")
        figure.line(self.x, bottom, right, bottom, key="axis-across")
        figure.text(self.x + 8, self.y + 6, up, "read", ink="soft")

    def curve(self, figure: SceneFigure, points: Iterable[Point], ink: str = "ink", stroke: str = "normal") -> None:
        """A curve through places of the field, straight from one to the next."""
        placed = [self.at(*point) for point in points]
        figure.path("M" + "L".join(f"{number(x)} {number(y)}" for x, y in placed), ink=ink, stroke=stroke)


def facts(figure: SceneFigure, rows: Sequence[tuple[str, str]], top: float = 52, ink: str = "ink") -> None:
    """Large numbers with a word below each; the first one carries the accent."""
    for at, (answer, words) in enumerate(rows):
        style = "answer" if words_width(answer, "answer") < WIDTH - PANEL else "title"
        figure.text(PANEL, top + at * 84, answer, style, ink=ink if at == 0 else "ink")
        figure.text(PANEL, top + at * 84 + 27, words, "read", ink="soft")


def lane_y(lane: int) -> float:
    return TOP + lane * PITCH


def lane_names(figure: SceneFigure, gpus: int) -> None:
    """The first GPUs, three dots, the last ones."""
    for lane in range(SHOWN):
        gpu = lane if lane < SHOWN - 2 else gpus - SHOWN + lane
        figure.text(LEFT - 8, lane_y(lane) + LANE - 8, f"GPU {count_text(gpu)}", "read", anchor="end")
    y = (lane_y(SHOWN - 3) + LANE + lane_y(SHOWN - 2)) / 2
    figure.path(
        "".join(f"M{number(LEFT + 20 + 9 * dot)} {number(y)}h.01" for dot in range(3)), ink="soft", stroke="marker"
    )


def heartbeats(figure: SceneFigure, beats: int) -> None:
    """Every lane beats at the same moment: that is when all exchange gradients."""
    gap = (RIGHT - LEFT) / beats
    for beat in range(beats):
        x = LEFT + (beat + 0.5) * gap
        figure.line(x, TOP - 12, x, lane_y(SHOWN - 1) + LANE + 6, ink="rule", stroke="dashed", key=f"beat-{beat}")
    for lane in range(SHOWN):
        y = lane_y(lane) + LANE / 2
        path = f"M{number(LEFT)} {number(y)}"
        for beat in range(beats):
            x = LEFT + (beat + 0.5) * gap
            path += f"H{number(x - 12)}" + "".join(f"l{dx} {dy}" for dx, dy in BEAT)
        with (
            figure.at(f"lane-{lane}", 0, 0),
            figure.tip("all lanes beat together: each step ends when all have summed their gradients"),
        ):
            figure.path(f"{path}H{number(RIGHT)}", ink="good")


def steps(figure: SceneFigure, count: int, slow: float) -> None:
    """Steps with one slow lane: the others wait at each step's end."""
    length = (RIGHT - LEFT) / (count * (1 + slow))
    for lane in range(SHOWN):
        with figure.at(f"lane-{lane}", LEFT, lane_y(lane)):
            for step in range(count):
                x, odd = step * length * (1 + slow), lane == ODD
                block(
                    figure,
                    x,
                    0,
                    length * (1 + slow if odd else 1),
                    LANE,
                    "b" if odd else "f",
                    f"work-{lane}-{step}",
                    "slow" if odd else "",
                )
                if not odd:
                    with figure.tip("waits for the slow one: the sum needs every rank"):
                        block(figure, x + length, 0, length * slow, LANE, "waiting", f"wait-{lane}-{step}")
    for step in range(1, count + 1):
        x = LEFT + step * length * (1 + slow)
        figure.line(x, TOP - 12, x, lane_y(SHOWN - 1) + LANE + 6, key=f"end-{step}")


def hang(figure: SceneFigure, watchdog: str) -> None:
    """One lane stops inside the sum; the others wait until the watchdog."""
    work, gone = 110.0, 74.0
    for lane in range(SHOWN):
        with figure.at(f"lane-{lane}", LEFT, lane_y(lane)):
            odd = lane == ODD
            block(figure, 0, 0, gone if odd else work, LANE, "b" if odd else "f", f"work-{lane}-0")
            with figure.tip(
                "gone: it will never come to the sum" if odd else "in the sum, waiting for a rank that will not come"
            ):
                block(
                    figure,
                    gone if odd else work,
                    0,
                    RIGHT - LEFT - (gone if odd else work),
                    LANE,
                    "waiting",
                    f"wait-{lane}-0",
                    ghost=odd,
                )
            if odd:
                figure.cross(gone + 22, LANE / 2, 18, key="gone")
    figure.line(RIGHT, TOP - 12, RIGHT, lane_y(SHOWN - 1) + LANE + 8, ink="bad", stroke="thick", key="watchdog")
    figure.text(RIGHT - 6, TOP - 10, f"watchdog, after {watchdog}", "read", anchor="end", ink="bad")


def recorder(figure: SceneFigure) -> None:
    """The flight recorder's table beside the lanes: who came to the sum."""
    figure.text(PANEL, TOP - 8, "who came to the sum?", "read", ink="soft")
    for lane in range(SHOWN):
        y = lane_y(lane) + LANE - 8
        if lane == ODD:
            figure.cross(PANEL + 8, y - 6, 15, key="absent")
        else:
            figure.tick(PANEL + 6, y, 12, key=f"came-{lane}")
        figure.text(
            PANEL + 30,
            y,
            "missing" if lane == ODD else "waiting",
            "caption" if lane == ODD else "read",
            ink="bad" if lane == ODD else "soft",
        )


def ticks_over_days(figure: SceneFigure, run: DrawnRun, days: int, y: float, left: float, right: float) -> None:
    """The first days of a drawn run, each failure a mark."""
    scale = (right - left) / (days * DAY_S)
    figure.line(left, y, right, y, key="days")
    figure.path("".join(f"M{number(left + day * DAY_S * scale)} {number(y)}v6" for day in range(days + 1)), ink="soft")
    marks = sorted({round(left + failure.at_s * scale) for failure in run.failures if failure.at_s < days * DAY_S})
    if marks:
        figure.path("".join(f"M{x} {number(y - 3)}v-16" for x in marks), ink="bad", stroke="marker")


def calendar(figure: SceneFigure, run: DrawnRun, rows: int, x: float, y: float, width: float, pitch: float) -> None:
    """Days in rows, each a small field as long as its hours; what failures cost lies where it happened."""
    days, high = run.days // rows, pitch - 10
    scale = width / (days * DAY_S)
    fields = [
        (x + column * width / days, y + row * pitch, width / days, high)
        for row in range(rows)
        for column in range(days)
    ]
    figure.cells(fields, fill="board", ink="rule")
    lost: list[tuple[float, float, float, float]] = []
    for failure in run.failures:
        row, at = divmod(failure.at_s, days * DAY_S)
        left = x + at * scale
        lost.append((left, y + int(row) * pitch + 2, min(max(1.0, failure.lost_s * scale), x + width - left), high - 4))
    with figure.tip("each mark is one failure, as wide as the time it cost"):
        figure.cells(_apart(lost), fill="b", ink="bad", stroke="normal")
    for row in range(rows):
        figure.text(x - 8, y + row * pitch + high - 5, f"day {row * days + 1}", "read", anchor="end", ink="soft")


def _apart(boxes: Sequence[tuple[float, float, float, float]]) -> list[tuple[float, float, float, float]]:
    """Boxes that overlap become one, so that a run that only fails stays a small drawing."""
    kept: list[tuple[float, float, float, float]] = []
    for box in boxes:
        if kept and kept[-1][1] == box[1] and box[0] <= kept[-1][0] + kept[-1][2] + 0.5:
            x, y, width, height = kept[-1]
            kept[-1] = (x, y, max(width, box[0] + box[2] - x), height)
        else:
            kept.append(box)
    return kept


def meter(figure: SceneFigure, x: float, y: float, width: float, parts: Sequence[tuple[str, float, str]]) -> None:
    """Shares of the time side by side: (name, share, fill)."""
    for name, share, fill in parts:
        if share * width >= 0.8:
            with figure.tip(f"{name}: {share * 100:.2g} % of the time"):
                block(figure, x, y, share * width, 30, fill, f"meter-{name}", name)
        x += share * width


def loss(at: float) -> float:
    """A loss as it falls: made up, only its shape matters.   [0 to 1 over 0 to 1]"""
    return 0.2 + 0.62 * exp(-3.2 * at) + 0.012 * sin(61 * at) + 0.01 * sin(137 * at + 1)


def checksums(replicas: int, odd: int) -> list[str]:
    """A checksum of each replica's weights; one bit is flipped in the odd one.

    >>> checksums(3, 1)[0] == checksums(3, 1)[2] != checksums(3, 1)[1]
    True
    """
    weights = bytes(range(64))
    flipped = bytes([weights[0] ^ 1, *weights[1:]])
    return [f"{crc32(flipped if replica == odd else weights) & 0xFFFF:04x}" for replica in range(replicas)]


def replicas(figure: SceneFigure, y: float, sums: Sequence[str], odd: int) -> None:
    """Replicas side by side with their checksums."""
    width = (WIDTH - 8) / len(sums)
    for at, text in enumerate(sums):
        with figure.at(f"replica-{at}", 4 + at * width, y):
            bad = at == odd
            figure.rectangle(
                3,
                0,
                width - 6,
                78,
                fill="b" if bad else "board",
                ink="bad" if bad else "ink",
                stroke="thick" if bad else "normal",
                key=f"replica-{at}",
            )
            figure.text(width / 2, 26, f"copy {at}", "read", anchor="middle")
            figure.text(width / 2, 56, text, "number", anchor="middle", ink="bad" if bad else "ink")


def batches(figure: SceneFigure, y: float, left: float, right: float, count: int, skipped: Sequence[int]) -> None:
    """Batches of data in a row; the skipped ones are ghosts with a cross."""
    width = (right - left) / count
    figure.text(left - 8, y + 20, "data", "read", anchor="end")
    for at in range(count):
        out = at in skipped
        block(figure, left + at * width + 2, y, width - 4, 28, "activations", f"batch-{at}", ghost=out, radius=6)
        if out:
            figure.cross(left + (at + 0.5) * width, y + 14, 12, key=f"skipped-{at}")
