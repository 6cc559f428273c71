"""The DDP film's passages: one step of four GPUs that hold the same, and the same step without overlap."""

from dataclasses import dataclass
from functools import cached_property

from app.board.film.film import Script
from app.board.film.lens import Lens, Span
from app.board.film.ring import DRAWN
from app.board.scenes.ddp.case import Case
from engine.language.units import bytes_text, count_text, seconds_text, share_text
from engine.network.collectives import ring_all_reduce_sent_bytes

LAYERS = 4  # in the picture: enough to see that the last one is first
HOPS = 2 * (DRAWN - 1)  # of the ring that is drawn: sums, then copies


@dataclass(frozen=True)
class Busy:
    """From when to when, since the step began.   [s]"""

    start: float
    end: float

    def part(self, at: int, count: int) -> tuple[float, float]:
        """One of so many equal parts."""
        each = (self.end - self.start) / count
        return self.start + at * each, self.start + (at + 1) * each


class Story:
    """The film of one setting of the knobs: its script, and the moments that its drawings need."""

    def __init__(self, case: Case):
        self.case, self.script = case, Script()
        self._passes()
        self._ring()
        self._end()
        self._race()
        self.lens: Lens = self.script.lens

    def forward(self, layer: int) -> Busy:
        """When a layer computes forward; from 0, the first one first."""
        return Busy(*Busy(0.0, self.case.forward.value).part(layer, LAYERS))

    def backward(self, layer: int) -> Busy:
        """When it computes backward: the last one first."""
        start = self.case.forward.value
        return Busy(*Busy(start, start + self.case.backward.value).part(LAYERS - 1 - layer, LAYERS))

    @cached_property
    def sums(self) -> tuple[Busy, ...]:
        """When the gradients of each layer travel; by layer. A bucket waits for its layer and for those before it."""
        return self._sums(overlap=True)

    @cached_property
    def late_sums(self) -> tuple[Busy, ...]:
        """The same without overlap: after the backward pass."""
        return self._sums(overlap=False)

    def _sums(self, *, overlap: bool) -> tuple[Busy, ...]:
        """Buckets leave as they fill, so a layer's traffic ends one bucket after the layer, if the wires keep up."""
        case, found = self.case, []
        each, bucket = case.traffic.value / LAYERS, case.traffic.value / case.buckets.value
        ends = self.passes_end + case.tail.value
        free = case.forward.value + case.backward.value / case.buckets.value if overlap else self.passes_end
        for layer in reversed(range(LAYERS)):
            ready = min(self.backward(layer).end + bucket, ends - layer * each) - each
            start = max(ready, free) if overlap else free
            free = start + each
            found.append(Busy(start, free))
        return tuple(reversed(found))

    @property
    def passes_end(self) -> float:
        return self.backward(0).end

    @property
    def step_ends(self) -> float:
        return max(self.sums[0].end, self.passes_end)

    @property
    def race_ends(self) -> float:
        return self.step_ends + self.late_sums[0].end

    def _passes(self) -> None:
        case, script = self.case, self.script
        gpus = count_text(case.gpus)
        script.open(
            "same weights",
            f"{gpus} GPUs, the same weights in each.",
            f"Four of {gpus} GPUs, each with the same {LAYERS} layers drawn. A slice of data waits above each of them.",
        )
        self.deal = script.passage(
            "own data",
            1.8,
            "Each is dealt its own slice of the data.",
            f"A slice of data lies in each GPU: {count_text(case.values['tokens'])} tokens, other ones everywhere.",
        )
        script.passage(
            "forward",
            2.2,
            "Forward climbs through the layers: the same function, other data.",
            f"All layers of all GPUs compute for {case.forward.text}; the losses differ. The wires are empty.",
            until=case.forward.value,
        )
        script.passage(
            "a bucket fills",
            1.8,
            "Backward begins at the last layer; its gradients fill the first bucket.",
            f"Gradients of the last layer lie beside its weights. A bucket holds {case.values['bucket']:g} MiB; "
            f"{case.buckets.text} make all of them, drawn as {LAYERS}: one for each layer.",
            until=self.sums[LAYERS - 1].start,
        )

    def _ring(self) -> None:
        case, script, first = self.case, self.script, self.sums[LAYERS - 1]
        half = (first.start + first.end) / 2
        self.zoom = script.run(0.9)
        self.sum = script.run(3.0, until=half)
        script.stop(
            "a lap of sums",
            "Four slices move at once, one GPU on, and pick up what they find.",
            f"After a lap of sums every GPU has one slice that holds the gradients of all. {count_text(case.gpus - 1)} hops, "
            f"drawn as {DRAWN - 1}.",
        )
        self.copy = script.run(2.6, until=first.end)
        script.stop(
            "a lap of copies",
            "Nothing is added any more: whole slices go on and leave a copy.",
            f"Everyone holds the sum. Each GPU sends {case.sent.text} in all for {case.gradients.text} of gradients; "
            "backward never stopped.",
        )

    def _end(self) -> None:
        case, script = self.case, self.script
        self.back = script.run(0.8)
        before = max(self.passes_end, script.points[-1][1])
        script.run(2.6, until=before)
        script.stop(
            "meanwhile",
            "Buckets leave as they fill, and backward never stops for them.",
            f"The backward pass takes {case.backward.text}, all traffic {case.traffic.text}.",
        )
        many = ring_all_reduce_sent_bytes(S=case.gradients.value, n=1024)
        self.tail = script.passage(
            "the tail",
            1.4,
            f"Only the last bucket sticks out: by {case.tail.text} of {case.traffic.text}.",
            f"{case.tail.text} shows past the backward pass. On {count_text(1024)} GPUs each would send {bytes_text(many)}: bytes "
            "saturate, only the hops grow.",
            until=max(before, self.step_ends),
        )
        self.step = script.passage(
            "equal again",
            1.8,
            "The same sum, the same step: all are equal again.",
            "The optimizer takes the same step everywhere; gradients are gone, and all GPUs hold equal weights again.",
        )

    def _race(self) -> None:
        case, script = self.case, self.script
        longer = self.late_sums[0].end / self.step_ends - 1
        self.turn = script.run(0.6)
        script.run(3.0, until=self.race_ends)
        self.gap = script.run(0.8)
        script.stop(
            "without overlap",
            f"Without overlap the wires wait, then the GPUs: {share_text(longer)} longer.",
            f"Above, buckets leave as they fill: {seconds_text(self.step_ends)}. Below, all {case.traffic.text} of traffic come after "
            f"the backward pass: {seconds_text(self.late_sums[0].end)}.",
        )

    @property
    def act(self) -> tuple[float, float]:
        """The film without its race.   [film seconds]"""
        return 0.0, self.turn[0][0]

    @property
    def close(self) -> Span:
        """While the bucket is looked into."""
        return ((self.zoom[-1][0], 0.0), (self.back[0][0], 1.0))

    def clock(self, e: float) -> str:
        """The engine's time as words: of the step, then of the race."""
        return "" if e <= 0 else seconds_text(e if e <= self.step_ends else e - self.step_ends)
