"""One kind of collective of a step: what it moves, how often, how long it takes, and how much of that shows."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from engine.language.formula import Number, Term, formula, number_of
from engine.network.links import SENT
from engine.network.placement import Reach


@formula(r"<n> \cdot <t>", unit="s", source="So many times the time of one")
def times_s(n: Number, t: Number) -> Number:
    """Time of all collectives of one kind in a step.   [s]

    n   how often a step issues it   [count or none]
    t   time of one                  [s]

    >>> times_s(640, 0.0005)
    0.32
    """
    return n * t


@formula(
    r"<n> \cdot <t> \cdot <x>",
    unit="s",
    source="Time that computation does not hide; the share is fitted or follows from the overlap window",
)
def exposed_s(n: Number, t: Number, x: Number) -> Number:
    """Time of the collectives of one kind that adds to the step.   [s]

    n   how often a step issues it          [count or none]
    t   time of one                         [s]
    x   share that nothing hides            [share]

    >>> round(exposed_s(640, 0.0005, 0.81), 3)
    0.259
    """
    return n * t * x


@formula(r"<n> \cdot <S>", unit="bytes", source="So many times what one of them sends")
def sent_in_step_bytes(n: Number, S: Number) -> Number:
    """What one GPU sends in a step for all collectives of one kind.   [bytes]

    n   how often a step issues it     [count or none]
    S   what one of them sends         [bytes]

    >>> sent_in_step_bytes(640, 1e6) / 1e6
    640.0
    """
    return n * S


@dataclass(frozen=True)
class Collective:
    """One kind of collective of a step, on the busiest stage.

    payload         the whole buffer of one   [bytes]
    times           how often a step issues it; in a `LayerTraffic`, how often a layer does in one pass
    each_s          time of one               [s]
    exposed_share   share of that time that nothing hides
    delay           what they add to the step, where no share says it: sends between stages delay each other
    """

    axis: str
    op: str
    what: str
    payload: Term
    times: Term | float
    reach: Reach
    each_s: float
    exposed_share: float
    delay: Term | None = None

    @property
    def payload_bytes(self) -> float:
        return self.payload.value

    @property
    def count(self) -> float:
        return number_of(self.times)

    @property
    def counted(self) -> Term:
        """How `times` of a step came about."""
        assert isinstance(self.times, Term), "a layer's collectives are counted by step.counted"
        return self.times

    @cached_property
    def sent(self) -> Term:
        """Bytes one GPU sends in one of them: of a send, the buffer itself."""
        if self.op == "send":
            return self.payload
        return SENT[self.op].explain("sent", S=self.payload, n=self.reach.size)

    @cached_property
    def sent_in_step(self) -> Term:
        """Bytes one GPU sends in a step for all of them."""
        return sent_in_step_bytes.explain(f"{self.what}: sent per GPU and step", n=self.times, S=self.sent)

    @cached_property
    def seconds(self) -> Term:
        return times_s.explain(self.what, n=self.times, t=self.each_s)

    @cached_property
    def exposed(self) -> Term:
        return self.delay or exposed_s.explain(
            f"{self.what}, exposed", n=self.times, t=self.each_s, x=self.exposed_share
        )


@dataclass(frozen=True)
class LayerTraffic:
    """Collectives of one layer and micro-batch, forward and backward; `again` is what recomputation repeats."""

    forward: tuple[Collective, ...]
    backward: tuple[Collective, ...]

    @property
    def forward_s(self) -> float:
        return sum(c.exposed.value for c in self.forward)

    @property
    def backward_s(self) -> float:
        return sum(c.exposed.value for c in self.backward)

    @property
    def all(self) -> tuple[Collective, ...]:
        return (*self.forward, *self.backward)


def on_one_nic(collectives: Iterable[Collective], window_s: float) -> tuple[Collective, ...]:
    """The collectives of one pass. Those over the NIC share it: together they hide no longer than the pass computes.

    window_s   computation of the pass   [s]
    """
    issued = tuple(c for c in collectives if c.reach.size > 1)
    hidden = sum(c.seconds.value - c.exposed.value for c in issued if c.reach.leaves_node)
    if hidden <= window_s:
        return issued
    return tuple(
        replace(c, exposed_share=1 - (1 - c.exposed_share) * window_s / hidden) if c.reach.leaves_node else c
        for c in issued
    )
