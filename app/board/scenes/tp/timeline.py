"""The tensor parallel film's events in engine time: five acts, one after another, each with its turns and collectives."""

from dataclasses import dataclass
from functools import cached_property

from app.board.scenes.tp.case import CLUSTER, Case
from app.board.scenes.tp.ring import Gesture
from engine.lens.turns import Turn, in_turn
from engine.network.collectives import ring_half_s


@dataclass(frozen=True)
class Act:
    """What happens between two changes of the scene.

    turns      in order, in engine time
    gestures   its collectives, in order
    """

    turns: tuple[Turn, ...]
    gestures: tuple[Gesture, ...]

    @property
    def start(self) -> float:
        return self.turns[0].start

    @property
    def end(self) -> float:
        return self.turns[-1].end

    @property
    def work(self) -> tuple[Turn, ...]:
        return tuple(turn for turn in self.turns if not turn.on_wires)


class Timeline:
    """Of one setting of the knobs. Backward of a product takes twice its forward: for its input and for its weights."""

    def __init__(self, case: Case):
        self.case = case

    @cached_property
    def acts(self) -> tuple[Act, ...]:
        return self.mlp, self.attention, self.backward, self.halves, self.far

    @cached_property
    def mlp(self) -> Act:
        first, second = self._mlp_s
        parts = [("X A", first, False), ("Y B", second, False)]
        *before, last = [(each.what, each.seconds.value, True) for each in self.case.forced]
        turns = in_turn([parts[0], *before, parts[1], last])
        of = {each.what: each for each in self.case.forced}
        gestures = [
            Gesture(turn.name[-1], turn, of[turn.name].reduces, True, of[turn.name].sent.value)
            for turn in turns
            if turn.on_wires
        ]
        return Act(turns, tuple(gestures))

    @cached_property
    def attention(self) -> Act:
        into, out = self._attention_s
        return self._act([("Q K V", into), ("out", out), ("sum of Z", self.case.sum_s.value)], self.mlp.end)

    @cached_property
    def backward(self) -> Act:
        (first, second), (into, out) = self._mlp_s, self._attention_s
        one = self.case.sum_s.value
        half = [("B", 2 * second), ("A", 2 * first), ("sum of X", one)]
        return self._act([*half, ("out", 2 * out), ("Q K V", 2 * into), ("sum of X", one)], self.attention.end)

    @cached_property
    def halves(self) -> Act:
        """Sequence parallel: the sum of Z as a scatter and, after the norm, a gather. The norm is too short to count."""
        case = self.case
        half = ring_half_s(case.field.value, case.tp, CLUSTER.gpu.nvlink_bytes_per_s, 0.0)
        turns = in_turn([("scatter", half, True), ("gather", half, True)], self.backward.end)
        sent = case.half_sent.value
        return Act(turns, (Gesture("Z", turns[0], True, False, sent), Gesture("Z", turns[1], False, True, sent)))

    @cached_property
    def far(self) -> Act:
        """The MLP again, each GPU in a node of its own."""
        first, second = self._mlp_s
        return self._act([("X A", first), ("Y B", second), ("sum of Z", self.case.far_sum_s.value)], self.halves.end)

    @property
    def _mlp_s(self) -> tuple[float, float]:
        first, second = self.case.products
        return first.value, second.value

    @property
    def _attention_s(self) -> tuple[float, float]:
        into, out = self.case.attention_products
        return into.value, out.value

    def _act(self, parts: list[tuple[str, float]], start: float) -> Act:
        turns = in_turn([(name, seconds, name.startswith("sum")) for name, seconds in parts], start)
        sent = self.case.sent.value
        return Act(turns, tuple(Gesture(turn.name[-1], turn, True, True, sent) for turn in turns if turn.on_wires))
