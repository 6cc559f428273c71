"""Expert parallel: experts stay where they are, tokens travel to them and back."""

from app.board.legend import words_width
from app.board.scenes.base import Frame, Misconception, Scene, SceneFigure, Values
from app.board.scenes.ep.case import DRAWN, GPUS, KNOBS, MODEL, Case
from app.board.scenes.ep.drawing import (
    HIGH,
    HOME,
    LEFT,
    LETTERS,
    clock,
    copy,
    figures_below,
    floor,
    queue,
    ribbons,
    row,
)
from app.board.scenes.ep.views import both_ways, few_nodes, overflowing
from app.board.scenes.pieces import block
from engine.asking.question import Question
from engine.language.formula import Term
from engine.language.units import bytes_text, count_text, counted, digits_text, seconds_text, share_text


def frames(values: Values) -> tuple[Frame, ...]:
    """The frames, in order."""
    case = Case(values)
    made = (scores, tickets, dispatch, computing, combine, overflowing, few_nodes, both_ways)
    return tuple(draw(case, number) for number, draw in enumerate(made))


def scores(case: Case, number: int) -> Frame:
    caption = "Every GPU has tokens and a few experts. A small router scores all experts."
    about = f"{GPUS} GPUs with {DRAWN} tokens drawn each, of {count_text(case.tokens)}. {case.experts} experts, {case.a_gpu} a GPU. Bars: scores of one token."
    figure = SceneFigure("ep", number, "Router scores", about)
    floor(figure, case, ("tokens live here", "router", "experts live here"))
    for i in range(GPUS):
        _bars(figure, case, i)
    figures_below(
        figure,
        (
            (2, "tokens per GPU", count_text(case.tokens)),
            (200, "width of a token", count_text(MODEL.hidden)),
            (400, "experts", f"{case.experts}"),
            (520, "experts per token", f"top {case.top_k}"),
        ),
    )
    return Frame("router scores", caption, about, figure)


def _bars(figure: SceneFigure, case: Case, i: int) -> None:
    """The scores that the first token of a GPU gives to all experts."""
    token, y = i * DRAWN, row(i)
    shares = case.routing.scores(token)
    left, pitch = LEFT + 42, (HOME - LEFT - 66) / case.experts
    figure.text(LEFT + 14, y + 37, LETTERS[token], "caption")
    for expert, share in enumerate(shares):
        chosen = expert in case.routing.choices[token]
        high = max(3.0, (HIGH - 8) * share / max(shares))
        with figure.tip(f"token {LETTERS[token]} to expert {expert}: {share_text(share)}"):
            figure.rectangle(
                left + expert * pitch + 2,
                y + HIGH - 4 - high,
                pitch - 4,
                high,
                fill="ep" if chosen else "plain",
                ink="ink" if chosen else "ghost",
                stroke="normal" if pitch > 20 else "thin",
                key=f"score-{i}-{expert}",
            )
    figure.line(
        left - 2,
        y + HIGH - 3,
        left + pitch * case.experts + 2,
        y + HIGH - 3,
        ink="rule",
        stroke="thin",
        key=f"axis-{i}",
    )


def tickets(case: Case, number: int) -> Frame:
    k = case.top_k
    caption = f"Each token draws {k} tickets: one for each of its best experts."
    if k == 1:
        caption = "Each token draws one ticket: for the expert it likes best."
    copies = count_text(case.tokens * k)
    about = f"{case.tokens:,} tokens per GPU make {copies} copies, one for each expert visited. " + _tickets_text(case)
    figure = SceneFigure("ep", number, "Tickets", about)
    floor(figure, case, ("tokens live here", f"top {k}", "experts live here"))
    columns = min(k, 4)
    size, high = min(29.0, 61 / columns - 2), 30.0 if k <= 4 else 16.0
    told = k <= 4 and words_width(str(case.experts - 1)) < size - 3
    for token, chosen in enumerate(case.routing.choices):
        i, j = divmod(token, DRAWN)
        x, y = LEFT + 14 + j * 70, row(i)
        wide = min(len(chosen), columns) * (size + 2)
        figure.text(x + 30, y + 16, LETTERS[token], "read", anchor="middle", ink="soft")
        for at, expert in enumerate(chosen):
            left, top = x + 30 - wide / 2 + at % columns * (size + 2), y + 24 + at // columns * (high + 2)
            with figure.tip(f"token {LETTERS[token]} goes to expert {expert}"):
                copy(figure, token, at, left, top, size, str(expert) if told else "", high, ink="ep")
    figures_below(
        figure,
        (
            (2, "copies per GPU", copies),
            (200, "bytes per copy", bytes_text(2 * MODEL.hidden)),
            (400, "to send, if all leave home", bytes_text(case.dispatch.value)),
        ),
    )
    return Frame("tickets", caption, about, figure)


def _tickets_text(case: Case) -> str:
    first = case.routing.choices[0]
    return f"The first one drawn goes to {'experts' if len(first) > 1 else 'expert'} {', '.join(map(str, first))}."


def dispatch(case: Case, number: int) -> Frame:
    caption = "All-to-all: copies leave for their experts. Every pair of GPUs has its own width."
    hot = case.busiest // case.a_gpu
    flows = "; ".join(f"GPU {i} sends {', '.join(str(case.flow(i, j)) for j in range(GPUS))}" for i in range(GPUS))
    about = f"Copies drawn, to each GPU in turn: {flows}. In full {case.dispatch.text} a GPU, {case.exchange_s.text}."
    figure = SceneFigure("ep", number, "Dispatch", about)
    floor(
        figure,
        case,
        ("tokens", "dispatch →", "" if case.balanced else f"E{case.busiest} is busy: GPU {hot}"),
        quiet=True,
    )
    ribbons(figure, case, "sends to")
    queue(figure, case)
    clock(figure, case, 0)
    return Frame("dispatch", caption, about, figure)


