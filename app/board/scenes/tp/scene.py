"""Tensor parallel: a layer's matrices cut so that one sum for each half repairs the result."""

from app.board.scenes.base import Frame, Misconception, Scene, Values, stills
from app.board.scenes.tp.case import KNOBS, SUMS, Case
from app.board.scenes.tp.film import TITLE, film
from engine.asking.question import Question
from engine.language.formula import Term
from engine.language.units import bytes_text, digits_text, seconds_text, share_text


def frames(values: Values) -> tuple[Frame, ...]:
    """The stops of the film, in order."""
    return stills(film(values))


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
        case.kept(case.tp, False),
        case.kept(case.tp, True),
        case.copies,
        case.doubled,
    )


def misconceptions(values: Values) -> tuple[Misconception, ...]:
    case = Case(values)
    more = max(2, case.tp)
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
    title=TITLE,
    sentence="Cut the first matrix by columns and the second by rows: one sum repairs each half of a layer.",
    knobs=KNOBS,
    frames=frames,
    question=question,
    numbers=numbers,
    misconceptions=misconceptions,
    real="tp",
    film=film,
    proof="the mirror",
)
