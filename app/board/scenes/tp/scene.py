"""Tensor parallel: a layer's matrices cut so that one sum for each half repairs the result."""

from app.board.scenes.base import Frame, Misconception, Scene, SceneFigure, Values
from app.board.scenes.pieces import block
from app.board.scenes.tp.case import ELEMENT, KNOBS, SUMS, Case, silu_of
from app.board.scenes.tp.drawing import A, B, X, Y, Z, joined, mark, matrix, note
from app.board.scenes.tp.layer import heads, mirror, sequence_parallel, stretched
from engine.asking.question import Question
from engine.language.formula import Term
from engine.language.units import bytes_text, count_text, counted, digits_text, seconds_text, share_text

NOTES = 552  # where the words at the right begin


def frames(values: Values) -> tuple[Frame, ...]:
    """The frames, in order."""
    case = Case(values)
    made = (whole, first_cut, nonlinearity, second_cut, heads, mirror, sequence_parallel, stretched)
    return tuple(draw(case, number) for number, draw in enumerate(made))


def whole(case: Case, number: int) -> Frame:
    model = case.model
    caption = "An MLP is two products: tokens times A, a nonlinearity, times B."
    about = (
        f"X has {count_text(case.tokens)} rows and {count_text(model.hidden)} columns. A widens it to {count_text(model.ffn)}, "
        "which is Y; B brings it back to the first width, which is Z."
    )
    figure = SceneFigure("tp", number, "One MLP", about)
    for name, box in (("X", X), ("Y", Y), ("Z", Z)):
        matrix(figure, name, box)
    joined(figure, "A", A, case.t, "columns" if case.columns_first else "rows", "weights")
    joined(figure, "B", B, case.t, "rows" if case.rows_second else "columns", "weights")
    figure.text(Y[0] + Y[2] / 2, 388, "σ(Y) goes on", "remark", anchor="middle")
    figure.arrow(400, 314, 424, 314, key="on")
    note(
        figure,
        NOTES,
        40,
        (
            ("tokens", count_text(case.tokens)),
            ("width", count_text(model.hidden)),
            ("inner width", count_text(model.ffn)),
            ("A and B", bytes_text(4 * model.hidden * model.ffn)),
        ),
    )
    return Frame("one MLP", caption, about, figure)


def first_cut(case: Case, number: int) -> Frame:
    if case.columns_first:
        caption = "Cut A by columns: whole X goes in, finished columns of Y come out."
        about = f"Each of {counted(case.t, 'GPU')} holds {count_text(case.model.ffn / case.t)} columns of A and makes the same columns of Y. No traffic."
    else:
        caption = "Cut A by rows: every GPU makes only a part of each element of Y."
        about = (
            f"Y lies {case.t} times as parts of a sum; only an all-reduce of {case.forced[0].size.text} makes it whole."
        )
    if case.alone:
        caption = "One GPU holds all of A: nothing is cut yet. Give it company."
    figure = SceneFigure("tp", number, "The first cut", about)
    _left_factor(figure, case)
    _first(figure, case)
    matrix(figure, "B", B, ghost=True)
    matrix(figure, "Z", Z, ghost=True)
    if case.columns_first or case.alone:
        note(figure, NOTES, 156, (("on the wires", "nothing"),), ink="good")
        note(figure, NOTES, 228, (("columns each", count_text(case.model.ffn / case.t)),))
    else:
        note(figure, NOTES, 156, (("σ needs it whole:", case.forced[0].what.partition(" of ")[0]),), ink="bad")
        note(figure, NOTES, 228, (("of all of Y", bytes_text(case.forced[0].size.value)),))
    return Frame("cut A", caption, about, figure)


def _left_factor(figure: SceneFigure, case: Case) -> None:
    if case.columns_first:
        matrix(figure, "X", X)
        figure.text(
            X[0] + X[2] / 2, 386, f"on all {case.t}" if not case.alone else "on the one", "remark", anchor="middle"
        )
    else:
        matrix(figure, "X", X, case.t, "columns", gap=2)
        figure.text(X[0] + X[2] / 2, 386, "X", "caption", anchor="middle")


