"""What a trace of one role found: collectives and bytes. Knows no torch."""

from collections import Counter
from dataclasses import dataclass

Calls = Counter[tuple[str, str, int]]  # (axis, op, bytes of one) -> how often in a step


@dataclass(frozen=True)
class Measured:
    """One role, one step.

    comm              collectives of the step
    parameters        of the whole stage                               [count]
    parameter_bytes   FP32 shards that this rank keeps                 [bytes]
    gradient_bytes    their gradients                                  [bytes]
    optimizer_bytes   Adam's moments                                   [bytes]
    kept_bytes        what the last forward pass left behind           [bytes]
    peak_bytes        most bytes alive at once, optimizer step included   [bytes]
    seconds           the trace took, without imports                  [s]
    """

    comm: Calls
    parameters: int
    parameter_bytes: int
    gradient_bytes: int
    optimizer_bytes: int
    kept_bytes: int
    peak_bytes: int
    seconds: float

    def times(self, axis: str, op: str) -> int:
        """How often a step issues this kind."""
        return sum(n for (a, o, _), n in self.comm.items() if (a, o) == (axis, op))

    def bytes(self, axis: str, op: str) -> int:
        return sum(size * n for (a, o, size), n in self.comm.items() if (a, o) == (axis, op))
