"""Context parallel: a sequence in strips, keys and values on a ring, and a deal that levels causal work."""

from app.board.scenes.base import Frame, Misconception, Scene, Values, stills
from app.board.scenes.cp.case import BACKWARD, KNOBS, Case
from app.board.scenes.cp.film import TITLE, film
from engine.asking.question import Question
from engine.language.formula import Term
from engine.language.units import count_text, share_text
from engine.lens.ring_attention import causal_strip_share


def frames(values: Values) -> tuple[Frame, ...]:
    """The stops of the film, in order."""
    return stills(film(values))


def question(values: Values) -> Question:
    case = Case(values)
    return Question(
        ask=f"A causal mask, {case.ranks} GPUs, strips in order: how many times the mean work does the slowest one do?",
        answer=case.worst,
        because="The last strip sees all keys before it. Work grows in odd steps from strip to strip, and the mean is as many steps as there are GPUs.",
    )


def numbers(values: Values) -> tuple[Term, ...]:
    case = Case(values)
    return (
        case.worst,
        case.waiting,
        case.hop(2, "keys and values of a hop"),
        case.forward_hop,
        case.forward_block,
        case.hop_s(4, "one hop with gradients"),
        case.block_s(BACKWARD, "one full block backward"),
        case.added(8192),
        case.added(values["sequence"]),
    )


def misconceptions(values: Values) -> tuple[Misconception, ...]:
    case = Case(values)
    first, last = (causal_strip_share(i, case.ranks) for i in (0, case.last))
    exact, whole = case.merging[-1].result, case.at_once
    return (
        Misconception(
            "The first rank works hardest, since everyone needs its keys.",
            f"It has the least to do: {share_text(first)} of the work; the last has {share_text(last)}. Giving keys away costs no FLOP.",
        ),
        Misconception(
            "Context parallel is sequence parallel.",
            f"Sequence parallelism cuts norms inside a tensor-parallel group; attention there sees all {count_text(values['sequence'])} tokens. "
            f"Context parallelism cuts attention itself, to {count_text(values['sequence'] / case.ranks)} queries a GPU, and sends keys and values round.",
        ),
        Misconception(
            "Ring attention approximates.",
            f"Merging is exact: {exact.output:.6f} from {case.ranks} blocks, {whole.output:.6f} from all keys at once.",
        ),
    )


CP = Scene(
    name="cp",
    title=TITLE,
    sentence="Cut the sequence, send keys and values round, and pair early strips with late ones so that causal work is even.",
    knobs=KNOBS,
    frames=frames,
    question=question,
    numbers=numbers,
    misconceptions=misconceptions,
    real="cp",
    film=film,
    proof="finish flags",
)
