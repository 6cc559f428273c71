"""The DDP film's passages: what happens when, in film seconds and in engine time."""

from dataclasses import dataclass

from app.board.film.film import Script
from app.board.film.lens import Lens, Span, plain
from app.board.film.ring import DRAWN
from app.board.scenes.ddp.case import CLUSTER, LAYERS, Case
from engine.language.units import bytes_text, count_text, counted, digits_text, seconds_text, share_text
from engine.lens.buckets import ring_all_reduce_hops
from engine.lens.sharded import Span as Busy
from engine.lens.turns import ring_hops
from engine.network.collectives import ring_all_reduce_sent_bytes

HOPS = DRAWN - 1  # drawn of a lap
LAPS = 2  # one of sums, one of copies
CLEARED = 0.3  # s in which a bucket is emptied
STILL = 0.2  # s before a ring sets out


@dataclass(frozen=True)
class Round:
    """One bucket on its way, in engine time since the step began.

    falls   film seconds in which its gradients come to lie in it
    """

    bucket: int
    falls: tuple[float, float]
    wire: Busy

    def hop(self, at: int) -> tuple[float, float]:
        """When one of the drawn hops begins and ends: the time of all hops, dealt evenly."""
        return ring_hops(self.wire.start, self.wire.end, LAPS * HOPS)[at]


