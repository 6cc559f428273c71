"""Gradients that are summed bucket by bucket while the backward pass goes on: when each is on the wires."""

from dataclasses import dataclass
from math import floor

import numpy as np

from engine.language.formula import Number, formula
from engine.lens.sharded import Span
from engine.step.overlap import DDP_PAPER

RING = "Patarasuk and Yuan 2009: a ring passes on slices, n-1 hops of sums and n-1 of copies"


@formula(r"2 \cdot (<n> - 1)", unit="hops", source=RING)
def ring_all_reduce_hops(n: Number) -> Number:
    """Hops of a ring all-reduce, one after another: a lap of sums and a lap of copies.   [hops]

    n   ranks in the group   [count above 1]

    >>> ring_all_reduce_hops(4), ring_all_reduce_hops(1024)
    (6, 2046)
    """
    return 2 * (n - 1)


@formula(r"\frac{<S>}{<n>}", unit="bytes", source=RING)
def ring_slice_bytes(S: Number, n: Number) -> Number:
    """What one hop of a ring carries: the buffer is cut into as many slices as there are ranks.   [bytes]

    S   size of the buffer     [bytes]
    n   ranks in the group     [count above 0]

    >>> ring_slice_bytes(1e9, 4)
    250000000.0
    """
    return S / n


@formula(
    r"\max\left(\frac{<x> \cdot <B>}{<k>}, \frac{<B> + (<x> - 1) \cdot <c>}{<k>}\right) + \frac{<c>}{<k>}",
    unit="s",
    source=DDP_PAPER,
)
def bucket_summed_s(x: Number, k: Number, c: Number, B: Number) -> Number:
    """When so many buckets have been summed, since the backward pass began.   [s]

    x   buckets summed                 [count from 1]
    k   buckets of all gradients       [count]
    c   time of all gradient traffic   [s]
    B   time of the backward pass      [s]

    A bucket leaves when it is full and the one before it is through. After the last one, the tail has passed.

    >>> [float(bucket_summed_s(x, k=4, c=2.0, B=8.0)) for x in (1, 2, 4)]
    [2.5, 4.5, 8.5]
    >>> [float(bucket_summed_s(x, k=4, c=16.0, B=8.0)) for x in (1, 2, 4)]
    [6.0, 10.0, 18.0]

    Breaks down where buckets do not fill evenly, as an embedding's does not.
    """
    return np.maximum(x * B / k, (B + (x - 1) * c) / k) + c / k


@dataclass(frozen=True)
class Buckets:
    """The gradients of one backward pass, dealt evenly into buckets that are summed one after another.

    k          buckets                              [count]
    backward   time of the backward pass            [s]
    traffic    time of all gradient traffic         [s]

    >>> buckets = Buckets(4, 8.0, 2.0)
    >>> buckets.filling(0), buckets.wire(0), buckets.end
    (Span(start=0.0, end=2.0), Span(start=2.0, end=2.5), 8.5)
    >>> buckets.summed(2.25), buckets.summed(3.0), buckets.summed(9.0)
    (0.5, 1.0, 4.0)
    """

    k: int
    backward: float
    traffic: float

    def filling(self, bucket: int) -> Span:
        """While backward computes the gradients that fill a bucket, from 0."""
        return Span(bucket * self.backward / self.k, (bucket + 1) * self.backward / self.k)

    def wire(self, bucket: int) -> Span:
        """While a bucket is on the wires."""
        end = float(bucket_summed_s(bucket + 1, self.k, self.traffic, self.backward))
        return Span(end - self.traffic / self.k, end)

    @property
    def end(self) -> float:
        """When the last one is through."""
        return self.wire(self.k - 1).end

    def full(self, now: float) -> float:
        """Buckets filled so far, the one that is filling in part.   [count]"""
        return min(max(now, 0.0) / self.backward, 1.0) * self.k

    def summed(self, now: float) -> float:
        """Buckets summed so far, the one on the wires in part.   [count]"""
        first, each = self.backward / self.k, self.traffic / self.k
        if each >= first:  # the wires never rest
            return min(max((now - first) / each, 0.0), float(self.k))
        left = min(floor(now / first + 1e-9), self.k)
        return max(0.0, left - 1 + min((now - left * first) / each, 1.0)) if left else 0.0

    def bursts(self, most: int) -> tuple[Span, ...]:
        """When the wires are busy, drawn as so many bursts at most: each ends with its last bucket and is as long as
        all of its buckets take.

        >>> Buckets(4, 8.0, 2.0).bursts(2)
        (Span(start=3.5, end=4.5), Span(start=7.5, end=8.5))
        """
        count = min(most, self.k)
        lasts = [(at + 1) * self.k // count for at in range(count)]
        ends = [self.wire(last - 1).end for last in lasts]
        sizes = [last - before for before, last in zip((0, *lasts), lasts, strict=False)]
        return tuple(Span(end - size * self.traffic / self.k, end) for size, end in zip(sizes, ends, strict=True))
