"""Pipeline parallel: layers dealt to stages, micro-batches that fill them, and the orders in which they may work."""

from app.board.scenes.base import Frame, Misconception, Scene, SceneFigure, Values
from app.board.scenes.pp.below import Answer, answers, columns, legend, working
from app.board.scenes.pp.case import KNOBS, Case
from app.board.scenes.pp.drawing import Rows, Run, axis, slots_text, timeline
from app.board.scenes.pp.pictures import dealt, groups, head_remark, hops, side_by_side
from engine.asking.question import Question
from engine.language.formula import Term
from engine.language.units import bytes_text, count_text, digits_text, share_text
from engine.pipeline.bubble import bubble_of_ideal, bubble_of_total


def frames(values: Values) -> tuple[Frame, ...]:
    """The frames, in order."""
    case = Case(values)
    made = (
        dealt_layers,
        one_micro_batch,
        gpipe,
        gpipe_memory,
        one_f_one_b,
        interleaved,
        zb_h1,
        zb_h2,
        slow_last,
        all_of_them,
    )
    return tuple(draw(case, number) for number, draw in enumerate(made))


def dealt_layers(case: Case, number: int) -> Frame:
    sizes = " or ".join(map(str, sorted(set(case.layers))))
    caption = (
        f"{case.model.layers} layers dealt to {case.p} stages in order. Only what a layer passes on has to travel."
    )
    about = (
        f"{case.p} stages hold {sizes} layers each: the first has the embedding, the last the output head."
        f" Between neighbours {bytes_text(case.payload.value)} of activations travel for each micro-batch."
    )
    figure = SceneFigure("pp", number, caption, about)
    dealt(figure, case)
    return Frame("layers dealt", caption, about, figure)


def one_micro_batch(case: Case, number: int) -> Frame:
    run = case.run("1f1b", micro_batches=1)
    waiting = case.waiting("1f1b", run)
    caption = f"One micro-batch goes down the stages and back. Meanwhile {case.p - 1} of {case.p} stages wait."
    about = (
        f"Forward passes {case.p} stages, backward returns: {slots_text(run.slots)} slots, {waiting.text} is waiting."
    )
    figure = SceneFigure("pp", number, caption, about)
    rows = Rows(case.p, run.slots)
    timeline(figure, run, rows)
    hops(figure, run, rows)
    axis(figure, rows, run)
    answers(figure, (Answer(slots_text(run.slots), "slots"), Answer(share_text(waiting.value), "waiting", strong=True)))
    working(figure, run)
    legend(figure, "FB")
    return Frame("one micro-batch", caption, about, figure)


def gpipe(case: Case, number: int) -> Frame:
    alone = case.waiting("1f1b", case.run("1f1b", micro_batches=1)).value
    waiting = share_text(case.waiting("gpipe").value)
    caption = (
        f"GPipe: {case.m} micro-batches follow each other, and waiting falls from {share_text(alone)} to {waiting}."
    )
    return _schedule(case, number, "gpipe", "GPipe", caption, strong="waiting", held=False)


def gpipe_memory(case: Case, number: int) -> Frame:
    caption = (
        f"Every backward comes after the last forward: each stage holds the activations of all {case.m} micro-batches."
    )
    return _schedule(case, number, "gpipe", "all are held", caption, strong="held", grey=True)


def one_f_one_b(case: Case, number: int) -> Frame:
    run, before = case.run("1f1b"), case.run("gpipe")
    length = "The step is as long" if abs(run.slots - before.slots) < 1e-9 else f"{slots_text(run.slots)} slots"
    caption = f"1F1B runs each backward at once. {length}; the first stage holds {digits_text(run.held[0])}, not {digits_text(before.held[0])}."
    return _schedule(case, number, "1f1b", "1F1B", caption, strong="held", before="gpipe")


