"""Data parallel: copies, a gradient sum, and how it hides behind the backward pass."""

from math import cos, pi, sin

from app.board.scenes.base import WIDTH, Frame, Misconception, Scene, SceneFigure, Values
from app.board.scenes.ddp.case import Case
from app.board.scenes.pieces import Bar, Lane, block, gpu, lanes
from engine.asking.question import Question
from engine.catalog.hardware import gpu_named
from engine.language.formula import Term
from engine.language.inputs import Amount
from engine.language.units import bytes_text, count_text, counted, seconds_text, share_text
from engine.memory.state import state_bytes
from engine.network.collectives import ring_all_reduce_sent_bytes

LAYERS = 4  # drawn: enough to see that the last one is first
MOST_BARS = 8  # groups of buckets drawn on the wires

KNOBS = (
    Amount("gpus", "GPUs", 4, 2, 8),
    Amount("billions", "parameters", 7, 1, 70, unit="billion"),
    Amount("bucket", "bucket", 25, 1, 1024, unit="MiB"),
    Amount("tokens", "tokens per GPU", 8192, 256, 65536, scale="doubling"),
)


def frames(values: Values) -> tuple[Frame, ...]:
    """The frames, in order."""
    case = Case(values)
    made = (same_weights, forward, first_bucket, bucket_leaves, ring, last_bucket, same_step, no_overlap)
    return tuple(draw(case, number) for number, draw in enumerate(made))


def same_weights(case: Case, number: int) -> Frame:
    caption = "Every GPU holds the same weights; each is dealt its own slice of the data."
    figure = _floor(case, number, caption, arriving=True)
    return Frame(
        "same weights",
        caption,
        f"{case.gpus} GPUs with equal stacks of weights. A data slice waits above each.",
        figure,
    )


def forward(case: Case, number: int) -> Frame:
    caption = "Forward: the same function, different data, so different losses. Nothing travels yet."
    figure = _floor(case, number, caption, active="f", loss=True)
    _clock(figure, case, now=case.forward.value * 0.6)
    about = f"All layers of all {case.gpus} GPUs compute for {case.forward.text}. Below, the wires are empty."
    return Frame("forward", caption, about, figure)


def first_bucket(case: Case, number: int) -> Frame:
    caption = "Backward starts at the last layer. Its gradients fill the first bucket."
    figure = _floor(case, number, caption, gradients=1)
    _clock(figure, case, now=case.forward.value + case.backward.value / LAYERS * 0.9)
    about = f"Gradients of the last layer lie beside its weights on every GPU. A bucket holds {case.values['bucket']:g} MiB."
    return Frame("first bucket", caption, about, figure)


def bucket_leaves(case: Case, number: int) -> Frame:
    caption = "The full bucket leaves while the layer below still computes: two lanes, one clock."
    figure = _floor(case, number, caption, gradients=2, travelling=True)
    _clock(figure, case, now=case.forward.value + case.backward.value / LAYERS * 1.7)
    about = f"One of {case.buckets.text} travels between the GPUs while backward goes on in the layer below."
    return Frame("it leaves", caption, about, figure)


