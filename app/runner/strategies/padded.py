"""Stages that all take the same time, so that a bubble can be measured on any machine: what is left of a slot is slept away.

Sleeping ranks leave the processors to those that compute. What a rank computes between two operations (the loss, the sends)
belongs to the slot of the second; the time in which it waits for an input does not.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch.distributed.pipelining import PipelineStage

from app.runner.event_kinds import Pipe
from app.runner.event_parts import PipeOp
from app.runner.rank.queued import queued_s
from app.runner.strategies.base import Rank

OVERRUN = 1.05  # an operation that took longer than this share of its slot disturbs the timeline
SLOTS = {"F": 1.0, "B": 2.0, "I": 1.0, "W": 1.0}  # of the time that a forward of the part takes


@dataclass
class Padded:
    """The operations of this rank's stages, each filled up to its slot, and the events about them.

    slot_s   time of a forward of one part; 0: nothing is filled up   [s]

    The first step is left alone: in it stages also tell each other the shapes of what they send.
    """

    rank: Rank
    slot_s: float
    ops: list[PipeOp] = field(default_factory=list)
    computed_s: float = 0.0  # processor time of this thread, when the operation before had ended
    queued_s: float | None = None  # at the beginning of the step
    step: int = 0

    def watch(self, stages: Sequence[PipelineStage]) -> None:
        """Take the three methods that all schedules call."""
        for stage in stages:
            backward = self._timed(stage, stage.backward_one_chunk, "B")
            stage.forward_one_chunk = self._timed(stage, stage.forward_one_chunk, "F")
            stage.backward_weight_one_chunk = self._timed(stage, stage.backward_weight_one_chunk, "W")
            stage.backward_one_chunk = backward

    def begin(self, step: int) -> None:
        self.step = step
        self.ops.clear()
        self.computed_s, self.queued_s = time.thread_time(), queued_s()

    def tell(self, step: int) -> None:
        """Say what ran in this step."""
        now = queued_s()
        waited = None if now is None or self.queued_s is None else round(now - self.queued_s, 5)
        if step > 0:
            self.rank.emit(Pipe, step=step, ops=tuple(self.ops), queued_s=waited)

    def _timed(self, stage: PipelineStage, run: Callable[..., Any], kind: str) -> Callable[..., Any]:
        def timed(micro_batch: int, *args: Any, **kwargs: Any) -> Any:
            began = time.monotonic() - (time.thread_time() - self.computed_s)
            result = run(micro_batch, *args, **kwargs)
            split = kind == "B" and not kwargs.get("full_backward", True)
            self._fill(stage, "I" if split else kind, micro_batch, began)
            return result

        return timed

    def _fill(self, stage: PipelineStage, kind: str, micro_batch: int, began: float) -> None:
        slot, took = SLOTS[kind] * self.slot_s * (self.step > 0), time.monotonic() - began
        time.sleep(max(0.0, slot - took))
        t0, t1 = (round(moment - self.rank.job.start, 5) for moment in (began, time.monotonic()))
        self.computed_s = time.thread_time()
        overrun = bool(slot) and took > OVERRUN * slot
        self.ops.append(PipeOp(kind, stage.stage_index, micro_batch, t0, t1, overrun))