def computing(case: Case, number: int) -> Frame:
    hot, load = case.busiest // case.a_gpu, digits_text(case.busiest_gpu.value)
    caption = f"Experts compute. GPU {hot} has {load} times its share and ends last; the others wait."
    if case.balanced:
        caption = "Experts compute. All have their share, so all end together: the router's best day."
    about = f"Evenly loaded the experts take {case.even_s.text}; with expert {case.busiest} at {case.skew:g} times the mean, {case.experts_s.text}."
    figure = SceneFigure("ep", number, "Experts compute", about)
    floor(figure, case, ("tokens", f"the last ends at {seconds_text(case.experts_s.value)}", "experts"), quiet=True)
    queue(figure, case)
    left, right = LEFT + 12, HOME - 14
    scale = (right - left) / (case.busiest_gpu.value * case.a_gpu)
    for i in range(GPUS):
        x, y = left, row(i) + 13
        for expert in range(i * case.a_gpu, (i + 1) * case.a_gpu):
            width, hottest = case.load(expert) * scale, expert == case.busiest and not case.balanced
            if width < 1:
                continue
            with figure.tip(f"expert {expert}: {digits_text(case.load(expert))} times the mean"):
                block(figure, x, y, width, 36, "ep" if hottest else "f", f"work-{expert}")
            with figure.group("on-solid" if hottest else ""):
                figure.text(x + width / 2, y + 24, f"E{expert}" if width > 36 else "", "read", anchor="middle")
            x += width
        if right - x > 3:
            with figure.tip("waits until the busiest GPU is done"):
                figure.rectangle(x, y, right - x, 36, fill="waiting", ink="ghost", key=f"wait-{i}")
    figure.line(right + 2, row(0), right + 2, row(GPUS - 1) + HIGH, ink="bad", stroke="thick", key="last")
    clock(figure, case, 1)
    return Frame("experts compute", caption, about, figure)


def combine(case: Case, number: int) -> Frame:
    caption = "All-to-all back: results return, and each token adds them, weighted by its scores."
    shares = case.routing.gates(0)
    weights = ", ".join(
        f"{share_text(share)} of expert {expert}" for expert, share in zip(case.routing.choices[0], shares, strict=True)
    )
    about = f"As many bytes return as went: {case.dispatch.text} a GPU. The first token drawn adds {weights}."
    figure = SceneFigure("ep", number, "Combine", about)
    floor(figure, case, ("weighted sum", "← combine", "experts"), low=True)
    ribbons(figure, case, "gets back from")
    columns, high = min(case.top_k, 4), 18.0 if case.top_k <= 4 else 9.0
    pitch = 26 / columns
    size = min(12.0, pitch - 1.5)
    for token in range(GPUS * DRAWN):
        i, j = divmod(token, DRAWN)
        gates = case.routing.gates(token)
        for at, gate in enumerate(gates):
            x, y = 76 + j * 30 + at % columns * pitch + (pitch - size) / 2, row(i) + 38 + at // columns * 11
            with figure.tip(f"weight {share_text(gate)}"):
                copy(figure, token, at, x, y, size, high=high * gate / max(gates))
    clock(figure, case, 2)
    return Frame("combine", caption, about, figure)


def question(values: Values) -> Question:
    case = Case(values)
    return Question(
        ask=f"{counted(case.tokens, 'token')} per GPU, {counted(case.top_k, 'expert')} each, {MODEL.hidden:,} wide, in BF16: "
        "how many bytes does a GPU send to its experts, if all are elsewhere?",
        answer=case.dispatch,
        because="One copy for each expert visited, two bytes per channel. The same again comes back.",
    )


def numbers(values: Values) -> tuple[Term, ...]:
    case = Case(values)
    return (
        case.dispatch,
        case.exchange_s,
        case.limited,
        case.limited_s,
        case.even_s,
        case.busiest_gpu,
        case.experts_s,
        case.overflow,
        case.exchanges_s,
    )


def misconceptions(values: Values) -> tuple[Misconception, ...]:
    case = Case(values)
    parts, few = case.whole_model, digits_text(MODEL.moe_ffn / GPUS)
    return (
        Misconception(
            "Experts are free: a token uses only a few of them.",
            f"All lie in memory: DeepSeek-V3 holds {count_text(parts.total)} parameters for the {count_text(parts.active)} that a "
            f"token meets. And tokens travel: {bytes_text(case.dispatch.value)} a GPU and exchange here.",
        ),
        Misconception(
            "Expert parallel is tensor parallel for the MLP.",
            f"An expert stays whole, {MODEL.hidden:,} by {MODEL.moe_ffn:,}, and no partial results meet. Tensor parallel would cut "
            f"it to {few} columns on each of {GPUS} GPUs and add up.",
        ),
        Misconception(
            "The mean load sets the pace.",
            f"The busiest GPU does: {digits_text(case.busiest_gpu.value)} times the mean here, {seconds_text(case.experts_s.value)} "
            f"instead of {seconds_text(case.even_s.value)}.",
        ),
    )


EP = Scene(
    name="ep",
    title="Expert parallel: tokens travel",
    sentence="Experts stay, tokens travel there and back, and the busiest expert sets the pace.",
    knobs=KNOBS,
    frames=frames,
    question=question,
    numbers=numbers,
    misconceptions=misconceptions,
    real="ep",
)
