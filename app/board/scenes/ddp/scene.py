"""Data parallel: copies, a gradient sum, and how it hides behind the backward pass."""

from app.board.scenes.base import Frame, Misconception, Scene, Values, stills
from app.board.scenes.ddp.case import CLUSTER, KNOBS, Case
from app.board.scenes.ddp.film import TITLE, film
from engine.asking.question import Question
from engine.language.formula import Term
from engine.language.units import bytes_text, count_text, seconds_text
from engine.memory.state import state_bytes
from engine.network.collectives import ring_all_reduce_sent_bytes


def frames(values: Values) -> tuple[Frame, ...]:
    """The stops of the film, in order."""
    return stills(film(values))


def question(values: Values) -> Question:
    case = Case(values)
    return Question(
        ask=f"{case.gradients.text} of gradients, {case.gpus} GPUs in a ring: how many bytes does each GPU send?",
        answer=case.sent,
        because="Once round to add up, once round to hand out; each time all slices but one's own.",
    )


def numbers(values: Values) -> tuple[Term, ...]:
    case = Case(values)
    return (
        case.gradients,
        case.sent,
        case.hops,
        case.buckets,
        case.slice,
        case.traffic,
        case.backward,
        case.tail,
    )


def misconceptions(values: Values) -> tuple[Misconception, ...]:
    case = Case(values)
    many = ring_all_reduce_sent_bytes(S=case.gradients.value, n=1024)
    most = bytes_text(2 * case.gradients.value)
    state = state_bytes(values["billions"] * 1e9, zero=0, D=1)
    worth = f"{state / CLUSTER.gpu.memory_bytes:.1f}"
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
    title=TITLE,
    sentence="DDP copies everything and hides the gradient sum behind the backward pass.",
    knobs=KNOBS,
    frames=frames,
    question=question,
    numbers=numbers,
    misconceptions=misconceptions,
    real="ddp",
    film=film,
    proof="copies",
)