def interleaved(case: Case, number: int) -> Frame:
    if case.groups:
        caption = f"Interleaving passes micro-batches in groups of {case.p}; with {case.m} the last group is not full."
        figure = SceneFigure("pp", number, caption, case.groups.advice)
        groups(figure, case, case.groups)
        return Frame("interleaved", caption, case.groups.advice, figure)
    run, before = case.run("interleaved"), case.run("1f1b")
    ramps = f"the ramps shrink {case.v} times" if run.slots < before.slots else "with such sends no shorter"
    caption = (
        f"{case.v} thin chunks per stage: {ramps}, the sends grow from"
        f" {count_text(case.sends().value)} to {count_text(case.sends(case.v).value)}."
    )
    sends = Answer(count_text(case.sends(case.v).value), "sends")
    return _schedule(case, number, "interleaved", "interleaved", caption, strong="slots", before="1f1b", more=(sends,))


def zb_h1(case: Case, number: int) -> Frame:
    caption = "Backward in two: a neighbour waits for the input gradient only, so weight gradients can fill gaps."
    return _schedule(case, number, "zb-h1", "ZB-H1", caption, strong="slots", before="1f1b")


def zb_h2(case: Case, number: int) -> Frame:
    run = case.run("zb-h2")
    held = digits_text(max(run.held))
    if run.gapless:
        caption = (
            f"ZB-H2 runs further ahead: nobody waits between first and last operation, with {held} micro-batches held."
        )
    elif case.m < 2 * case.p - 2:
        caption = f"ZB-H2 runs further ahead; it needs {2 * case.p - 2} micro-batches to close every gap, and there are {case.m}."
    else:
        caption = (
            f"ZB-H2 runs further ahead and holds {held}; forward and both gradients would have to take equal times."
        )
    inside = Answer(share_text(case.inside("zb-h2").value), "inside", strong=True)
    return _schedule(case, number, "zb-h2", "ZB-H2", caption, strong="", before="1f1b", more=(inside,))


def slow_last(case: Case, number: int) -> Frame:
    even, run = case.run("1f1b"), case.run("1f1b", slow=case.slower)
    caption = (
        f"The vocabulary makes the last stage {share_text(case.slower)} slower. All keep its pace:"
        f" {slots_text(even.slots)} slots become {slots_text(run.slots)}."
    )
    waiting = case.waiting("1f1b", run)
    about = f"1F1B with a slow last stage takes {slots_text(run.slots)} slots instead of {slots_text(even.slots)}; {waiting.text} is waiting."
    figure = SceneFigure("pp", number, caption, about)
    rows = Rows(case.p, max(case.end, run.slots))
    timeline(figure, run, rows)
    axis(figure, rows, run, even, "even")
    answers(figure, (Answer(slots_text(run.slots), "slots", strong=True), Answer(share_text(waiting.value), "waiting")))
    head_remark(figure, case)
    legend(figure, "FB")
    return Frame("a slow last stage", caption, about, figure)


def all_of_them(case: Case, number: int) -> Frame:
    caption = (
        "All on one axis; inside is what waits between a stage's first and last operation. Every gain has its price."
    )
    each = (
        f"{run.title}: {slots_text(run.slots)} slots, {share_text(case.waiting(name).value)} waiting ({share_text(case.inside(name).value)} between a stage's first and last operation), holds {digits_text(max(run.held))}"
        for name, run in case.runs.items()
    )
    about = "; ".join(each) + "."
    figure = SceneFigure("pp", number, caption, about)
    side_by_side(figure, case)
    return Frame("side by side", caption, about, figure)


