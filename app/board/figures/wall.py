"""The wall: what training state costs each GPU, stage by stage of sharding, measured in GPUs."""

from dataclasses import dataclass
from math import ceil

from app.board.svg import Figure
from engine.language.units import bytes_text, count_text, digits_text


@dataclass(frozen=True)
class Part:
    """One kind of state: its name, which is also its fill, bytes per parameter, and what it is in a few words."""

    kind: str
    bytes_per_parameter: float
    words: str


@dataclass(frozen=True)
class Row:
    """One way of sharding: its name, what it deals out, and the bytes of each part on one GPU, in the order of parts."""

    name: str
    words: str
    part_bytes: tuple[float, ...]

    @property
    def total_bytes(self) -> float:
        return sum(self.part_bytes)


@dataclass(frozen=True)
class Wall:
    """What the picture shows: ways of sharding, the parts of the state, the memory of one GPU and the model's size."""

    rows: tuple[Row, ...]
    parts: tuple[Part, ...]
    gpu_bytes: float
    gpu_title: str
    parameters: float

    @property
    def description(self) -> str:
        """The picture in words."""
        each = "; ".join(f"{row.name} {bytes_text(row.total_bytes)}, {self.verdict(row)}" for row in self.rows)
        return f"Training state on each GPU, against the {bytes_text(self.gpu_bytes)} of one {self.gpu_title}: {each}."

    @property
    def limit_words(self) -> str:
        """The memory of a GPU in both units: what its maker sells in powers of two, the bars count in powers of ten."""
        size = bytes_text(self.gpu_bytes)
        return f"one {self.gpu_title}: {size} ({bytes_text(self.gpu_bytes, binary=True)})"

    def verdict(self, row: Row) -> str:
        """How a row compares with one GPU."""
        spare = self.gpu_bytes - row.total_bytes
        if spare >= 0:
            return f"fits: {bytes_text(spare)} to spare"
        return f"{row.total_bytes / self.gpu_bytes:.1f} GPUs' worth"


TITLE = "What one GPU must hold, under four ways of sharding"


def wall_wide(wall: Wall) -> Figure:
    """The picture for a window with room: bars to one scale, the price of a parameter beside the short ones."""
    figure = Figure("wall-wide", 1180, 404, TITLE, wall.description, "drawing-wide")
    left, top, pitch, bar = 176, 66, 88, 46
    scale = 806 / max(row.total_bytes for row in wall.rows)
    limit = left + wall.gpu_bytes * scale
    for at, row in enumerate(wall.rows):
        y = top + at * pitch
        figure.text(0, y + 24, row.name, "title")
        figure.text(0, y + 46, row.words, "read", ink="soft")
        end = _bar(figure, wall, row, left, y, bar, scale)
        fits = row.total_bytes <= wall.gpu_bytes
        x = max(end, limit) + 20
        figure.text(x, y + 26, bytes_text(row.total_bytes), "answer", ink="good" if fits else "ink")
        figure.text(x, y + 50, wall.verdict(row), "remark", ink="good" if fits else "remark")
        if fits:
            figure.tick(x + 132, y + 26, 22, key="fits")
    _limit(figure, wall, limit, 36, top + len(wall.rows) * pitch - 22)
    figure.text(limit - 6, 26, wall.limit_words, "caption", ink="bad")
    _price(figure, wall, 716, 186, 434)
    figure.arrow(1084, 292, 1072, 134, lift=-26, ink="remark", key="price")
    return figure


def wall_narrow(wall: Wall) -> Figure:
    """The same for a phone: each name above its bar, the price of a parameter below."""
    pitch, top, bar = 90, 78, 36
    figure = Figure("wall-narrow", 360, top + len(wall.rows) * pitch + 232, TITLE, wall.description, "drawing-narrow")
    scale = 352 / max(row.total_bytes for row in wall.rows)
    limit = 3 + wall.gpu_bytes * scale
    for at, row in enumerate(wall.rows):
        y = top + at * pitch
        fits = row.total_bytes <= wall.gpu_bytes
        figure.text(limit + 12, y - 13, row.name, "caption")
        figure.text(357, y - 13, bytes_text(row.total_bytes), "title", anchor="end", ink="good" if fits else "ink")
        end = _bar(figure, wall, row, 3, y, bar, scale)
        if end < 200:
            figure.text(max(end, limit) + 14, y + 25, wall.verdict(row), "remark", ink="good" if fits else "remark")
    _limit(figure, wall, limit, 20, top + len(wall.rows) * pitch - 40)
    figure.text(limit + 12, 26, wall.limit_words, "caption", ink="bad")
    _price(figure, wall, 3, top + len(wall.rows) * pitch + 14, 354)
    return figure


def _bar(figure: Figure, wall: Wall, row: Row, left: float, y: float, height: float, scale: float) -> float:
    """The parts of a row side by side, in front of one GPU; thin dashes count the GPUs it would take. Returns its end."""
    gpu = wall.gpu_bytes * scale
    figure.rectangle(left, y - 7, gpu, height + 14, fill="board", key=f"gpu-{row.name}")
    x = float(left)
    for part, held in zip(wall.parts, row.part_bytes, strict=True):
        if held * scale >= 0.4:
            stroke = "normal" if held * scale > 6 else "thin"
            figure.rectangle(x, y, held * scale, height, fill=part.kind, stroke=stroke, key=f"{row.name}-{part.kind}")
        x += held * scale
    for count in range(2, ceil(row.total_bytes / wall.gpu_bytes)):
        x_count = left + count * gpu
        figure.line(x_count, y - 8, x_count, y + height + 8, ink="ghost", stroke="dashed")
    return x


def _limit(figure: Figure, wall: Wall, x: float, top: float, bottom: float) -> None:
    figure.line(x, top, x, bottom, ink="bad", stroke="thick", key="limit")


def _price(figure: Figure, wall: Wall, x: float, y: float, width: float) -> None:
    """What one parameter costs: the legend of the bars, added up as on a napkin."""
    figure.text(x, y, "what one parameter costs", "remark")
    for at, part in enumerate(wall.parts):
        row = y + 40 + at * 38
        figure.text(x + 44, row, digits_text(part.bytes_per_parameter), "title", anchor="end")
        figure.rectangle(x + 60, row - 21, 40, 25, fill=part.kind, key=f"price-{part.kind}")
        figure.text(x + 114, row - 2, part.words, "read")
    foot = y + 40 + len(wall.parts) * 38
    figure.line(x, foot - 24, x + width, foot - 26, key="sum")
    per_parameter = sum(part.bytes_per_parameter for part in wall.parts)
    total = bytes_text(per_parameter * wall.parameters)
    figure.text(x + 44, foot + 10, digits_text(per_parameter), "title", anchor="end")
    figure.text(x + 60, foot + 10, f"bytes × {count_text(wall.parameters)} = {total}", "title")
