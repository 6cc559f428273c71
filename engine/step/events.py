"""What happens inside one operation of the pipeline, layer by layer: products, and collectives that wait or travel beside.

The same kernels and collectives that make up the time of a chunk, laid one after another. A collective whose share is
fitted is two pieces: one for which computation waits, and one beside it. What gathers an input begins with the wait; what
sums a result ends with it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.compute.kernels import Kernel, embedding_kernels, head_kernels, layer_kernels
from engine.layout.stages import Chunk
from engine.network.communication import Traffic
from engine.network.issued import Collective
from engine.step.chunk import chunk_time, repeats

Operation = Literal["F", "B", "I", "W"]  # as in a timeline: forward, backward, its input and its weight gradients
HALVES = ("attention", "mlp")


@dataclass(frozen=True)
class Event:
    """One piece of work or of traffic.

    kind        compute; again: computed once more, for the backward pass; waits: traffic for which computation waits;
                beside: traffic while it goes on
    what        half of a layer, end of the model, or the collective
    layer       of the chunk, from 0; none for the ends of the model
    start, end  since the operation began   [s]
    axis        whose wires; empty for computation
    n_bytes     what one GPU sends in it    [bytes]
    """

    kind: Literal["compute", "again", "waits", "beside"]
    what: str
    layer: int | None
    start: float
    end: float
    axis: str = ""
    n_bytes: float = 0.0

    @property
    def seconds(self) -> float:
        return self.end - self.start


def events(traffic: Traffic, chunk: Chunk, operation: Operation) -> tuple[Event, ...]:
    """One operation on one chunk, unfolded.

    >>> from engine.catalog.scenarios import preset_document
    >>> from engine.estimate import estimate
    >>> from engine.layout.stages import stages_of
    >>> from engine.scenario import scenario_from
    >>> scenario = scenario_from(preset_document())
    >>> chunk = stages_of(scenario.model, scenario.layout)[1].chunks[0]
    >>> forward = events(estimate(scenario).traffic, chunk, "F")
    >>> [event.what for event in forward if event.layer == 0 and event.kind != "beside"]
    ['TP all-gather', 'attention', 'TP reduce-scatter', 'TP all-gather', 'mlp', 'TP reduce-scatter']
    """
    return tuple(_Clock(traffic, chunk).run(operation))


def events_s(unfolded: Iterable[Event]) -> float:
    """Time of the operation that these are.   [s]"""
    return max((event.end for event in unfolded if event.kind != "beside"), default=0.0)


class _Clock:
    """Lays one thing after another."""

    def __init__(self, traffic: Traffic, chunk: Chunk):
        self.traffic, self.chunk, self.now = traffic, chunk, 0.0
        self.given = traffic.model, traffic.layout, traffic.machine, traffic.sequence_tokens
        self.time = chunk_time(traffic, chunk)

    def run(self, operation: Operation) -> Iterator[Event]:
        ways = {"F": (0,), "B": (1, 2), "I": (1,), "W": (2,)}[operation]
        layers = [moe for number, moe, _ in self.time.traffic for _ in range(number)]
        ends = [("embedding", embedding_kernels)] if self.chunk.embedding else []
        last = [("head", head_kernels)] if self.chunk.head else []
        if operation == "F":
            yield from self._ends(ends, ways)
            for at, moe in enumerate(layers):
                yield from self._forward(at, moe)
            yield from self._ends(last, ways)
            return
        yield from self._ends(last, ways)
        for at, moe in reversed(list(enumerate(layers))):
            yield from self._backward(at, moe, ways)
        yield from self._ends(ends, ways)

    def _ends(self, ends: Sequence[tuple], ways: Sequence[int]) -> Iterator[Event]:
        for what, kernels in ends:
            yield from self._work("compute", what, None, _seconds(kernels(*self.given), ways))

    def _forward(self, at: int, moe: bool, kind: Literal["compute", "again"] = "compute") -> Iterator[Event]:
        issued = next(traffic for _, kind_of, traffic in self.time.traffic if kind_of == moe).forward
        if kind == "again":
            issued = tuple(c for c in issued if repeats(c))
        yield from self._halves(at, layer_kernels(*self.given, moe), (0,), issued, HALVES, kind)

    def _backward(self, at: int, moe: bool, ways: Sequence[int]) -> Iterator[Event]:
        kernels = layer_kernels(*self.given, moe)
        issued: tuple[Collective, ...] = ()
        if 1 in ways:
            issued = next(traffic for _, kind_of, traffic in self.time.traffic if kind_of == moe).backward
            recompute = self.traffic.layout.recompute
            if recompute == "full":
                yield from self._forward(at, moe, "again")
            elif recompute == "selective":
                core = sum(kernel.seconds[0] for kernel in kernels if kernel.kind == "attention")
                yield from self._work("again", "attention", at, core)
        yield from self._halves(at, kernels, ways, issued, HALVES[::-1], "compute")

    def _halves(
        self,
        at: int,
        kernels: Sequence[Kernel],
        ways: Sequence[int],
        issued: Sequence[Collective],
        halves: Sequence[str],
        kind: Literal["compute", "again"],
    ) -> Iterator[Event]:
        for half in halves:
            heads, tails = _around(issued, half, first=half == halves[0])
            yield from self._gathered(heads, at)
            yield from self._work(kind, half, at, _seconds(kernels, ways, half))
            yield from self._summed(tails, at)

    def _work(self, kind: Literal["compute", "again"], what: str, at: int | None, seconds: float) -> Iterator[Event]:
        if seconds > 0:
            yield Event(kind, what, at, self.now, self.now + seconds)
            self.now += seconds

    def _gathered(self, issued: Sequence["_Share"], at: int) -> Iterator[Event]:
        """Waits first; what is left travels beside the work that follows."""
        for each in issued:
            yield from self._piece(each, "waits", at, self.now, each.waits)
            self.now += each.waits
            yield from self._piece(each, "beside", at, self.now, each.beside)

    def _summed(self, issued: Sequence["_Share"], at: int) -> Iterator[Event]:
        """Begins beside the work before it, then waits."""
        for each in issued:
            yield from self._piece(each, "beside", at, self.now - each.beside, each.beside)
            yield from self._piece(each, "waits", at, self.now, each.waits)
            self.now += each.waits

    @staticmethod
    def _piece(
        each: "_Share", kind: Literal["waits", "beside"], at: int, start: float, seconds: float
    ) -> Iterator[Event]:
        if seconds > 0:
            whole = each.waits + each.beside
            yield Event(kind, each.what, at, start, start + seconds, each.axis, each.n_bytes * seconds / whole)


@dataclass(frozen=True)
class _Share:
    """What of a layer's collectives of one kind stands at one half.   [s], [bytes]"""

    what: str
    axis: str
    waits: float
    beside: float
    n_bytes: float