def _first(figure: SceneFigure, case: Case, ghost: bool = False) -> None:
    """A and Y as the first cut leaves them."""
    matrix(figure, "A", A, case.t, "columns" if case.columns_first else "rows", fill="weights", ghost=ghost)
    figure.text(A[0], A[1] - 10, "A", "caption", ink="soft" if ghost else "ink")
    why = (
        "finished columns: all of X met these columns of A"
        if case.columns_first
        else "a part of each element: the others hold the rest"
    )
    matrix(figure, "Y", Y, case.t, "columns" if case.columns_first else "sheets", tip=why)
    figure.text(Y[0] + Y[2] / 2, 386, "Y" if case.columns_first else f"Y in {case.t} parts", "caption", anchor="middle")


def nonlinearity(case: Case, number: int) -> Frame:
    caption = "Finished columns pass the nonlinearity one by one; parts of a sum do not."
    parts = ELEMENT
    right, wrong = silu_of(sum(parts)).value, tuple(silu_of(part).value for part in parts)
    about = (
        f"By columns an element of Y is {signed(sum(parts))} and becomes {signed(right)}. By rows two GPUs hold {signed(parts[0])} and "
        f"{signed(parts[1])} of it; after the nonlinearity these add to {signed(sum(wrong))}, which is wrong."
    )
    figure = SceneFigure("tp", number, "The nonlinearity", about)
    for y, words in ((128, "Y"), (286, "σ(Y)")):
        figure.text(8, y, words, "title")
    chosen = case.columns_first
    figure.text(175, 34, "A by columns", "title", anchor="middle", ink="ink" if chosen else "soft")
    figure.text(476, 34, "A by rows", "title", anchor="middle", ink="soft" if chosen else "ink")
    _element(figure, 110, 0, sum(parts), right)
    _element(figure, 346, 0, parts[0], wrong[0])
    _element(figure, 494, 1, parts[1], wrong[1])
    figure.line(284, 30, 284, 384, ink="rule", stroke="thin", key="between")
    for y, total, ink in ((128, sum(parts), "ink"), (286, sum(wrong), "bad")):
        figure.text(480, y, "+", "title", anchor="middle")
        figure.text(622, y, f"= {signed(total)}", "title", ink=ink)
    figure.tick(130, 368, 22, key="right")
    figure.text(158, 368, "complete", "remark", ink="good")
    figure.cross(396, 361, 20, key="wrong")
    figure.text(418, 368, f"not {signed(right)}: sum first", "remark", ink="bad")
    return Frame("nonlinearity", caption, about, figure)


def signed(value: float) -> str:
    """A number with a minus that can be seen from the last row."""
    return digits_text(value).replace("-", "−")


def _element(figure: SceneFigure, x: float, holder: int, before: float, after: float) -> None:
    """One element on its way through the nonlinearity."""
    figure.text(x + 60, 70, f"GPU {holder}", "remark", anchor="middle")
    for y, value in ((80, before), (238, after)):
        block(figure, x, y, 120, 76, "activations", f"element-{x}-{y}", radius=9)
        figure.text(x + 60, y + 48, signed(value), "title", anchor="middle")
    figure.arrow(x + 60, 164, x + 60, 228, ink="tp", stroke="thick", key=f"through-{x}")
    figure.text(x + 74, 204, "σ", "title", ink="tp")


def second_cut(case: Case, number: int) -> Frame:
    last = case.forced[-1]
    if case.rows_second:
        caption = "Cut B by rows: every GPU holds a part of Z, and one sum repairs it."
        about = f"{counted(case.t, 'part')} of Z, as large as Z, {'meets' if case.alone else 'meet'} in an all-reduce of {last.size.text}: {last.seconds.text} on NVLink."
    else:
        caption = "Cut B by columns: every GPU needs all of Y, and Z must be gathered."
        about = (
            f"Each GPU makes some columns of Z from the whole of Y. Forced: {', '.join(f.what for f in case.forced)}."
        )
    if case.alone:
        caption = "One GPU holds all of B: Z is whole at once, and nothing travels."
    figure = SceneFigure("tp", number, "The second cut", about)
    matrix(figure, "A", A, case.t, "columns" if case.columns_first else "rows", fill="weights", ghost=True)
    sliced = case.rows_second
    matrix(figure, "Y", Y, case.t if sliced else 1, "columns" if sliced else "")
    figure.text(Y[0] + Y[2] / 2, 386, "σ(Y)", "caption", anchor="middle")
    matrix(figure, "X", X, ghost=True)
    matrix(figure, "B", B, case.t, "rows" if case.rows_second else "columns", fill="weights")
    figure.text(B[0] - 12, B[1] + 16, "B", "caption", anchor="end")
    _parts_of_z(figure, case)
    top = 30
    for forced in case.forced:
        figure.text(NOTES, top, forced.what, "remark", ink="tp" if len(case.forced) == 1 else "bad")
        figure.text(NOTES, top + 32, bytes_text(forced.size.value), "title")
        words = "stays at home" if case.alone else f"in {seconds_text(forced.seconds.value)}"
        figure.text(NOTES, top + 58, words, "number", ink="soft")
        top += 98
    return Frame("cut B", caption, about, figure)


