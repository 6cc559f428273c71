"""The eight steps that DualPipe and DualPipeV share: the order of a device with two parts of the model.

In the fourth step, the long one, forward and backward alternate between the two parts.
"""

from collections import deque

from engine.language.refusal import Refusal
from engine.pipeline.schedules.base import Op, Shape


class _Order:
    """Collects operations: each kind and part counts its own micro-batches, weight gradients wait in one queue."""

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self.counts = {True: [0, 0], False: [0, 0]}  # forwards and backwards of each part
        self.waiting: deque[Op] = deque()

    def _next(self, forward: bool, part: int) -> int:
        counts = self.counts[forward]
        counts[part] += 1
        return counts[part] - 1

    def forward(self, part: int, joined: bool = False) -> None:
        """The next forward of a part."""
        self.ops.append(Op("F", self._next(True, part), part, joined))

    def backward(self, part: int, split: bool = False) -> None:
        """The next backward of a part; split, its weight gradient waits."""
        op = Op("I" if split else "B", self._next(False, part), part)
        self.ops.append(op)
        if split:
            self.waiting.append(op._replace(kind="W"))

    def both(self, forward: int, backward: int, joined: bool = True) -> None:
        """A forward of one part beside a backward of the other."""
        self.forward(forward, joined)
        self.backward(backward)

    def weights(self) -> None:
        """The weight gradient that has waited longest."""
        self.ops.append(self.waiting.popleft())


def eight_steps(depth: int, half: int, rounds: int) -> list[Op]:
    """The order of one device; part 0 is the one whose forward comes first.

    depth    how far the device is from the end of the pipe where micro-batches enter, from 0
    half     devices from that end to the turning point   [count]
    rounds   micro-batches of each part   [count]
    """
    build, outer, inner = _Order(), half - depth - 1, depth + 1
    for _ in range(2 * outer):  # 1: fill
        build.forward(0)
    for _ in range(inner):  # 2: the second part joins
        build.forward(0)
        build.forward(1)
    for _ in range(outer):  # 3: first backwards, split so that the neighbour waits less
        build.backward(1, split=True)
        build.weights()
        build.forward(1)
    for n in range(rounds - 2 * half + inner):  # 4: steady, a forward beside each backward
        build.both(0, 1, joined=n > 0 or outer > 0)  # at the turning point the first two do better apart
        build.both(1, 0)
    for _ in range(outer):  # 5: the first part has no forward left
        build.backward(1)
        build.both(1, 0)
    for n in range(2 * inner):  # 6: only backwards; the second half of them leaves its weight gradients for later
        build.backward(1 - n % 2, split=n >= inner)
    for _ in range(outer):  # 7: weight gradients fill the drain
        build.weights()
        build.backward(0, split=True)
    for _ in range(inner):  # 8: the rest of them
        build.weights()
    return build.ops


def enough_micro_batches(shape: Shape) -> None:
    """Refuse a pipe that never reaches the steady step."""
    least = 2 * shape.stages
    if shape.micro_batches < least:
        rule = f"this schedule fills both of its parts only with 2 x pp = {least} micro-batches or more"
        raise Refusal("layout.micro_batches", shape.micro_batches, rule, str(least), "too-few-micro-batches")