def ring(case: Case, number: int) -> Frame:
    hops, sent, size = case.gpus - 1, case.sent.text, bytes_text(case.gradients.value)
    caption = "A ring: sums travel once round in slices, then the finished slices travel once more."
    about = f"{counted(case.gpus, 'GPU')} in a ring pass on slices: {counted(hops, 'hop')} of sums, {hops} of copies. Each sends {sent} for {size} of gradients."
    figure = SceneFigure("ddp", number, "Ring all-reduce", about)
    cx, cy, radius = 190, 204, 132
    places = [
        (cx + radius * sin(2 * pi * i / case.gpus), cy - radius * cos(2 * pi * i / case.gpus)) for i in range(case.gpus)
    ]
    for i, (x, y) in enumerate(places):
        (x2, y2) = places[(i + 1) % case.gpus]
        share = 34 / (((x2 - x) ** 2 + (y2 - y) ** 2) ** 0.5)
        figure.arrow(
            x + (x2 - x) * share,
            y + (y2 - y) * share,
            x2 - (x2 - x) * share,
            y2 - (y2 - y) * share,
            ink="dp",
            stroke="thick",
            lift=8,
            key=f"hop-{i}",
        )
    for i, (x, y) in enumerate(places):
        figure.rectangle(x - 32, y - 25, 64, 50, fill="board", key=f"node-{i}")
        cell = 52 / case.gpus
        for part in range(case.gpus):
            done = part == i
            with figure.tip("this slice holds the sum of all GPUs" if done else "a partial sum, on its way"):
                block(
                    figure, x - 26 + part * cell, y - 17, cell, 15, "dp" if done else "gradients", f"slice-{i}-{part}"
                )
        figure.text(x, y + 19, f"GPU {i}", "read", anchor="middle")
    _ledger(figure, case, 390, 64)
    return Frame("the ring", caption, about, figure)


def last_bucket(case: Case, number: int) -> Frame:
    caption = "Only the last bucket sticks out: nothing is left to compute beside it."
    figure = _floor(case, number, caption, gradients=LAYERS, travelling=True)
    _clock(figure, case, now=case.forward.value + case.backward.value + case.tail.value / 2)
    about = f"All gradients are there. Of {case.traffic.text} of traffic only {case.tail.text} shows past the backward pass."
    return Frame("the tail", caption, about, figure)


def same_step(case: Case, number: int) -> Frame:
    caption = "Everyone has the same sum, takes the same step, and is equal again."
    figure = _floor(case, number, caption, active="w")
    about = f"The gradients are gone; all {case.gpus} GPUs changed their weights alike and hold equal copies again."
    return Frame("equal again", caption, about, figure)


def no_overlap(case: Case, number: int) -> Frame:
    caption = "The same step without overlap: the wires wait, then the GPUs wait."
    figure = _floor(case, number, caption, gradients=LAYERS)
    _clock(figure, case, overlap=False)
    longer = share_text(case.traffic.value / (case.forward.value + case.backward.value))
    about = f"All traffic, {case.traffic.text}, comes after the backward pass: the step is {longer} longer."
    return Frame("without overlap", caption, about, figure)


def _floor(
    case: Case,
    number: int,
    title: str,
    *,
    arriving: bool = False,
    active: str = "",
    loss: bool = False,
    gradients: int = 0,
    travelling: bool = False,
) -> SceneFigure:
    """The GPUs side by side with their layers; gradients lie beside the last so many layers."""
    figure = SceneFigure("ddp", number, title, f"{case.gpus} GPUs, each with {LAYERS} layers drawn.")
    gap = 14
    width = (WIDTH - 8 - gap * (case.gpus - 1)) / case.gpus
    for i in range(case.gpus):
        x, top = 4 + i * (width + gap), 46
        gpu(figure, x, top, width, 226, f"GPU {i}")
        with figure.at(f"data-{i}", x + width / 2 - min(36, width / 2 - 4), 8 if arriving else top + 32):
            block(figure, 0, 0, min(72, width - 8), 26, "activations", f"data-{i}", f"data {i}", radius=8)
        for layer in range(LAYERS):
            _layer(figure, i, layer, x, top + 196 - layer * 36, width, active, layer >= LAYERS - gradients)
        if loss:
            _loss(figure, i, x + width - 18, top + 58)
    if travelling:
        for i in range(case.gpus - 1):
            x = 4 + (i + 1) * (width + gap) - gap
            with figure.at(f"bucket-{i}", x - 8, 120):
                figure.arrow(0, 0, gap + 16, 0, ink="dp", stroke="thick", key=f"bucket-{i}")
    return figure


def _layer(
    figure: SceneFigure, i: int, layer: int, x: float, y: float, width: float, active: str, has_gradient: bool
) -> None:
    inner = width - 16
    kept = inner * 0.62 if has_gradient else inner
    block(figure, x + 8, y, kept, 26, active or "weights", f"weights-{i}-{layer}")
    if has_gradient:
        with figure.tip("gradients of this layer, waiting for their bucket or on the way"):
            block(figure, x + 8 + kept, y, inner - kept, 26, "gradients", f"gradient-{i}-{layer}")


