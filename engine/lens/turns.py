"""What waits for one another: work and sums of a cut layer in turn, and the hops of a ring."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Turn:
    """Something that must end before the next can begin.

    start, end   [s]
    on_wires     a collective: meanwhile nobody computes
    """

    name: str
    start: float
    end: float
    on_wires: bool = False


def in_turn(parts: Iterable[tuple[str, float, bool]], start: float = 0.0) -> tuple[Turn, ...]:
    """Parts of a layer one after another: (name, seconds, whether on the wires).

    start   of the first   [s]

    >>> [(turn.name, turn.start, turn.end) for turn in in_turn([("product", 2.0, False), ("sum", 0.5, True)], 1.0)]
    [('product', 1.0, 3.0), ('sum', 3.0, 3.5)]
    """
    found: list[Turn] = []
    for name, seconds, on_wires in parts:
        found.append(Turn(name, start, start := start + seconds, on_wires))
    return tuple(found)


def ring_hops(start: float, end: float, hops: int) -> tuple[tuple[float, float], ...]:
    """When each hop of a ring begins and ends: every one carries as many bytes, so they share the time evenly.   [s]

    >>> ring_hops(1.0, 2.0, 2)
    ((1.0, 1.5), (1.5, 2.0))
    """
    each = (end - start) / max(hops, 1)
    return tuple(pairwise([start + hop * each for hop in range(hops)] + [end])) if hops else ()
