"""What stands below the rows of the pipeline scene: answers, what stages hold, how much of a step is work, a legend."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.board.figures.pipeline_sheet import FILLS, SHADES
from app.board.figures.pipeline_timeline import NAMES
from app.board.legend import words_width
from app.board.scenes.base import SceneFigure
from app.board.scenes.pp.drawing import MIDDLE, RIGHT, Run, shade, slots_text
from engine.language.units import digits_text

BASE, TALL = 372.0, 86.0  # of the columns of held micro-batches


def columns(figure: SceneFigure, run: Run, most: float, *, strong: bool = True, left: float = 456.0) -> None:
    """What each stage holds at its peak: chips of activations, one upon another, beside what the most is.

    most   chips for which the outline has room   [micro-batches]
    """
    each = (RIGHT - left) / len(run.held)
    width, unit = min(50.0, each - 8), TALL / most
    share = run.timeline.chunk_share if run.chunks > 1 else 1.0
    labels = [digits_text(held) for held in run.held]
    roomy = max(words_width(label, "number") for label in labels) < each - 3
    for stage, held in enumerate(run.held):
        x = left + stage * each + (each - width) / 2
        figure.rectangle(
            x, BASE - TALL - 2, width, TALL + 4, ink="ghost", stroke="dashed", key=f"room-{stage}", radius=5
        )
        with figure.tip(f"stage {stage} holds activations of so many micro-batches at its peak: {labels[stage]}"):
            _chips(figure, stage, x + 3, width - 6, unit * share, round(held / share))
        if roomy or stage in (0, len(labels) - 1):
            ink = "ink" if strong else "soft"
            figure.text(
                min(x + width / 2, RIGHT - 19), BASE - TALL - 9, labels[stage], "number", anchor="middle", ink=ink
            )
        figure.text(x + width / 2, BASE + 21, str(stage), "read", anchor="middle", ink="soft")
    figure.text(left - 8, BASE + 21, "stage", anchor="end", ink="soft")
    figure.text(left - 8, BASE - TALL - 9, "holds", anchor="end", ink="ink" if strong else "soft")


def _chips(figure: SceneFigure, stage: int, x: float, width: float, tall: float, count: int) -> None:
    if tall < 4:  # too many to tell apart
        figure.rectangle(
            x,
            BASE - tall * count,
            width,
            tall * count,
            fill="activations",
            stroke="thin",
            radius=4,
            key=f"chips-{stage}",
        )
        return
    for n in range(count):
        with figure.at(f"chip-{stage}-{n}", x, BASE - tall * (n + 1)):
            figure.rectangle(
                0,
                0,
                width,
                tall - min(1.6, tall / 5),
                fill="activations",
                stroke="thin",
                radius=min(6, tall / 2.2),
                key=f"chip-{stage}-{n}",
            )


@dataclass(frozen=True)
class Answer:
    """A number below the rows, with its name; the strong one is what the frame is about."""

    text: str
    name: str
    strong: bool = False


def answers(figure: SceneFigure, row: Sequence[Answer], x: float = 0.0, y: float = 298.0, room: float = 400.0) -> None:
    """Answers side by side, each as wide as it needs."""
    widths = [max(words_width(a.text, "answer"), words_width(a.name, "remark")) for a in row]
    gap = min(30.0, (room - sum(widths)) / max(1, len(row) - 1))
    for answer, width in zip(row, widths, strict=True):
        figure.text(x, y, answer.text, "answer", ink="ink" if answer.strong else "soft")
        if answer.strong:
            figure.underline(x, y + 6, words_width(answer.text, "answer"), ink="pp", key="strong")
        figure.text(x, y + 30, answer.name, "remark", ink="ink" if answer.strong else "soft")
        x += width + gap


def working(figure: SceneFigure, run: Run) -> None:
    """A bar of the step's length: what of it a stage works, and what it waits."""
    left, right, y = 430.0, RIGHT, 292.0
    work = (right - left) * run.work / run.slots
    figure.text(left, y - 10, "one stage, on average", "remark")
    figure.cells([(left + work, y, right - left - work, 30)], fill="waiting", ink="")
    figure.rectangle(left, y, right - left, 30, stroke="thin", key="share")
    with figure.group("useful"):
        figure.rectangle(left, y, work, 30, fill="plain", key="work")
    words = f"works {slots_text(run.work)} slots"
    figure.text(left, y + 52, words)
    rest = f"waits {slots_text(run.slots - run.work)}"
    figure.text(right, y + 52, rest, anchor="end", ink="bad")


def legend(figure: SceneFigure, kinds: Iterable[str], run: Run | None = None, room: float = 405.0) -> None:
    """What the fills mean, at the foot: a letter in each, its name beside it; chunks by their shades."""
    entries = [(kind, FILLS[kind], NAMES[kind]) for kind in kinds] + [("", "waiting", "waiting")]
    lines: list[list[tuple[str, str, str]]] = [[]]
    for entry in entries:
        if sum(_entry_width(words) for _, _, words in (*lines[-1], entry)) > room:
            lines.append([])
        lines[-1].append(entry)
    x, y = 0.0, 394.0
    for line in reversed(lines):
        x, y = 0.0, y - 27
        for letter, fill, words in line:
            with figure.group(f"op-{letter.lower()}" if letter else ""):
                figure.rectangle(x, y, 25, 22, fill=fill, stroke="thin", key=f"legend-{fill}")
            if letter:
                figure.text(x + 12.5, y + 11 + MIDDLE, letter, "number", anchor="middle")
            figure.text(x + 32, y + 11 + MIDDLE, words, ink="soft")
            x += _entry_width(words)
    if run and run.chunks > 1 and len(lines) == 1:
        _chunks(figure, run, y - 27)


def _entry_width(words: str) -> float:
    return 32 + words_width(words) + 14


def _chunks(figure: SceneFigure, run: Run, y: float) -> None:
    count = min(SHADES, run.chunks)
    for chunk in range(count):
        with figure.group(f"op-f shade-{shade(run, chunk)}"):
            figure.rectangle(chunk * 25, y, 25, 22, fill="f", stroke="thin", key=f"legend-chunk-{chunk}")
    figure.text(25 * count + 7, y + 11 + MIDDLE, f"{run.chunks} chunks, first to last", ink="soft")