class Story:
    """The film of one setting of the knobs: its script and the moments that its drawings need."""

    def __init__(self, case: Case):
        self.case, self.script = case, Script()
        self.forward, self.buckets = case.forward.value, case.passing
        self.backward_ends = self.forward + case.backward.value
        self.step_ends = self.forward + self.buckets.end
        self.late = self.backward_ends + case.traffic.value - self.step_ends  # what the step loses without overlap
        self.race_ends = self.step_ends + self.backward_ends + case.traffic.value
        self._passes()
        self._ring()
        self._tail()
        self._race()
        self._growth()
        self.lens: Lens = self.script.lens
        self.rounds = self._rounds()

    def wire(self, bucket: int) -> Busy:
        """While a bucket travels, since the step began."""
        span = self.buckets.wire(bucket)
        return Busy(self.forward + span.start, self.forward + span.end)

    @property
    def last(self) -> int:
        return self.buckets.k - 1

    def _rounds(self) -> tuple[Round, Round]:
        """The first bucket and the last one: these two are seen on their way."""
        cleared = self.lens.ends(self.wire(0).end) + CLEARED
        filled = self.buckets.filling(self.last)
        start, end = (self.lens.ends(self.forward + e) for e in (filled.start, filled.end))
        falls = max(start, cleared), max(end, cleared + CLEARED)
        return Round(0, self.fill, self.wire(0)), Round(self.last, falls, self.wire(self.last))

    # passages

    def _passes(self) -> None:
        case, script = self.case, self.script
        others = case.gpus - DRAWN
        alike = f"{count_text(others)} more are alike." if others else "These are all."
        script.open(
            "same weights",
            "All hold the same weights. Each gets its own slice of the data.",
            f"{DRAWN} GPUs, A to D, each with a stack of the same {LAYERS} layers and an empty bucket; {alike} "
            "A data slice waits above each.",
        )
        self.data: Span = script.run(1.5)
        script.run(3.0, until=self.forward)
        script.stop(
            "forward",
            "Forward climbs. Same function, different data, empty wires.",
            f"All layers of all {case.gpus} GPUs have computed for {case.forward.text}. The wires are empty.",
        )
        span = script.passage(
            "first bucket",
            2.4,
            "Backward comes down from the last layer. Its gradients fill a bucket.",
            f"Gradients of the last layer lie in its row and in the bucket below, {bytes_text(case.bucket_bytes)} in "
            f"{count_text(case.gpus)} slices, {DRAWN} of them drawn. Each GPU knows only the gradients of its own data.",
            until=self.wire(0).start,
        )
        self.fill = (span[0][0], span[-1][0])

    def _ring(self) -> None:
        case, first, laps = self.case, Round(0, self.fill, self.wire(0)), self.case.gpus - 1
        goes_on = first.hop(0)[1] < self.backward_ends
        self._hops(
            "it leaves",
            1.5,
            first.hop(0)[1],
            "The full bucket leaves in slices, while backward goes on beside it."
            if goes_on
            else "The full bucket leaves in slices, one to the right each.",
            f"One of {case.buckets.text} is on the wires: each GPU passes another slice of {bytes_text(case.slice.value)} to the next one.",
        )
        self._hops(
            "the ring",
            2.2,
            first.hop(HOPS - 1)[1],
            "Each slice gains the gradients of every GPU it comes to.",
            f"After {counted(laps, 'hop')} of sums every GPU has one slice with the gradients of all; faded is what was sent on.",
        )
        self._hops(
            "copies",
            2.4,
            first.wire.end,
            "Now the finished slices go on, and leave a copy everywhere.",
            f"After {counted(laps, 'hop')} of copies all GPUs have the whole sum of the bucket, {seconds_text(first.wire.end - first.wire.start)} "
            f"after it left. Each sent {bytes_text(case.sent.value / case.buckets.value)}.",
        )

    def _hops(self, name: str, seconds: float, until: float, caption: str, description: str) -> None:
        """Some hops of the ring; before they set out one sees where everything lies."""
        self.script.run(STILL)
        self.script.run(seconds, until=until)
        self.script.stop(name, caption, description)

    def _tail(self) -> None:
        case, script, last = self.case, self.script, self.wire(self.last)
        self.back = script.run(3 * CLEARED)
        filling = self.forward + self.buckets.filling(self.last).start
        for seconds, until in ((2.4, filling), (0.8, self.backward_ends), (0.8, last.start)):
            self._on(seconds, until)
        script.run(1.8, until=last.end)
        hidden = case.traffic.value <= case.backward.value
        script.stop(
            "the tail",
            "Bucket after bucket does the same. Only the last one sticks out."
            if hidden
            else "The wires are slower than backward: buckets queue and stick out.",
            f"All {case.buckets.text} are summed. Of {case.traffic.text} of traffic {case.tail.text} shows past the "
            f"backward pass of {case.backward.text}.",
        )

    def _on(self, seconds: float, until: float) -> None:
        """On to a moment of engine time, if it is still to come."""
        if until > self.script.points[-1][1]:
            self.script.run(seconds, until=until)

    def _race(self) -> None:
        case, script = self.case, self.script
        self.own = script.passage(
            "equal again",
            1.8,
            "All hold the same sum, take the same step, and are equal again.",
            f"The gradients are used and gone; all {case.gpus} GPUs changed their weights alike and hold equal copies.",
        )
        on = self.step_ends
        self.change = script.run(0.6)
        script.run(3.4, until=self.race_ends)
        self.gap = script.run(0.9)
        script.stop(
            "without overlap",
            f"Without overlap the sum waits for backward: the step is {share_text(self.late / on)} longer.",
            f"Above, {case.traffic.text} of traffic lie beside the backward pass and {case.tail.text} show; below, all "
            f"of it follows backward. The step takes {seconds_text(on)} against {seconds_text(on + self.late)}.",
        )

    def _growth(self) -> None:
        case, script = self.case, self.script
        self.turn = script.run(0.5)
        self.grow = script.run(3.4)
        few, many = self.counts[0], self.counts[-1]
        sent = [bytes_text(ring_all_reduce_sent_bytes(case.gradients.value, n)) for n in (few, many)]
        hops = [count_text(ring_all_reduce_hops(n)) for n in (few, many)]
        script.stop(
            "more GPUs",
            "More GPUs: the bytes stop at twice the gradients; the hops go on.",
            f"From {few} to {count_text(many)} GPUs each one sends {sent[0]} to {sent[1]}, never more than "
            f"{bytes_text(LAPS * case.gradients.value)}; a sum takes {hops[0]} to {hops[1]} hops, each of a smaller slice. "
            "What a hop costs beside its bytes is left out of the times.",
        )

    @property
    def counts(self) -> tuple[int, ...]:
        """GPUs of the last passage: doublings from those drawn, and the knob's own."""
        found, n = {self.case.gpus}, DRAWN
        while n <= 128 * CLUSTER.gpus_per_node:
            found.add(n)
            n *= 2
        return tuple(sorted(found))

    # what is told while it runs

    def clock(self, e: float) -> str:
        """The engine's time as words: of the step, then of the race, which begins anew."""
        if e <= 0:
            return ""
        return seconds_text(e if e <= self.step_ends else e - self.step_ends)

    def doing(self, t: float) -> str:
        """What is on the wires, as words."""
        e = self.lens(t)
        if e < self.forward or not t < self.own[0][0]:
            return ""
        for turn in self.rounds:
            for at in range(LAPS * HOPS):
                start, end = turn.hop(at)
                if start <= e < end:
                    lap = "sum" if at < HOPS else "copy"
                    return f"bucket {count_text(turn.bucket + 1)}, hop {at % HOPS + 1} of {HOPS}: {lap}"
        now = min(int(self.buckets.full(e - self.forward)) + 1, self.buckets.k)
        return f"bucket {digits_text(now, 9)} of {digits_text(self.buckets.k, 9)}"

    def sent(self, t: float) -> float:
        """What each GPU has sent in the step.   [bytes]"""
        return self.case.sent_by(min(self.lens(t), self.step_ends) - self.forward)


def quarter(falls: tuple[float, float], row: int) -> Span:
    """When the gradients of one slice of a bucket fall, in film seconds."""
    start, end = falls
    return plain(start + (end - start) * row / DRAWN, start + (end - start) * (row + 1) / DRAWN)
