"""ZeRO and FSDP: the training state cut into slices, and layers that are borrowed just in time."""

from app.board.scenes.base import Frame, Misconception, Scene, Values, stills
from app.board.scenes.zero.case import CLUSTER, KNOBS, SHAPE, Case
from app.board.scenes.zero.film import TITLE, film
from engine.asking.question import Question
from engine.language.formula import Term
from engine.language.units import bytes_text, count_text, seconds_text
from engine.network.collectives import ring_half_s, zero3_over_ddp_volume


def frames(values: Values) -> tuple[Frame, ...]:
    """The stops of the film, in order."""
    return stills(film(values))


def question(values: Values) -> Question:
    case = Case(values)
    return Question(
        ask=f"{count_text(case.parameters)} parameters, ZeRO-3 over {case.gpus} GPUs: how many bytes of training state on each?",
        answer=case.states[3],
        because="Weights, gradients and optimizer state are all cut, so each GPU keeps its part of all sixteen bytes.",
    )


def numbers(values: Values) -> tuple[Term, ...]:
    case = Case(values)
    volume = zero3_over_ddp_volume.explain("ZeRO-3 traffic over DDP's")
    return (
        *case.states,
        case.layer_bytes,
        case.window,
        case.sent_ddp,
        case.sent,
        volume,
        case.gather,
        case.forward,
        case.break_even,
        case.own,
        case.pass_s(1),
        case.pass_s(0),
    )


def misconceptions(values: Values) -> tuple[Misconception, ...]:
    case = Case(values)
    one = ring_half_s(case.layer_bytes.value, case.gpus, CLUSTER.nic_bytes_per_s, 0.0)
    node = CLUSTER.gpus_per_node * CLUSTER.nic_bytes_per_s
    through_all = ring_half_s(case.layer_bytes.value, case.gpus, node, 0.0)
    return (
        Misconception(
            "FSDP is model parallelism.",
            f"Each GPU computes all {SHAPE.layers} layers, on {count_text(case.values['tokens'])} tokens of its own. "
            f"Only the storage is cut: {case.states[3].text} instead of {case.states[0].text}.",
        ),
        Misconception(
            f"{bytes_text(CLUSTER.nic_bytes_per_s)}/s is the speed between nodes.",
            f"That is one adapter; a node has {CLUSTER.gpus_per_node}, {bytes_text(node)}/s together. "
            f"A layer comes in {seconds_text(through_all)}, not {seconds_text(one)}.",
        ),
        Misconception(
            "Half as much traffic again makes the step half as long again.",
            f"Most of it passes while layers compute: forward takes {case.pass_s(1).text}, "
            f"of which {case.gather.text} is the first gather, in the open.",
        ),
    )


ZERO = Scene(
    name="zero",
    title=TITLE,
    sentence="ZeRO-3 pays one extra trip of the weights for not storing them.",
    knobs=KNOBS,
    frames=frames,
    question=question,
    numbers=numbers,
    misconceptions=misconceptions,
    real="fsdp2",
    film=film,
    proof="ZeRO-3",
)