def _parts_of_z(figure: SceneFigure, case: Case) -> None:
    x, y, width, height = Z
    if case.rows_second:
        matrix(figure, "Z", (x - 6, y + 8, width, height - 8), case.t, "sheets", tip="a part of each element of Z")
        figure.text(x + width / 2 + 4, 386, "Z" if case.alone else f"{case.t} parts", "caption", anchor="middle")
    else:
        matrix(figure, "Z", Z, case.t, "columns", gap=2)
    figure.arrow(550, 318, 564, 318, ink="tp", stroke="thick", size=8, key="to-sum")
    with figure.tip("g: every GPU gets the sum of all parts"):
        mark(figure, 586, 318, "Σ" if case.rows_second else "=", strong=not case.alone, key="g")
    figure.text(586, 290, "g" if case.rows_second else "join", "remark", anchor="middle", ink="tp")
    figure.arrow(608, 318, 624, 318, ink="tp", stroke="thick", size=8, key="from-sum")
    block(figure, 630, y, width, height, "activations", "Z-sum", radius=9)
    figure.text(630 + width / 2, y + height / 2 + 9, "Z", "title", anchor="middle")


def question(values: Values) -> Question:
    case = Case(values)
    names = ("none", "two", "four", "eight")
    return Question(
        ask="How many all-reduces does one layer cost, forward and backward together?",
        options=names,
        right=0 if case.alone else names.index("four"),
        because="One GPU has nobody to add up with."
        if case.alone
        else f"One after attention and one after the MLP, forward; the mirror of both, backward: {SUMS} of {bytes_text(case.field.value)}.",
    )


def numbers(values: Values) -> tuple[Term, ...]:
    case = Case(values)
    return (
        case.field,
        case.sent,
        case.sum_s,
        case.sums_s,
        case.work,
        case.near_wait,
        case.far_sums_s,
        case.far_wait,
        case.kept(1, False),
        case.kept(case.t, False),
        case.kept(case.t, True),
        case.copies,
        case.doubled,
    )


def misconceptions(values: Values) -> tuple[Misconception, ...]:
    case = Case(values)
    more = max(2, case.t)
    doubled, sent, half = digits_text(case.doubled.value), bytes_text(case.sent.value), bytes_text(case.half_sent.value)
    heads_kept = case.model.kv_heads
    return (
        Misconception(
            "Twice the tensor parallelism, half the time.",
            f"From {more // 2} to {more} GPUs a layer becomes {doubled} times as fast: the work halves, the sums do not.",
        ),
        Misconception(
            "Sequence parallelism costs extra traffic.",
            f"A scatter and a gather send {half} each; the all-reduce they replace sends {sent}.",
        ),
        Misconception(
            "There is one all-reduce a layer.",
            f"There are {SUMS}: {seconds_text(case.sums_s.value)} of sums for {seconds_text(case.work.value)} of work, "
            f"{share_text(case.near_wait.value)}.",
        ),
        Misconception(
            "More GPUs always hold less.",
            f"There are {heads_kept} key-value heads. On {2 * heads_kept} GPUs each of them lies on {digits_text(case.copies.value)}.",
        ),
    )


TP = Scene(
    name="tp",
    title="Tensor parallel: one layer on many GPUs",
    sentence="Cut the first matrix by columns and the second by rows: one sum repairs each half of a layer.",
    knobs=KNOBS,
    frames=frames,
    question=question,
    numbers=numbers,
    misconceptions=misconceptions,
    real="tp",
)
