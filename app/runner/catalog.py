"""The demos, listed once: the page, the command line, the zygote and the tests read this list. Knows no torch."""

from collections.abc import Mapping

from app.runner.demos import cp, ddp, ep, faults, fsdp2, hsdp, mixes, pp, tp, tp_sp, zero1
from app.runner.description import Demo
from app.runner.knobs import Value
from engine.language.choice import choose
from engine.language.inputs import read_all
from engine.language.refusal import together

DEMOS: dict[str, Demo] = {
    demo.name: demo
    for demo in (
        ddp.DEMO,
        zero1.DEMO,
        fsdp2.DEMO,
        hsdp.DEMO,
        tp.DEMO,
        tp_sp.DEMO,
        pp.DEMO,
        cp.DEMO,
        ep.DEMO,
        *mixes.DEMOS,
        *faults.ALL,
    )
}


def demo_named(name: object) -> Demo:
    """The demo of this name, or a Refusal with the name most like it.

    >>> demo_named("ddp").axes
    ('dp',)
    """
    return choose("demo", name, DEMOS, "there is no such demo; there are {names}")


def checked(demo: Demo, given: Mapping[str, object]) -> dict[str, Value]:
    """Every knob of the demo with the value given, or its default. Whatever has no meaning is refused, all of it at once.

    >>> checked(demo_named("ddp"), {"ranks": "2"})["ranks"]
    2
    >>> checked(demo_named("ddp"), {"batch": 8, "ranks": 3})
    Traceback (most recent call last):
    engine.language.refusal.Refusal: batch = 8: ranks = 3 must divide it: torch accepts unequal slices in silence and averages their \
gradients as if they were equal, so the training is wrong (loss off by 0.05); the nearest that works: 6 or 9
    """
    params: dict[str, Value] = read_all(demo.knobs, given, f"{demo.name} has no such knob; it has {{names}}")
    if found := [refusal for rule in demo.rules if (refusal := rule(params))]:
        raise together(found)
    return params
