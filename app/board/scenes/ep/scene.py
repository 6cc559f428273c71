"""Expert parallel: experts stay where they are, tokens travel to them and back."""

from app.board.scenes.base import Frame, Misconception, Scene, Values, stills
from app.board.scenes.ep.case import GPUS, KNOBS, MODEL, Case
from app.board.scenes.ep.film import TITLE, film
from engine.asking.question import Question
from engine.language.formula import Term
from engine.language.units import bytes_text, count_text, counted, digits_text, seconds_text


def frames(values: Values) -> tuple[Frame, ...]:
    """The stops of the film, in order."""
    return stills(film(values))


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
    title=TITLE,
    sentence="Experts stay, tokens travel there and back, and the busiest expert sets the pace.",
    knobs=KNOBS,
    frames=frames,
    question=question,
    numbers=numbers,
    misconceptions=misconceptions,
    real="ep",
    film=film,
    proof="dispatch",
)
