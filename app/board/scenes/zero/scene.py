"""ZeRO and FSDP: the training state cut into slices, and layers that are borrowed just in time."""

from app.board.scenes.base import Frame, Misconception, Scene, SceneFigure, Values
from app.board.scenes.zero.case import CLUSTER, KNOBS, SHAPE, Case
from app.board.scenes.zero.drawing import (
    DRAWN,
    FIELDS,
    LAYERS,
    Held,
    Trip,
    both_busy,
    clock,
    compute_lane,
    fields,
    floor,
    held_as,
    late,
    memory,
    sums,
    trips,
    wire_lane,
    with_waiting,
)
from engine.asking.question import Question
from engine.language.formula import Term
from engine.language.refusal import Refusal
from engine.language.units import bytes_text, count_text, seconds_text, share_text
from engine.lens.sharded import sharded_pass
from engine.memory.state import held_bytes
from engine.network.collectives import ring_half_s, zero3_over_ddp_volume


def frames(values: Values) -> tuple[Frame, ...]:
    """The frames, in order."""
    case = Case(values)
    local = CLUSTER.gpus_per_node
    if case.gpus > local and case.gpus % local:
        rule = f"GPUs come in nodes of {local}: above {local} the group is made of whole nodes"
        raise Refusal("gpus", case.gpus, rule, str(max(1, round(case.gpus / local)) * local))
    made = (copies, optimizer_cut, gradients_cut, weights_cut, gathers, prefetches, frees, backward, steps, no_prefetch)
    return tuple(draw(case, number) for number, draw in enumerate(made))


def copies(case: Case, number: int) -> Frame:
    each, cost = case.states[0].text, sum(size for _, _, size in FIELDS)
    caption = f"Data parallel: every GPU keeps all {cost} bytes of every parameter, {each} of the same."
    about = f"Each of {case.gpus} GPUs holds weights, gradients and optimizer state whole: {each}; an H100 has {bytes_text(case.capacity)}."
    made = (
        Trip("sum gradients", "reduce-scatter, half of the all-reduce"),
        Trip("copy gradients", "all-gather, its other half"),
    )
    return Frame("full copies", caption, about, _state(case, number, 0, about, made))


def optimizer_cut(case: Case, number: int) -> Frame:
    caption = f"ZeRO-1: each GPU keeps the optimizer state of its own slice only. Now {case.states[1].text}."
    about = f"Weights and gradients are whole, the optimizer is one slice of {case.gpus}: {case.states[1].text} instead of {case.states[0].text}."
    made = (
        Trip("sum gradients", "each owner needs the sum of its slice only"),
        Trip("copy weights", "each owner hands its new weights to all", True),
    )
    return Frame("ZeRO-1", caption, about, _state(case, number, 1, about, made))


def gradients_cut(case: Case, number: int) -> Frame:
    caption = f"ZeRO-2: gradients stay with their owner; the all-reduce has become a reduce-scatter. Now {case.states[2].text}."
    about = f"Only weights are whole; gradients and optimizer are slices: {case.states[2].text}. A GPU sends as much as before, in a step of one micro-batch; with more it scatters after each, where ZeRO-1 sends once."
    made = (
        Trip("scatter gradients", "reduce-scatter: each owner gets the sum of its slice", True),
        Trip("copy weights", "all-gather of new weights"),
    )
    return Frame("ZeRO-2", caption, about, _state(case, number, 2, about, made))


def weights_cut(case: Case, number: int) -> Frame:
    caption = f"ZeRO-3: the weights are slices too. Each GPU is mostly ghosts, {case.states[3].text}."
    more = case.sent.value / case.sent_ddp.value
    about = f"All state is sliced {case.gpus} ways: {case.states[3].text} each. Weights now travel twice: {case.sent.text}, {more:g} times DDP's."
    made = (
        Trip("gather weights", "all-gather before forward, layer by layer", True),
        Trip("gather again", "all-gather before backward: the layer was freed", True),
        Trip("scatter gradients", "reduce-scatter after backward"),
    )
    return Frame("ZeRO-3", caption, about, _state(case, number, 3, about, made))