def _schedule(
    case: Case,
    number: int,
    name: str,
    title: str,
    caption: str,
    *,
    strong: str,
    before: str = "",
    grey: bool = False,
    held: bool = True,
    more: tuple[Answer, ...] = (),
) -> Frame:
    """The frame of one schedule: its rows, its length, what waits, and what each stage holds."""
    run, waiting = case.run(name), case.waiting(name)
    about = _about(case, run, waiting)
    figure = SceneFigure("pp", number, caption, about)
    rows = Rows(case.p, case.end)
    timeline(figure, run, rows, grey=grey)
    earlier = case.run(before) if before else None
    axis(figure, rows, run, earlier, earlier.title if earlier else "")
    told = (
        Answer(slots_text(run.slots), "slots", strong == "slots"),
        Answer(share_text(waiting.value), "waiting", strong == "waiting"),
    )
    if strong == "held":
        told = (*told, Answer(digits_text(max(run.held)), "held", strong=True))
    if held:
        columns(figure, run, case.most_held, strong=strong == "held")
    else:
        working(figure, run)
    answers(figure, (*told, *more))
    kinds = "".join(kind for kind in "FBIW" if any(op.kind == kind for op in run.timeline.intervals))
    legend(figure, kinds, run)
    return Frame(title, caption, about, figure)


def _about(case: Case, run: Run, waiting: Term) -> str:
    held = ", ".join(digits_text(each) for each in run.held)
    return (
        f"{run.title} with {case.p} stages and {case.m} micro-batches: {slots_text(run.slots)} slots, {waiting.text}"
        f" is waiting. Micro-batches that the stages hold at their peaks: {held}."
    )


def question(values: Values) -> Question:
    case = Case(values)
    answer = case.waiting("gpipe") if case.send else bubble_of_total.explain("waiting under GPipe", p=case.p, m=case.m)
    return Question(
        ask=f"{case.m} micro-batches pass {case.p} stages. What share of the whole step does a stage wait?",
        answer=answer,
        because="A stage works once for each micro-batch and waits while the pipe fills and drains.",
    )


def numbers(values: Values) -> tuple[Term, ...]:
    case = Case(values)
    thin = () if case.groups else (case.sends(case.v),)
    exact = (*(case.waiting(name) for name in case.runs), case.inside("zb-h2"))
    return (*case.closed, *case.held_terms, *exact, case.sends(), *thin, case.payload, case.head)


def misconceptions(values: Values) -> tuple[Misconception, ...]:
    case = Case(values)
    first, second = case.run("gpipe"), case.run("1f1b")
    ideal, total = bubble_of_ideal(p=case.p, m=case.m), bubble_of_total(p=case.p, m=case.m)
    split, further = case.run("zb-h1"), case.run("zb-h2")
    return (
        Misconception(
            "1F1B reduces the bubble.",
            f"GPipe takes {slots_text(first.slots)} slots here, 1F1B {slots_text(second.slots)}. What falls is memory: the first stage"
            f" holds {digits_text(second.held[0])} micro-batches instead of {digits_text(first.held[0])}.",
        ),
        Misconception(
            "The wasted share is the other stages over the micro-batches.",
            f"That is waiting over a step without any: {share_text(ideal)}. Of the real step it is {share_text(total)}.",
        ),
        Misconception(
            "ZB-H2 has a shorter step than ZB-H1.",
            f"Alone they take {slots_text(split.slots)} and {slots_text(further.slots)} slots. H2 gains between steps: a stage starts the next "
            "one while others end this one, if no optimizer waits for the norm of all gradients and the norm is checked afterwards.",
        ),
        Misconception(
            "Zero bubble means that nothing waits.",
            f"ZB-H1 keeps 1F1B's memory and part of its ramps: {share_text(case.waiting('zb-h1').value)} of"
            f" {slots_text(split.slots)} slots is waiting here.",
        ),
    )


PP = Scene(
    name="pp",
    title="Pipeline parallel: keep every stage busy",
    sentence="More micro-batches shrink the waiting; 1F1B shrinks only what has to be held.",
    knobs=KNOBS,
    frames=frames,
    question=question,
    numbers=numbers,
    misconceptions=misconceptions,
    also=(("build one yourself", "/scenes/pp/build"),),
    real="pp",
)