def _seconds(kernels: Iterable[Kernel], ways: Sequence[int], half: str = "") -> float:
    """Time of these passes; of one half, what stands around both is dealt evenly.   [s]"""
    share = {half: 1.0, "both": 1 / len(HALVES)} if half else {}
    return sum(
        (share.get(kernel.half, 0.0) if half else 1.0) * sum(kernel.seconds[way] for way in ways) for kernel in kernels
    )


def _around(issued: Sequence[Collective], half: str, *, first: bool) -> tuple[list[_Share], list[_Share]]:
    """What gathers inputs before a half, and what takes its results away after it."""
    heads: list[_Share] = []
    tails: list[_Share] = []
    exchanges = 0
    for c in issued:
        gathers = c.op == "all_gather"
        if c.axis == "tp":
            shares = 1 / len(HALVES)
        elif c.axis == "dp":  # a layer's weights come before its first half, its gradients leave after its last
            shares = float(first == gathers)
        else:  # keys and values travel with attention, tokens to and from their experts around the MLP
            shares = float(half == ("attention" if c.axis == "cp" else "mlp"))
            gathers = c.axis == "cp" or exchanges == 0
            exchanges += c.axis == "ep"
        if shares:
            seconds, waits = shares * c.seconds.value, shares * c.exposed.value
            n_bytes = shares * c.count * c.sent.value
            (heads if gathers else tails).append(_Share(c.what, c.axis, waits, seconds - waits, n_bytes))
    return heads, tails