def _state(
    case: Case, number: int, zero: int, about: str, made: tuple[Trip, ...], stepping: bool = False
) -> SceneFigure:
    """Memory and traffic of a ZeRO stage."""
    cut = {0: (), 1: ("optimizer",), 2: ("optimizer", "gradients"), 3: ("optimizer", "gradients", "weights")}[zero]
    figure = SceneFigure("zero", number, case.states[zero].label, about)
    fields(figure, cut, "" if stepping else cut[-1] if cut else "", stepping)
    parts = _parts(case, cut)
    before = case.states[zero - 1].value if zero and not stepping else 0
    memory(figure, 256, parts, _most(case), case.capacity, bytes_text(sum(part.amount for part in parts)), before)
    if stepping:
        figure.text(0, 338, "each steps", "remark", ink="ink")
        figure.text(126, 338, f"{count_text(case.own.value)} of {count_text(case.parameters)} parameters", "number")
    else:
        sent = case.sent if zero == 3 else case.sent_ddp
        trips(figure, 318, made, bytes_text(sent.value))
    figure.text(
        0, 390, f"four of {count_text(case.gpus)} GPUs drawn" if case.gpus > DRAWN else "all GPUs drawn", "remark"
    )
    return figure


def _parts(case: Case, cut: tuple[str, ...]) -> tuple[Held, ...]:
    return tuple(
        Held(fill, held_bytes(size, case.parameters, case.gpus if name in cut else 1)) for name, fill, size in FIELDS
    )


def _most(case: Case) -> float:
    """What the memory strip's width stands for in the frames about state."""
    return max(case.states[0].value, case.capacity * 1.05)


def gathers(case: Case, number: int) -> Frame:
    turn = case.forward_pass[0]
    now = turn.gather.start + (turn.gather.end - turn.gather.start) * 0.6
    caption = f"A layer gathers: the ghosts fill with slices that the other GPUs lend, {case.gather.text}."
    about = f"Layer one arrives on every GPU, {case.layer_bytes.text} in {case.gather.text}. Nothing computes yet: the first gather is always seen."
    return Frame("gather", caption, about, _forward(case, number, about, now))


def prefetches(case: Case, number: int) -> Frame:
    turn = case.forward_pass[0]
    now = turn.compute.start + min(case.gather.value, case.forward.value) / 2
    fits = case.gather.value <= case.forward.value
    caption = (
        "While one layer computes, the next is already on its way: the wires work in its shadow."
        if fits
        else "The next layer is on its way, but computing ends first: the wires are the slower."
    )
    about = f"Layer one computes for {case.forward.text}; a gather takes {case.gather.text}. Whole layers held: {case.window.text}."
    return Frame("prefetch", caption, about, _forward(case, number, about, now))


def frees(case: Case, number: int) -> Frame:
    caption = "Layer done: every GPU drops what it borrowed and keeps its slice. The strip falls."
    about = f"Layer one is back to slices on all GPUs; {case.layer_bytes.text} are free again for a layer to come."
    return Frame(
        "free", caption, about, _forward(case, number, about, case.forward_pass[0].compute.end, case.window.value)
    )


def _forward(case: Case, number: int, about: str, now: float, before: float = 0) -> SceneFigure:
    figure = SceneFigure("zero", number, "FSDP forward", about)
    floor(figure, tuple(held_as(turn, now) for turn in case.forward_pass), "forward")
    named = tuple((f"L{i + 1}", turn) for i, turn in enumerate(case.forward_pass))
    clock(
        figure,
        246,
        (compute_lane(named, now, "f"), wire_lane(named, now)),
        case.forward_pass[-1].compute.end * 1.001,
        now,
    )
    _borrowed(case, figure, sum(turn.held(now) for turn in case.forward_pass), before)
    return figure


