"""The pipeline scene's other pictures: layers dealt to stages, one micro-batch on its way, groups, all on one axis."""

from app.board.legend import words_width
from app.board.scenes.base import WIDTH, SceneFigure
from app.board.scenes.pieces import block
from app.board.scenes.pp.below import Answer, answers
from app.board.scenes.pp.case import EVERY, MODEL, SHOWN, Case
from app.board.scenes.pp.drawing import MIDDLE, RIGHT, Rows, Run, idle, slots_text, straight
from engine.language.refusal import Refusal
from engine.language.units import bytes_text, digits_text, share_text


def dealt(figure: SceneFigure, case: Case) -> None:
    """A row for each stage; its layers stand where they stand in the model, the others are ghosts."""
    rows = Rows(case.p, case.model.layers)
    first = 0
    for stage, size in enumerate(case.layers):
        x, y, width, height = rows.box(stage, first, first + size)
        figure.text(0, y + height / 2 + MIDDLE, f"stage {stage}")
        figure.rectangle(
            rows.left, y, rows.right - rows.left, height, ink="ghost", stroke="dashed", key=f"model-{stage}"
        )
        _layers(figure, stage, size, (x, y, width, height))
        last = stage == case.p - 1
        words = f"layers {first}–{first + size - 1}" + (", head" if last else ", embedding" if not stage else "")
        left = first + size / 2 > case.model.layers / 2
        figure.text(
            x - 12 if left else x + width + 12, y + height / 2 + MIDDLE, words, anchor="end" if left else "start"
        )
        if not last:
            figure.arrow(
                x + width - 4,
                y + height + 1,
                x + width + 5,
                y + rows.pitch - 2,
                ink="pp",
                stroke="thick",
                size=9,
                key=f"hand-{stage}",
            )
        first += size
    sizes = sorted(set(case.layers))
    answers(
        figure,
        (
            Answer(f"{case.model.layers}", "layers"),
            Answer(" or ".join(map(str, sizes)), "a stage", strong=True),
            Answer(bytes_text(case.payload.value), "handed on, each micro-batch"),
        ),
        room=700,
    )
    figure.text(0, 384, "each stage is a GPU, or a group that splits its layers further", "remark")


def _layers(figure: SceneFigure, stage: int, size: int, box: tuple[float, float, float, float]) -> None:
    x, y, width, height = box
    with figure.at(f"layers-{stage}", x, y), figure.tip(f"stage {stage} keeps these {size} layers and no others"):
        block(figure, 0, 0, width, height, "weights", f"layers-{stage}")
        each, top = width / size, 3
        figure.path(
            "".join(f"M{n * each:.1f} {top}v{height - 2 * top:.1f}" for n in range(1, size)), ink="rule", stroke="thin"
        )


def hops(figure: SceneFigure, run: Run, rows: Rows) -> None:
    """Arrows from stage to stage: activations down, gradients up."""
    for op in run.timeline.intervals:
        down = op.kind == "F"
        if op.stage == (rows.stages - 1 if down else 0):
            continue
        x, gap = rows.x(op.end), rows.pitch - rows.bar
        y = rows.y(op.stage) + (rows.bar if down else 0)
        reach = gap + min(8.0, rows.bar / 3)
        with figure.tip("activations of the micro-batch go on" if down else "the gradient of its input goes back"):
            to = rows.x(op.end + run.send) + (5 if not run.send else 0)
            figure.arrow(
                x - 5,
                y - (3 if down else -3),
                to,
                y + (reach if down else -reach),
                ink="pp",
                stroke="thick",
                size=9,
                key=f"hop-{op.kind}-{op.stage}",
            )


def groups(figure: SceneFigure, case: Case, refusal: Refusal) -> None:
    """Micro-batches in groups as large as the pipe is long; the last group is not full."""
    per_line = max(1, min(4, 24 // case.p))
    size = min(40.0, 660 / (case.p * per_line + per_line))
    total = -(-case.m // case.p)
    lines = -(-total // per_line)
    pitch = min(44.0, 150 / lines)
    for n in range(total * case.p):
        group, at = divmod(n, case.p)
        line, place = divmod(group, per_line)
        x, y = 30 + (place * (case.p + 1) + at) * size, 76 + line * pitch
        with figure.at(f"group-{n}", x, y):
            block(
                figure, 0, 0, size - 4, min(size, pitch) - 4, "activations", f"group-{n}", ghost=n >= case.m, radius=7
            )
    figure.text(30, 44, f"{case.m} micro-batches in groups of {case.p}", "caption")
    y = 76 + lines * pitch + 56
    figure.text(30, y, "The last group is not full,", "remark", ink="bad")
    figure.text(30, y + 28, "and interleaving passes whole groups.", "remark", ink="bad")
    figure.text(30, y + 76, f"works with {refusal.nearest} micro-batches", "caption")


def side_by_side(figure: SceneFigure, case: Case) -> None:
    """Every schedule on one axis, a thin line for each stage, with its length, its waiting and what it holds."""
    ends, top = (494.0, 576.0, 652.0, RIGHT), 34.0
    pitch = min(72.0, 360 / len(SHOWN))
    for x, words in zip(ends, ("slots", "waiting", "inside", "holds"), strict=True):
        figure.text(x, 18, words, "remark", anchor="end", ink="ink")
    best = {
        "slots": min(run.slots for run in case.runs.values()),
        "waiting": min(case.waiting(name).value for name in case.runs),
        "inside": min(case.inside(name).value for name in case.runs),
        "held": min(max(run.held) for run in case.runs.values()),
    }
    for at, name in enumerate(SHOWN):
        y = top + at * pitch
        title = EVERY[name].title
        figure.text(0, y + 34, title if words_width(title, "caption") < 116 else name, "caption")
        if refusal := case.refusal(name):
            words = f"does not run with {case.m} micro-batches; the nearest that works: {refusal.nearest}"
            figure.text(122, y + 34, words, ink="soft")
            continue
        run = case.runs[name]
        rows = Rows(case.p, case.end, left=122, right=428, top=y, tall=pitch - 12)
        idle(figure, run, rows)
        straight(figure, run, rows)
        waiting, inside, held = case.waiting(name).value, case.inside(name).value, max(run.held)
        for x, text, good in zip(
            ends,
            (slots_text(run.slots), share_text(waiting), share_text(inside), digits_text(held)),
            (
                run.slots <= best["slots"] + 1e-9,
                waiting <= best["waiting"] + 1e-9,
                inside <= best["inside"] + 1e-9,
                held <= best["held"],
            ),
            strict=True,
        ):
            figure.text(x, y + 36, text, "caption" if good else "number", anchor="end", ink="ink" if good else "soft")
            if good:
                wide = words_width(text, "caption")
                figure.underline(x - wide, y + 42, wide, ink="good", key=f"best-{at}-{x}")


def head_remark(figure: SceneFigure, case: Case) -> None:
    """How much slower a real head makes the last stage."""
    last = case.layers[-1]
    lines = (
        f"the head of {MODEL} is worth",
        f"{digits_text(case.head.value)} layers; beside {last} layers that is",
        f"{share_text(case.head.value / last)} more work",
    )
    for at, words in enumerate(lines):
        figure.text(WIDTH - 6, 300 + at * 28, words, "remark", anchor="end")
