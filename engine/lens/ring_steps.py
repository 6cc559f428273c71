"""Ring attention over time: what each rank computes in each step, and when its keys and values arrive."""

from collections.abc import Sequence
from dataclasses import dataclass

ROUNDED = 9  # decimals of a share: nobody who waits shall not wait 1e-16
Strips = Sequence[Sequence[int]]  # of each rank; all together 0 to n-1, each once


def pair_work(queries: int, keys: int) -> float:
    """Work between two strips under a causal mask, where a pair without mask is 1.   [0 to 1]

    >>> pair_work(2, 1), pair_work(2, 2), pair_work(1, 2)
    (1.0, 0.5, 0.0)

    Breaks down for strips of a few tokens, where the diagonal itself counts.
    """
    return 1.0 if queries > keys else 0.5 if queries == keys else 0.0


@dataclass(frozen=True)
class RingStep:
    """One step of a rank: whose keys and values it has, when they came, and when it works on them.

    source    rank whose keys and values they are
    sent      when their hop to here began; of its own: the beginning   [s]
    arrived   when it ended                                             [s]
    start     of the work, or of the wait for the next hop              [s]
    end       of the work                                               [s]
    """

    source: int
    sent: float
    arrived: float
    start: float
    end: float


@dataclass(frozen=True)
class PairSpan:
    """Queries of one strip on the keys of another.

    rank, step       who computes it, and in which step
    start, end       [s]
    """

    queries: int
    keys: int
    rank: int
    step: int
    start: float
    end: float


def step_pairs(strips: Strips, rank: int, step: int) -> list[tuple[int, int]]:
    """Pairs of strips, queries and keys, that a rank computes in a step; what the mask hides is left out.

    >>> step_pairs(((0, 3), (1, 2)), rank=0, step=1)
    [(3, 1), (3, 2)]
    """
    theirs = strips[(rank - step) % len(strips)]
    return [(queries, keys) for queries in strips[rank] for keys in theirs if pair_work(queries, keys)]


def step_work(strips: Strips, rank: int, step: int) -> float:
    """Work of a rank in a step, where all its queries on all keys of another rank are 1.   [0 to 1]

    >>> [step_work(((0,), (1,)), rank, 1) for rank in (0, 1)]
    [0.0, 1.0]
    >>> [step_work(((0, 3), (1, 2)), rank, 1) for rank in (0, 1)]
    [0.5, 0.5]
    """
    pairs = step_pairs(strips, rank, step)
    return sum(pair_work(*pair) for pair in pairs) / len(strips[rank]) ** 2


def ring_steps(strips: Strips, block_s: float, hop_s: float, begins: float = 0.0) -> tuple[tuple[RingStep, ...], ...]:
    """The steps of every rank. A hop is under way while the step before it computes.

    block_s   all queries of a rank on all keys of another   [s]
    hop_s     keys and values from one rank to the next      [s]
    begins    when it all begins                             [s]

    Two buffers: a hop begins once its sender has the block, and its receiver has begun the step before and handed on
    the block before that, which frees one.

    >>> [[step.end for step in rank] for rank in ring_steps(((0,), (1,)), block_s=2.0, hop_s=0.5)]
    [[1.0, 1.0], [1.0, 3.0]]
    >>> [step.start for step in ring_steps(((0,), (1,)), block_s=2.0, hop_s=1.5)[1]]
    [0.0, 1.5]
    """
    count = len(strips)
    ranks = [
        [RingStep(rank, begins, begins, begins, begins + step_work(strips, rank, 0) * block_s)] for rank in range(count)
    ]
    for step in range(1, count):
        before = [steps[-1] for steps in ranks]
        for rank, steps in enumerate(ranks):
            handed_on = before[(rank + 1) % count].arrived
            sent = max(before[rank - 1].start, before[rank].start, handed_on)
            start = max(sent + hop_s, before[rank].end)
            end = start + step_work(strips, rank, step) * block_s
            steps.append(RingStep((rank - step) % count, sent, sent + hop_s, start, end))
    return tuple(tuple(steps) for steps in ranks)


def pair_spans(strips: Strips, steps: Sequence[Sequence[RingStep]]) -> tuple[PairSpan, ...]:
    """When each pair of strips is computed: within a step one after the other.

    >>> strips = ((0,), (1,))
    >>> [(pair.queries, pair.keys, pair.end) for pair in pair_spans(strips, ring_steps(strips, 2.0, 0.5))]
    [(0, 0, 1.0), (1, 1, 1.0), (1, 0, 3.0)]
    """
    found: list[PairSpan] = []
    for rank, mine in enumerate(steps):
        for step, span in enumerate(mine):
            pairs, start = step_pairs(strips, rank, step), span.start
            each = (span.end - span.start) / sum(pair_work(*pair) for pair in pairs) if pairs else 0.0
            for queries, keys in pairs:
                end = start + each * pair_work(queries, keys)
                found.append(PairSpan(queries, keys, rank, step, start, end))
                start = end
    return tuple(found)


def let_go(steps: Sequence[Sequence[RingStep]], rank: int, step: int) -> float:
    """When a rank gives back the buffer of a step: the next step has begun and the block has been handed on.   [s]

    >>> let_go(ring_steps(((0,), (1,)), block_s=2.0, hop_s=0.5), rank=1, step=0)
    1.0
    """
    if step + 1 == len(steps):
        return max(mine[-1].end for mine in steps)
    return max(steps[rank][step + 1].start, steps[(rank + 1) % len(steps)][step + 1].arrived)


def idle_share(steps: Sequence[Sequence[RingStep]]) -> float:
    """Share of the ranks' time in which they wait: for keys, or for the last of them.   [0 to 1]

    >>> round(idle_share(ring_steps(((0,), (1,)), block_s=2.0, hop_s=0.5)), 3)
    0.333
    """
    start, end = steps[0][0].start, max(mine[-1].end for mine in steps)
    busy = sum(step.end - step.start for mine in steps for step in mine)
    return max(0.0, round(1 - busy / (len(steps) * (end - start)), ROUNDED))
