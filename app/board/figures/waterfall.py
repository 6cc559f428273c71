"""Where the time goes: from the peak of the GPUs down to the useful share, one loss after the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.board.legend import words_width
from app.board.linked import LinkedFigure
from app.board.svg import AXES
from engine.estimate import Estimate
from engine.language.units import share_text

SMALL = 0.012  # losses below this share of the step stand together
FILLS = {"kernels": "buffers", "recompute": "activations", "bubble": "waiting", "optimizer": "optimizer"}
Link = Callable[[str], str]  # name of a loss -> address


@dataclass(frozen=True)
class Loss:
    """A part of the step in which a GPU does nothing that counts.

    name    kernels, recompute, an axis, bubble or optimizer
    share   of the step's time   [0 to 1]
    fill    and letter: how it is drawn
    """

    name: str
    share: float
    fill: str
    letter: str = ""


def losses(estimate: Estimate) -> tuple[Loss, ...]:
    """What lies between the peak and the MFU (causal convention), as shares of the step. With the MFU they add up to 1.

    `kernels` is what computation takes beyond the time it would take at peak: kernels below peak, and stages that have
    less to do than the slowest.
    """
    step, seconds = estimate.step, estimate.step.seconds.value
    axes = {axis: sum(c.exposed.value for c in step.communication if c.axis == axis) for axis in AXES}
    found = [Loss("kernels", step.compute.value / seconds - estimate.mfu.causal.value, FILLS["kernels"])]
    found.append(Loss("recompute", step.recompute.value / seconds, FILLS["recompute"]))
    found += [Loss(axis.upper(), shown / seconds, f"{axis}-pale", axis.upper()) for axis, shown in axes.items()]
    found.append(Loss("bubble", step.bubble.value / seconds, FILLS["bubble"]))
    found.append(Loss("optimizer", step.optimizer.value / seconds, FILLS["optimizer"]))
    return tuple(found)


def merged(found: Sequence[Loss], small: float = SMALL) -> tuple[Loss, ...]:
    """The losses worth a bar of their own, in their order; the small ones together at the end, with their names.

    >>> [loss.name for loss in merged([Loss("TP", 0.2, "tp-pale"), Loss("PP", 0.003, "pp-pale"), Loss("DP", 0.002, "dp-pale")])]
    ['TP', 'PP, DP']
    """
    large = tuple(loss for loss in found if abs(loss.share) >= small)
    rest = [loss for loss in found if 0 < abs(loss.share) < small]
    if len(rest) == 1:
        return (*large, *rest)
    together = Loss(", ".join(loss.name for loss in rest), sum(loss.share for loss in rest), "plain")
    return (*large, together) if rest else large


def waterfall(
    estimate: Estimate, *, narrow: bool = False, link: Link | None = None, name: str = "waterfall"
) -> LinkedFigure:
    """From 100 % of peak down to the MFU by the causal convention; the other conventions stand beside it.

    narrow   the composition for a phone: bars lie, one below the other
    link     gives each loss, and "mfu", an address where its working is shown
    """
    found = losses(estimate)
    useful = estimate.mfu.causal.value
    name, css = (f"{name}-narrow", "drawing-narrow") if narrow else (name, "drawing-wide")
    figure = LinkedFigure(
        name, 360 if narrow else 720, 0, "Where the time goes", description(estimate), f"waterfall {css}"
    )
    draw = _lying if narrow else _standing
    figure.height = draw(figure, merged(found), useful, _conventions(estimate), link)
    return figure


def description(estimate: Estimate) -> str:
    """The figure in words."""
    found = sorted((loss for loss in losses(estimate) if loss.share > 0), key=lambda loss: -loss.share)
    parts = ", ".join(f"{loss.name} {_text(loss.share)}" for loss in found)
    return f"Of the step's time at peak, {_text(estimate.mfu.causal.value)} is useful work (causal MFU). The rest: {parts}."


def _conventions(estimate: Estimate) -> tuple[tuple[str, str], ...]:
    mfu = estimate.mfu
    return (
        ("6N", _text(mfu.six_n.value)),
        ("full attention", _text(mfu.full_attention.value)),
        ("HFU", _text(mfu.hfu.value)),
    )


def _text(share: float) -> str:
    """A share to a tenth of a percent, so that what is read adds up."""
    return share_text(round(share, 3)) if abs(share) >= 0.0005 or not share else "<0.1 %"


def _lost(share: float) -> str:
    text = _text(abs(share))
    return text if text.startswith("<") else f"{'−' if share > 0 else '+'}{text}"


def _standing(
    figure: LinkedFigure, found: Sequence[Loss], useful: float, others: Sequence[tuple[str, str]], link: Link | None
) -> float:
    """Bars side by side, each hanging from where the one before ended; the conventions at the right."""
    top, floor, right = 26.0, 156.0, 530.0
    pitch = right / (len(found) + 2)
    bar, scale = min(74.0, pitch * 0.78), floor - top
    level = 1.0

    def column(at: int) -> float:
        return at * pitch + (pitch - bar) / 2

    figure.rectangle(column(0), top, bar, scale, fill="plain", key="peak")
    _above(figure, column(0) + bar / 2, top, "100 %")
    for at, loss in enumerate(found, 1):
        x, y, height = column(at), top + (1 - level) * scale, loss.share * scale
        figure.line(column(at - 1) + bar, y, x + bar, y, ink="ghost", stroke="thin", key=f"level-{at}")
        with _linked(figure, loss.name, loss.share, link):
            _bar(figure, loss, x, y, bar, height)
        _above(figure, x + bar / 2, y, _lost(loss.share))
        level -= loss.share
    x, y = column(len(found) + 1), top + (1 - useful) * scale
    figure.line(column(len(found)) + bar, y, x + bar, y, ink="ghost", stroke="thin", key="level-end")
    with _linked(figure, "mfu", useful, link), figure.group("useful"):
        figure.rectangle(x, y, bar, useful * scale, fill="dp", key="useful")
    figure.text(x + bar / 2, y - 7, _text(useful), "title" if pitch >= 84 else "caption", anchor="middle", ink="good")
    figure.line(0, floor + 1, right, floor - 1, key="floor")
    base = _names(figure, ["peak", *(loss.name for loss in found), "MFU"], pitch, floor + 19)
    _others(figure, others, right + 22, top + 6)
    return base + 8


def _names(figure: LinkedFigure, names: Sequence[str], pitch: float, y: float) -> float:
    """Names below the columns, on two lines where one is too short. Gives the lowest base line."""
    low = y
    for at, name in enumerate(names):
        lines = [name]
        if words_width(name) > pitch - 4 and ", " in name:
            words = name.split(", ")
            half = (len(words) + 1) // 2
            lines = [", ".join(words[:half]) + ",", ", ".join(words[half:])]
        for line, words in enumerate(lines):
            figure.text((at + 0.5) * pitch, y + 18 * line, words, anchor="middle")
            low = max(low, y + 18 * line)
    return low


def _above(figure: LinkedFigure, x: float, y: float, words: str) -> None:
    figure.text(x, y - 7, words, "number", anchor="middle")


def _bar(figure: LinkedFigure, loss: Loss, x: float, y: float, width: float, height: float) -> None:
    stroke = "normal" if min(width, abs(height)) > 7 else "thin"
    figure.rectangle(x, min(y, y + height), width, max(1.2, abs(height)), fill=loss.fill, stroke=stroke, key=loss.name)
    if loss.letter and height >= 17 and width >= 26:
        figure.text(x + width / 2, y + height / 2 + 5.5, loss.letter, anchor="middle")


def _linked(figure: LinkedFigure, name: str, share: float, link: Link | None):
    return figure.link(link(name), f"{name}: {_text(share)}") if link else figure.group("loss")


def _others(figure: LinkedFigure, others: Sequence[tuple[str, str]], x: float, y: float) -> None:
    """The same speed as other people count it."""
    figure.text(x, y, "by other counts", "remark")
    for at, (words, value) in enumerate(others):
        figure.text(x + 62, y + 27 + 23 * at, value, "number", anchor="end")
        figure.text(x + 70, y + 27 + 23 * at, words, ink="soft")


def _lying(
    figure: LinkedFigure, found: Sequence[Loss], useful: float, others: Sequence[tuple[str, str]], link: Link | None
) -> float:
    """Bars one below the other, from the peak at the right down to the useful share at the left."""
    left, right, pitch, bar = 84.0, 276.0, 32.0, 22.0
    scale, level = right - left, 1.0
    rows = [Loss("peak", 1.0, "plain"), *found]
    for at, loss in enumerate(rows):
        y, start = 4 + at * pitch, (0.0 if at == 0 else level - loss.share)
        x, width = left + start * scale, loss.share * scale
        with _linked(figure, loss.name, loss.share, link if at else None):
            figure.rectangle(
                x, y, max(1.2, width), bar, fill=loss.fill, stroke="normal" if width > 7 else "thin", key=loss.name
            )
        if loss.letter and width >= 28:
            figure.text(x + width / 2, y + bar / 2 + 5.5, loss.letter, anchor="middle")
        figure.text(0, y + 16, loss.name if words_width(loss.name) < left else "the rest")
        figure.text(360, y + 16, _text(1.0) if at == 0 else _lost(loss.share), "number", anchor="end")
        level = start if at else 1.0
    y = 4 + len(rows) * pitch
    with _linked(figure, "mfu", useful, link), figure.group("useful"):
        figure.rectangle(left, y, useful * scale, bar, fill="dp", key="useful")
    figure.text(0, y + 16, "MFU")
    figure.text(360, y + 17, _text(useful), "title", anchor="end", ink="good")
    lines = [" · ".join(f"{value} {words}" for words, value in others)]
    lines += [f"the rest: {loss.name}" for loss in found if words_width(loss.name) >= left]
    for at, line in enumerate(lines):
        figure.text(0, y + pitch + 18 + 18 * at, line, "small", ink="soft")
    return y + pitch + 8 + 18 * len(lines)