def _loss(figure: SceneFigure, i: int, x: float, y: float) -> None:
    """A small column of another height for each GPU: their data differ."""
    height = 8 + (i * 7) % 17
    with figure.tip("the loss of this GPU's own data"):
        figure.rectangle(x, y - height, 9, height, fill="pp", key=f"loss-{i}")


def _clock(figure: SceneFigure, case: Case, now: float | None = None, overlap: bool = True) -> None:
    """Compute and wires on one clock; the buckets are drawn in a few groups."""
    f, b, c = case.forward.value, case.backward.value, case.traffic.value
    groups = int(min(MOST_BARS, case.buckets.value))
    each, bars, free = c / groups, [], 0.0
    for k in range(groups):
        ready = f + b if not overlap else f + b * (k + 1) / groups
        start = max(ready, free)
        free = start + each
        bars.append(Bar(start, free, "dp-pale", why=f"{count_text(case.buckets.value / groups)} buckets", ink="dp"))
    compute = (Bar(0, f, "f", "forward"), Bar(f, f + b, "b", "backward"))
    end = max(f + b + case.tail.value, free if not overlap else 0.0, f + b) * 1.02
    shown = [bar for bar in bars if now is None or bar.start <= now]
    lanes(figure, 290, (Lane("compute", compute), Lane("wires", tuple(shown))), end, now=now)
    figure.text(WIDTH - 8, 388, f"step {seconds_text(end / 1.02)}", "number", anchor="end")


def _ledger(figure: SceneFigure, case: Case, x: float, y: float) -> None:
    rows = (
        ("gradients", bytes_text(case.gradients.value)),
        ("each GPU sends", bytes_text(case.sent.value)),
        ("on NVLink", seconds_text(case.traffic.value)),
        ("backward takes", seconds_text(case.backward.value)),
    )
    for at, (name, text) in enumerate(rows):
        figure.text(x, y + at * 62, name, "remark")
        figure.text(x, y + 32 + at * 62, text, "answer")


def question(values: Values) -> Question:
    case = Case(values)
    return Question(
        ask=f"{case.gradients.text} of gradients, {case.gpus} GPUs in a ring: how many bytes does each GPU send?",
        answer=case.sent,
        because="Once round to add up, once round to hand out; each time all slices but one's own.",
    )


def numbers(values: Values) -> tuple[Term, ...]:
    case = Case(values)
    return (case.gradients, case.sent, case.buckets, case.traffic, case.backward, case.tail)


def misconceptions(values: Values) -> tuple[Misconception, ...]:
    case = Case(values)
    many = ring_all_reduce_sent_bytes(S=case.gradients.value, n=1024)
    most = bytes_text(2 * case.gradients.value)
    state = state_bytes(values["billions"] * 1e9, zero=0, D=1)
    worth = f"{state / gpu_named('h100').memory_bytes:.1f}"
    return (
        Misconception(
            "Traffic grows with the number of GPUs.",
            f"What each GPU sends never passes twice the gradients: {bytes_text(many)} on {count_text(1024)} GPUs, {most} at most. "
            "Only the hops grow.",
        ),
        Misconception(
            "Communication waits for backward to end.",
            f"Buckets leave as they fill. Here {seconds_text(case.tail.value)} of {seconds_text(case.traffic.value)} shows.",
        ),
        Misconception(
            "Data parallelism saves memory.",
            f"Each GPU keeps all of it: {bytes_text(state)} of training state, {worth} GPUs' worth.",
        ),
    )


DDP = Scene(
    name="ddp",
    title="Data parallel: copies that agree",
    sentence="DDP copies everything and hides the gradient sum behind the backward pass.",
    knobs=KNOBS,
    frames=frames,
    question=question,
    numbers=numbers,
    misconceptions=misconceptions,
    real="ddp",
)
