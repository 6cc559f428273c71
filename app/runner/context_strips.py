"""Which tokens of a sequence each context-parallel rank holds, and how much causal attention falls on it."""

from engine.lens.ring_attention import dealt_strips


def strip_places(sequence: int, ranks: int, dealing: str) -> tuple[tuple[int, ...], ...]:
    """Places in the sequence of each rank's tokens: two half-strips, dealt as engine.lens.ring_attention says.

    >>> strip_places(8, 2, "zig-zag"), strip_places(4, 2, "in-order")
    (((0, 1, 6, 7), (2, 3, 4, 5)), ((0, 1), (2, 3)))
    """
    if dealing == "in-order":
        size = sequence // ranks
        return tuple(tuple(range(rank * size, (rank + 1) * size)) for rank in range(ranks))
    size = sequence // (2 * ranks)
    return tuple(
        tuple(place for strip in strips for place in range(strip * size, (strip + 1) * size))
        for strips in dealt_strips(dealing, ranks)
    )


def causal_pairs(places: tuple[int, ...]) -> int:
    """Pairs of a query and a key before it or at it, for the queries at these places.

    >>> causal_pairs((0, 3))
    5
    """
    return sum(place + 1 for place in places)


def heaviest_over_mean(sequence: int, ranks: int, dealing: str) -> float:
    """Causal pairs of the busiest rank over the mean of all.

    >>> heaviest_over_mean(64, 4, "zig-zag"), round(heaviest_over_mean(64, 4, "in-order"), 3)
    (1.0, 1.738)
    """
    pairs = [causal_pairs(places) for places in strip_places(sequence, ranks, dealing)]
    return max(pairs) * ranks / sum(pairs)
