"""The ZeRO film's passages: what happens when, in film seconds and in engine time."""

from dataclasses import dataclass
from functools import cached_property

from app.board.film.film import Script
from app.board.film.lens import Lens, Span
from app.board.scenes.zero.case import LAYERS, SHAPE, Case
from engine.language.units import bytes_text, count_text, seconds_text, share_text
from engine.lens.sharded import LayerPass, sharded_pass
from engine.lens.sharded import Span as Busy

FIELDS = (("weights", 2), ("gradients", 2), ("optimizer", 12))  # what a parameter takes   [bytes]


@dataclass(frozen=True)
class Turn:
    """A layer's turn in a pass of the film, in engine time since the step began.

    layer   from 0
    """

    layer: int
    gather: Busy
    compute: Busy
    scatter: Busy | None


def later(layer: int, turn: LayerPass, offset: float) -> Turn:
    """A turn that begins so much later."""

    def moved(span: Busy) -> Busy:
        return Busy(span.start + offset, span.end + offset)

    return Turn(layer, moved(turn.gather), moved(turn.compute), moved(turn.scatter) if turn.scatter else None)


class Story:
    """The film of one setting of the knobs: its script and the moments that its drawings need.

    camera   the flight from the first act to the second; none where only the first is told
    """

    def __init__(self, case: Case, *, whole: bool = True):
        self.case, self.script = case, Script()
        self.camera: Span | None = None
        self._state()
        if whole:
            self._step()
            self._rest()
            self._race()
        self.lens: Lens = self.script.lens

    @property
    def state_ends(self) -> float:
        """When the first act is over.   [film seconds]"""
        return self.camera[0][0] if self.camera else self.script.now

    # moments of engine time

    @cached_property
    def forward(self) -> tuple[Turn, ...]:
        return tuple(later(at, turn, 0.0) for at, turn in enumerate(self.case.forward_pass))

    @cached_property
    def backward(self) -> tuple[Turn, ...]:
        start = self.forward[-1].compute.end
        return tuple(later(LAYERS - 1 - at, turn, start) for at, turn in enumerate(self.case.backward_pass))

    @cached_property
    def backward_ends(self) -> float:
        last = self.backward[-1]
        return (last.scatter or last.compute).end

    @cached_property
    def waiting(self) -> tuple[LayerPass, ...]:
        """The forward pass without prefetch."""
        return sharded_pass(LAYERS, self.case.gather.value, self.case.forward.value, 0)

    @cached_property
    def race_ends(self) -> float:
        return self.backward_ends + self.waiting[-1].compute.end

    # passages

    def _state(self) -> None:
        case, script = self.case, self.script
        each, cost = case.states[0].text, sum(size for _, size in FIELDS)
        box = bytes_text(case.capacity)
        script.open(
            "the box",
            f"The box is one H100: {box}.",
            f"Four rows, one for each of four GPUs of {case.gpus}. At the left of each a box, {box} wide; nothing is in it yet.",
        )
        fits = case.states[0].value <= case.capacity
        self.pour = script.passage(
            "it fits already" if fits else "it spills",
            3.2,
            f"{cost} bytes for every one of {count_text(case.parameters)} parameters.",
            f"Weights, gradients and optimizer state lie in a row on every GPU, {each} of the same; the box holds {box}.",
        )
        said = (
            "The optimizer is the most: each keeps its own slice of it.",
            "Of gradients too: each sum goes to its owner only.",
            "And of weights: nothing is left twice.",
        )
        self.cuts: list[Span] = []
        for zero, caption in enumerate(said, start=1):
            state = case.states[zero]
            words = f"{caption} {'It fits.' if state.value <= case.capacity and zero == 3 else ''}".strip()
            about = f"{state.label} {state.text} instead of {case.states[zero - 1].text}. {_travels(case, zero)}"
            self.cuts.append(script.passage(f"ZeRO-{zero}", 2.2, words, about))

    def _step(self) -> None:
        case, script = self.case, self.script
        first, second = self.forward[0], self.forward[1]
        self.camera = script.run(1.3)
        self.step_begins = script.now
        self.gather = script.run(1.8, until=first.gather.end)
        script.stop(
            "gather",
            "To compute a layer, its slices are passed round the ring.",
            f"The first layer arrives on every GPU, {case.layer_bytes.text} in {case.gather.text}. Nothing computes yet: "
            "the first gather is always seen.",
        )
        hidden = case.gather.value <= case.forward.value
        script.passage(
            "prefetch",
            1.8,
            "While one layer computes, the next one travels."
            if hidden
            else "The next one travels, but computing ends first: the wires are slower.",
            f"The first layer computes for {case.forward.text}; a gather takes {case.gather.text}. Whole layers held: {case.window.text}.",
            until=min(first.compute.end, max(second.gather.end, first.gather.end)),
        )
        if self.script.points[-1][1] < first.compute.end:
            script.run(0.8, until=first.compute.end)
        self.freed = script.run(0.6)
        script.stop(
            "let go",
            "Borrowed slices are let go. Only its own one stays.",
            f"The first layer is back to slices on all GPUs; {case.layer_bytes.text} are free again for a layer to come.",
        )

    def _rest(self) -> None:
        case, script = self.case, self.script
        script.passage(
            "forward",
            2.6,
            "Layer after layer: gather, compute, let go.",
            f"All {LAYERS} layers that are drawn have passed; of {SHAPE.layers} the forward pass takes {case.pass_s(1).text}.",
            until=self.forward[-1].compute.end,
        )
        last = self.backward[0]
        script.run(1.8, until=last.compute.end)
        script.run(3.2, until=self.backward_ends)
        script.stop(
            "backward",
            "Backward gathers again, and sends each gradient home to its owner.",
            f"A layer computes for {case.backward.text}; its gradients go to their owners in {case.gather.text}, summed on "
            "the way, and the next one down is gathered a second time.",
        )
        self.own = script.passage(
            "own step",
            1.6,
            "Each GPU steps its own slice. The wires rest.",
            f"Adam runs on the slice alone: {count_text(case.own.value)} of {count_text(case.parameters)} parameters on each GPU.",
        )

    def _race(self) -> None:
        case, script = self.case, self.script
        slower = case.pass_s(0).value / case.pass_s(1).value - 1
        self.change = script.run(0.7)
        script.run(3.6, until=self.race_ends)
        self.gap = script.run(0.9)
        script.stop(
            "prefetch off",
            f"Without prefetch compute waits for every gather: {share_text(slower)} longer.",
            f"Above, gathers of {case.gather.text} lie under forward work of {case.forward.text} a layer; below, they take "
            f"turns. Over {SHAPE.layers} layers {case.pass_s(1).text} against {case.pass_s(0).text}.",
        )

    def clock(self, e: float) -> str:
        """The engine's time as words: of the step, then of the race, which begins anew."""
        if e <= 0:
            return ""
        return seconds_text(e if e <= self.backward_ends else e - self.backward_ends)


def _travels(case: Case, zero: int) -> str:
    if zero == 1:
        return "A step sums gradients and then copies new weights: as much as DDP sends."
    if zero == 2:
        return "It sends as much as before in a step of one micro-batch; with more it scatters after each, where ZeRO-1 sends once."
    more = case.sent.value / case.sent_ddp.value
    return f"Weights now travel twice: {case.sent.text} sent by each GPU in a step, {more:g} times DDP's."