def _borrowed(case: Case, figure: SceneFigure, whole: int, before: float, leaving: int = 0) -> None:
    """One GPU's memory: its slices, the layers it holds whole, and whole gradients that leave."""
    slices, each = case.states[3], case.layer_bytes.value
    most = max(case.capacity * 1.05, slices.value + case.window.value + each)
    own = _parts(case, ("weights", "gradients", "optimizer"))
    parts = (*own, Held("dp-pale", whole * each), Held("gradients", leaving * each))
    words = _sum_text(slices.value, (whole + leaving) * each) if whole + leaving else bytes_text(slices.value)
    memory(figure, 334, parts, most, case.capacity, words, slices.value + before if before else 0)


def _sum_text(one: float, other: float) -> str:
    """Two amounts with a plus between them; a unit they share is said once."""
    first, second = bytes_text(one).split(), bytes_text(other).split()
    return f"{first[0]} + {' '.join(second)}" if first[1] == second[1] else f"{' '.join(first)} + {' '.join(second)}"


def backward(case: Case, number: int) -> Frame:
    turns = case.backward_pass
    now = both_busy(turns)
    caption = "Backward: gather again, compute, hand each gradient slice to its owner, free."
    about = (
        f"A layer computes for {case.backward.text}; gradients of the layer done before go to their owners in "
        f"{case.gather.text}, and the next one down is gathered a second time."
    )
    figure = SceneFigure("zero", number, "FSDP backward", about)
    floor(figure, tuple(held_as(turn, now) for turn in reversed(turns)), "backward")
    named = tuple((f"L{LAYERS - i}", turn) for i, turn in enumerate(turns))
    last = turns[-1].scatter or turns[-1].compute
    clock(figure, 246, (compute_lane(named, now, "b"), wire_lane(named, now)), last.end * 1.001, now)
    leaving = sum(held_as(turn, now) in ("leaving", "scattering") for turn in turns)
    _borrowed(case, figure, sum(turn.held(now) for turn in turns), 0, leaving)
    return Frame("backward", caption, about, figure)


def steps(case: Case, number: int) -> Frame:
    caption = "Each GPU steps its own slice, and the wires rest. The next forward gathers new weights."
    about = f"Adam runs on the slice alone: {count_text(case.own.value)} of {count_text(case.parameters)} parameters on each GPU. No traffic."
    return Frame("own step", caption, about, _state(case, number, 3, about, (), stepping=True))


def no_prefetch(case: Case, number: int) -> Frame:
    slower = case.pass_s(0).value / case.pass_s(1).value - 1
    caption = f"Prefetch off: compute waits for every gather, and forward takes {share_text(slower)} longer."
    about = (
        f"Above, gathers of {case.gather.text} lie under forward work of {case.forward.text} a layer; below, they take turns. "
        f"Over {SHAPE.layers} layers {case.pass_s(1).text} against {case.pass_s(0).text}."
    )
    figure = SceneFigure("zero", number, "With and without prefetch", about)
    off = sharded_pass(LAYERS, case.gather.value, case.forward.value, 0)
    end = off[-1].compute.end
    for y, words, turns in ((4, "prefetch on", case.forward_pass), (144, "prefetch off", off)):
        figure.text(0, y + 22, words, "caption")
        named = tuple((f"L{i + 1}", turn) for i, turn in enumerate(turns))
        compute = compute_lane(named, None, "f")
        clock(figure, y + 38, (with_waiting(compute), wire_lane(named, None)), end * 1.001)
    late(figure, 182, case.forward_pass[-1].compute.end, end)
    sums(
        figure,
        318,
        (
            ("gather of a layer", seconds_text(case.gather.value)),
            ("forward of a layer", seconds_text(case.forward.value)),
            ("equal at", f"{count_text(round(case.break_even.value))} tokens"),
        ),
    )
    return Frame("prefetch off", caption, about, figure)


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
    title="ZeRO and FSDP: borrow a layer just in time",
    sentence="ZeRO-3 pays one extra trip of the weights for not storing them.",
    knobs=KNOBS,
    frames=frames,
    question=question,
    numbers=numbers,
    misconceptions=misconceptions,
    real="fsdp2",
)
