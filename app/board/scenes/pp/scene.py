"""Pipeline parallel: layers dealt to stages, micro-batches that fill them, and the orders in which they may work."""

from app.board.scenes.base import Frame, Misconception, Scene, Values, stills
from app.board.scenes.pp.case import EVERY, KNOBS, Case, slots_text
from app.board.scenes.pp.film import TITLE, film
from engine.asking.question import Question
from engine.language.formula import Term
from engine.language.units import digits_text, share_text
from engine.pipeline.bubble import bubble_of_ideal, bubble_of_total


def frames(values: Values) -> tuple[Frame, ...]:
    """The stops of the film, in order."""
    return stills(film(values))


def question(values: Values) -> Question:
    """Of the schedule that is played; one that cannot run here is asked by the textbook's formula."""
    case = Case(values)
    schedule, refusal = EVERY[case.name], case.refusal(case.name)
    exact = case.send or case.slower or not schedule.closed.bubble_of_total
    chunks = case.v if schedule.takes_chunks else 1
    answer = (
        case.waiting(case.name, case.played)
        if exact and not refusal
        else bubble_of_total.explain(f"waiting under {schedule.title}", p=case.p, m=case.m, v=chunks)
    )
    return Question(
        ask=f"{case.m} micro-batches pass {case.p} stages under {schedule.title}. What share of the whole step does a stage wait?",
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
    title=TITLE,
    sentence="More micro-batches shrink the waiting; 1F1B shrinks only what has to be held.",
    knobs=KNOBS,
    frames=frames,
    film=film,
    proof="step done",
    question=question,
    numbers=numbers,
    misconceptions=misconceptions,
    also=(("build one yourself", "/scenes/pp/build"),),
    real="pp",
)
