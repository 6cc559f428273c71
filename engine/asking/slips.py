"""The known mistakes of a formula as answers to choose from: what each would have said, and what it forgets."""

from dataclasses import dataclass
from math import isclose

from engine.language.formula import Term
from engine.language.units import quantity_text

RIGHT = "right"  # the answer that nothing is wrong


@dataclass(frozen=True)
class Slip:
    """One thing that could be wrong, and what a calculator with that mistake would have said."""

    name: str
    title: str
    why: str
    value: float
    text: str


def slips_of(term: Term) -> tuple[Slip, ...]:
    """The wrong models that say something else than the engine in this case, by title, and last that all is well.

    >>> from engine.memory.state import state_bytes
    >>> [slip.text for slip in slips_of(state_bytes.explain(N=70e9, zero=0, D=64))][-1]
    '1.12 TB'
    """
    told = [(wrong, float(wrong.function(**term.numbers))) for wrong in term.formula.wrongs]
    slips = [
        Slip(wrong.name, wrong.title, wrong.why, value, quantity_text(value, term.unit))
        for wrong, value in told
        if not isclose(value, term.value)
    ]
    right = Slip(RIGHT, "nothing, it is right", "This is what the engine says.", term.value, term.text)
    return (*sorted(slips, key=lambda slip: slip.title.lower()), right)
