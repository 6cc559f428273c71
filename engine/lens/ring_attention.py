"""Attention over a sequence that is cut into strips: causal work of a strip, keys and values on their way, exact merging."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import numpy as np

from engine.language.formula import Number, formula

RING = "Liu et al. 2023 (Ring Attention), section 3"
STRIPED = "Brandon et al. 2023 (Striped Attention), section 3: a causal mask makes equal strips unequal work"
SOFTMAX = "Milakov and Gimelshein 2018 (online softmax), section 3"


@formula(r"\frac{2 \cdot <i> + 1}{<n>^{2}}", unit="share of the work", source=STRIPED)
def causal_strip_share(i: Number, n: Number) -> Number:
    """Share of causal attention's work that falls on one strip of queries.   [0 to 1]

    i   strip, from 0    [count or none]
    n   equal strips     [count]

    A strip sees all keys before it and half of its own square: 1, 3, 5, ... parts of n squared.

    >>> [causal_strip_share(i, 4) * 16 for i in range(4)]
    [1.0, 3.0, 5.0, 7.0]

    Breaks down for strips of a few tokens, where the diagonal itself counts.
    """
    return (2 * i + 1) / n**2


@formula(r"\frac{2 \cdot <C> - 1}{<C>}", unit="times the mean", source=STRIPED)
def causal_worst_over_mean(C: Number) -> Number:
    """Work of the last rank over the mean, when strips are dealt in order.   [times]

    C   context-parallel ranks   [count]

    >>> causal_worst_over_mean(4), causal_worst_over_mean(8)
    (1.75, 1.875)
    """
    return (2 * C - 1) / C


@causal_worst_over_mean.wrong(
    "against the first rank", "Compares with the least busy rank; the mean is what all could do."
)
def over_the_first(C: Number) -> Number:
    return 2 * C - 1


@formula(r"1 - \frac{1}{<w>}", unit="share of GPU time", source="The slowest rank sets the time of all")
def uneven_waiting_share(w: Number) -> Number:
    """Share of the ranks' time spent waiting for the busiest one.   [0 to 1]

    w   work of the busiest rank over the mean   [times above 0]

    >>> round(uneven_waiting_share(1.75), 3)
    0.429
    """
    return 1 - 1 / w


@uneven_waiting_share.wrong(
    "w - 1 taken for the share", "w - 1 is the waiting over the useful time, not over all of it."
)
def over_useful(w: Number) -> Number:
    return w - 1


@formula(r"<n> \cdot <b> \cdot \frac{<s>}{<C>} \cdot \frac{<k> \cdot <d>}{<t>}", unit="bytes", source=RING)
def ring_hop_bytes(n: Number, b: Number, s: Number, C: Number, k: Number, d: Number, t: Number) -> Number:
    """What a rank hands to the next one in a hop of one layer.   [bytes]

    n   tensors that travel: keys and values; with their gradients, four   [count]
    b   bytes a number                  [bytes]
    s   sequence                        [tokens]
    C   context-parallel ranks          [count]
    k   key-value heads                 [count]
    d   size of a head                  [count]
    t   tensor-parallel degree          [count]

    >>> round(ring_hop_bytes(2, 2, 131072, 4, 8, 128, 1) / 1e6)
    134
    """
    return n * b * s / C * k * d / t


@ring_hop_bytes.wrong("tensor parallelism forgotten", "Each tensor-parallel rank sends only the heads it holds.")
def all_heads(n: Number, b: Number, s: Number, C: Number, k: Number, d: Number, t: Number) -> Number:
    return n * b * s / C * k * d


@formula(
    r"\frac{<f> \cdot <h> \cdot \left(\frac{<s>}{<C>}\right)^{2}}{<t> \cdot <P> \cdot <u>}",
    unit="s",
    source="Scores and weighted values: 2 FLOP each for a channel of a pair of tokens; backward twice that",
)
def attention_block_s(f: Number, h: Number, s: Number, C: Number, t: Number, P: Number, u: Number) -> Number:
    """Time of attention between the queries of one strip and the keys of another, in one layer.   [s]

    f   work of a pair and channel: 4 forward, 8 backward   [FLOP]
    h   channels of all query heads                         [count]
    s   sequence                                            [tokens]
    C   strips                                              [count]
    t   tensor-parallel degree                              [count]
    P   dense peak of one GPU                               [FLOP/s]
    u   share of it reached                                 [share above 0]

    >>> round(attention_block_s(4, 8192, 131072, 4, 1, 989e12, 0.6) * 1e3, 1)
    59.3

    Breaks down for short strips, where a kernel reaches less; backward kernels that recompute do 10 instead of 8.
    """
    return f * h * (s / C) ** 2 / (t * P * u)


@formula(r"\frac{<L> \cdot <h> \cdot <s>}{<N>}", unit="share of 6N", source="6 L h s a token (causal) beside 6 N")
def attention_over_six_n(L: Number, h: Number, s: Number, N: Number) -> Number:
    """What causal attention adds to the 6N of the weights.   [share]

    L   layers                        [count]
    h   channels of all query heads   [count]
    s   sequence                      [tokens]
    N   parameters                    [parameters above 0]

    >>> round(attention_over_six_n(80, 8192, 8192, 70.55e9), 3)
    0.076
    """
    return L * h * s / N


@formula(
    r"\frac{<l>}{\exp\left(\max\left(<m>, <n>\right) - <m>\right)} + \frac{<k>}{\exp\left(\max\left(<m>, <n>\right) - <n>\right)}",
    unit="exponentials",
    source=SOFTMAX,
)
def merged_sum(l: Number, m: Number, k: Number, n: Number) -> Number:  # noqa: E741
    """Sum of exponentials over two blocks of scores, each relative to the larger maximum.   [exponentials]

    l   sum of the first block, relative to m    [exponentials]
    m   largest score of the first block         [score]
    k   sum of the second block, relative to n   [exponentials]
    n   largest score of the second block        [score]

    >>> float(merged_sum(1.0, 0.0, 1.0, 0.0))
    2.0
    """
    top = np.maximum(m, n)
    return l * np.exp(m - top) + k * np.exp(n - top)


DEALINGS = ("in-order", "round-robin", "zig-zag")


def dealt_strips(dealing: str, ranks: int) -> tuple[tuple[int, int], ...]:
    """Which two of 2C half-strips each rank takes.

    >>> dealt_strips("zig-zag", 4)
    ((0, 7), (1, 6), (2, 5), (3, 4))
    """
    second = {
        "in-order": lambda i: (2 * i, 2 * i + 1),
        "round-robin": lambda i: (i, ranks + i),
        "zig-zag": lambda i: (i, 2 * ranks - 1 - i),
    }[dealing]
    return tuple(second(i) for i in range(ranks))


def dealt_loads(strips: Sequence[Sequence[int]]) -> tuple[float, ...]:
    """Work of each rank over the mean.   [times]

    strips   the strips of each rank, all together 0 to n-1

    >>> dealt_loads(dealt_strips("zig-zag", 4))
    (1.0, 1.0, 1.0, 1.0)
    """
    count = sum(len(mine) for mine in strips)
    return tuple(sum(causal_strip_share(i, count) for i in mine) * len(strips) for mine in strips)


@dataclass(frozen=True)
class Partial:
    """Attention of one query over some of the keys.

    maximum   of the scores
    total     exponentials, relative to the maximum
    output    mean of the values, weighted by them
    """

    maximum: float
    total: float
    output: float


def partial_softmax(scores: Sequence[float], values: Sequence[float]) -> Partial:
    """Attention of one query over a block of keys.

    >>> partial_softmax((0.0, 0.0), (1.0, 3.0))
    Partial(maximum=0.0, total=2.0, output=2.0)
    """
    top = max(scores)
    weights = [exp(score - top) for score in scores]
    output = sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)
    return Partial(top, sum(weights), output)


def merged(one: Partial, other: Partial) -> Partial:
    """Attention over the keys of both: exact, whatever the blocks.

    >>> merged(partial_softmax((0.0,), (1.0,)), partial_softmax((0.0,), (3.0,)))
    Partial(maximum=0.0, total=2.0, output=2.0)
    """
    top = max(one.maximum, other.maximum)
    total = float(merged_sum(one.total, one.maximum, other.total, other.maximum))
    first = one.total * exp(one.maximum - top) / total
    return Partial(top, total, first * one.output + (1 - first) * other.output)
