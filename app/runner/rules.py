"""Combinations of knobs that have no meaning, refused before anything starts: torch answers them late, cryptically or not at all.

A rule is made of the names it compares and gives a sentence, or nothing. What torch accepts in silence and computes wrongly
is said to be so. Measured with torch 2.13.
"""

from collections.abc import Callable, Mapping
from math import prod

from app.runner.knobs import Value
from engine.language.refusal import Refusal

Rule = Callable[[Mapping[str, Value]], Refusal | None]


def divides(whole: str, parts: str, why: str) -> Rule:
    """`parts` must divide `whole`; why says what happens otherwise.

    >>> print(divides("heads", "tp", "a head stays on one rank")({"heads": 8, "tp": 3}))
    heads = 8: tp = 3 must divide it: a head stays on one rank; the nearest that works: 6 or 9
    """

    def rule(params: Mapping[str, Value]) -> Refusal | None:
        size, count = int(params[whole]), int(params[parts])
        if size % count == 0:
            return None
        near = [str(size // count * count)] if size >= count else []
        nearest = " or ".join([*near, str((size // count + 1) * count)])
        return Refusal(whole, size, f"{parts} = {count} must divide it: {why}", nearest, "divides")

    return rule


UNEQUAL_SLICES = (
    "torch accepts unequal slices in silence and averages their gradients as if they were equal, so the training is wrong "
    "(loss off by 0.05)"
)


def batch_divides(width: str) -> Rule:
    """The two that go wrong in silence, one: data-parallel ranks with unequal slices of the batch."""
    return divides("batch", width, UNEQUAL_SLICES)


def batch_divides_product(fields: tuple[str, ...]) -> Rule:
    """The same where several knobs make the data-parallel width."""

    def rule(params: Mapping[str, Value]) -> Refusal | None:
        shown = " × ".join(fields)
        return divides("batch", shown, UNEQUAL_SLICES)({"batch": params["batch"], shown: _product(params, fields)})

    return rule


def _product(params: Mapping[str, Value], fields: tuple[str, ...]) -> int:
    return prod(int(params[field]) for field in fields)


def sequence_divides_for_context(width: str) -> Rule:
    """And two: context-parallel ranks that drop the tokens left over."""
    return divides(
        "sequence",
        width,
        "torch accepts it in silence, the tokens left over are dropped, so the training is wrong (loss off by 0.01)",
    )


def heads_divide(width: str) -> Rule:
    return divides(
        "heads", width, "each rank computes whole heads, and torch fails with a cryptic shape error otherwise"
    )


def sequence_divides_for_tensor(width: str) -> Rule:
    return divides(
        "sequence",
        width,
        "sequence parallelism cuts the tokens evenly; one rank fails otherwise and the others only see "
        "that a connection was reset",
    )


def experts_divide(width: str) -> Rule:
    return divides("experts", width, "each rank holds whole experts")


def micro_batches_divide_batch() -> Rule:
    return divides(
        "batch",
        "micro_batches",
        "micro-batches are equal slices of the batch; otherwise only the last stage fails, with a shape error",
    )


def at_least(field: str, other: str, why: str, times: int = 1) -> Rule:
    """`field` must reach `other` (times a factor).

    >>> print(at_least("layers", "pp", "a stage needs a layer")({"layers": 2, "pp": 4}))
    layers = 2: needs at least 4: a stage needs a layer; the nearest that works: 4
    """

    def rule(params: Mapping[str, Value]) -> Refusal | None:
        value, least = int(params[field]), times * int(params[other])
        return (
            None if value >= least else Refusal(field, value, f"needs at least {least}: {why}", str(least), "too-few")
        )

    return rule


def product_at_most(fields: tuple[str, ...], most: int) -> Rule:
    """The ranks of a mesh together stay within what one machine runs."""

    def rule(params: Mapping[str, Value]) -> Refusal | None:
        product = _product(params, fields)
        if product <= most:
            return None
        shown = " × ".join(f"{field} {params[field]}" for field in fields)
        return Refusal(
            fields[0], params[fields[0]], f"{shown} needs {product} ranks, and at most {most} run here", code="ranks"
        )

    return rule


def below(field: str, other: str, why: str) -> Rule:
    """`field` counts from 0 and stays below `other`."""

    def rule(params: Mapping[str, Value]) -> Refusal | None:
        value, limit = int(params[field]), int(params[other])
        return None if value < limit else Refusal(field, value, f"{why} 0 to {limit - 1}", str(limit - 1), "rank")

    return rule
