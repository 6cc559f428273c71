"""Losses of a real run, step by step: one process alone as a broad stroke, and on it the ranks that train together."""

from collections.abc import Mapping, Sequence

from app.board.linked import LinkedFigure
from engine.language.units import digits_text

WIDE, NARROW, HEIGHT = 720.0, 360.0, 190.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 14.0, 12.0, 34.0
FINEST = 1e-9  # share of a loss that still makes a height: a run that has gone astray is drawn as well


def loss_lines(
    alone: Mapping[int, float], together: Mapping[int, float], steps: int, *, axis: str = "dp", narrow: bool = False
) -> LinkedFigure:
    """Two lines over the steps; where the run goes on, the rest of the paper stays empty.

    alone      loss of one process, by step       [nats]
    together   mean loss of all ranks, by step    [nats]
    steps      of the whole run
    """
    width = NARROW if narrow else WIDE
    seen = [*alone.values(), *together.values()]
    worst = max((abs(alone[step] - together[step]) for step in alone.keys() & together.keys()), default=0.0)
    told = (
        f"{len(together)} of {steps} steps; the largest difference to one process alone is {worst:.1g}."
        if together
        else "No step yet."
    )
    figure = LinkedFigure("loss-lines", width, HEIGHT, "Losses, together and alone", told)
    low, high = (min(seen), max(seen)) if seen else (0.0, 1.0)
    spread = max(high - low, 0.02, FINEST * abs(high))
    low, high = low - 0.12 * spread, high + 0.12 * spread

    def x(step: float) -> float:
        return LEFT + (width - LEFT - RIGHT) * (step / max(1, steps - 1))

    def y(loss: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - loss) / (high - low)

    figure.line(LEFT, HEIGHT - BOTTOM, width - RIGHT, HEIGHT - BOTTOM, ink="rule", stroke="thin", key="axis")
    if seen:
        for value in (min(seen), max(seen)):
            figure.text(LEFT - 8, y(value) + 5, digits_text(value, 4), "number", anchor="end")
    for step in _told(steps):
        figure.text(x(step), HEIGHT - BOTTOM + 20, str(step), "number", anchor="middle")
    figure.text(width - RIGHT, HEIGHT - 2, "step", "small", anchor="end", ink="soft")
    _line(figure, [(x(step), y(loss)) for step, loss in sorted(alone.items())], "ghost", "marker")
    points = [(x(step), y(loss)) for step, loss in sorted(together.items())]
    _line(figure, points, axis, "thick")
    figure.cells([(px - 3, py - 3, 6, 6) for px, py in points], fill=axis, ink="")
    return figure


def _told(steps: int) -> Sequence[int]:
    every = max(1, -(-steps // 8))
    return range(0, steps, every)


def _line(figure: LinkedFigure, points: Sequence[tuple[float, float]], ink: str, stroke: str) -> None:
    if len(points) > 1:
        figure.path("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points), ink=ink, stroke=stroke)
