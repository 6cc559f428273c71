"""The exact timeline of a pipeline: every operation starts when its stage is free and its input has arrived.

Stages run through their orders; one that finds its input missing sleeps until the operation that gives it wakes it. So
each operation is visited once, and a step of 128 operations takes about 0.1 ms. What waits for what: dependencies.py.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from engine.language.refusal import Refusal
from engine.pipeline.schedules import ChunkPlacement, Op, Place, Schedule, schedule_named
from engine.pipeline.schedules.dependencies import op_text, stuck
from engine.pipeline.timeline import Interval, Timeline

PerChunk = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Durations:
    """How long the operations take, [stage][chunk], in any one unit of time. A full backward takes I and W together."""

    forward: PerChunk
    backward_input: PerChunk
    backward_weight: PerChunk

    def of(self, kind: str, stage: int, chunk: int) -> float:
        """Time of one operation."""
        if kind == "F":
            return self.forward[stage][chunk]
        first, second = self.backward_input[stage][chunk], self.backward_weight[stage][chunk]
        return {"I": first, "W": second, "B": first + second}[kind]


def even_durations(
    placement: ChunkPlacement, forward: float, backward_input: float, backward_weight: float
) -> Durations:
    """The same times on every stage, given for a full stage: a chunk takes its share."""
    stages, chunks, share = len(placement.places), len(placement.places[0]), placement.chunk_share
    f, i, w = (((time * share,) * chunks,) * stages for time in (forward, backward_input, backward_weight))
    return Durations(f, i, w)


def simulate(
    ops: Sequence[Sequence[Op]],
    placement: ChunkPlacement,
    durations: Durations,
    send_s: float = 0.0,
    overlapped: bool = True,
) -> Timeline:
    """The timeline of these orders.

    ops          [stage] -> operations in order; a part of a step will do
    durations    of each kind, [stage][chunk]
    send_s       by which a result reaches another stage later   [time unit of the durations]
    overlapped   whether stages compute while they send. If not, a send also occupies sender and receiver, and joined
                 operations have nothing to hide, so they run one after the other

    >>> run("1f1b", stages=2, micro_batches=2).makespan
    9.0

    Breaks down where sends share a link and slow each other, or where a forward and a backward that run beside each
    other take less than the sum of their times.
    Source: dependencies of Narayanan et al. 2021, figure 4; Qi et al. 2023, section 2.
    """
    if len(ops) != len(placement.places):
        raise Refusal("ops", len(ops), f"each of the {len(placement.places)} stages needs an order")
    named = [op[1] for order in ops for op in order]
    if named and min(named) < 0:
        raise Refusal("ops", min(named), "micro-batches count from 0", "0")
    wiring = Wiring(placement, durations, max(named, default=0) + 1, send_s, overlapped)
    done, left = _run(ops, wiring)
    if left:
        raise stuck(ops, placement, left)
    makespan = max((row[-1].end for row in done if row), default=0.0)
    return Timeline(len(ops), tuple(chain.from_iterable(done)), makespan, placement.chunk_share)


def _run(ops: Sequence[Sequence[Op]], wiring: "Wiring") -> tuple[list[list[Interval]], dict[int, int]]:
    """The intervals of each stage, and where each stage that could not finish stands."""
    arrived, sleeping = wiring.slots, {}
    done: list[list[Interval]] = [[] for _ in ops]
    clock = [0.0] * len(ops)
    awake = list(range(len(ops)))[::-1]
    make, interval = tuple.__new__, Interval
    while awake:
        stage = awake.pop()
        order, rows, out, now = ops[stage], wiring.rows[stage], done[stage], clock[stage]
        for position in range(len(out), len(order)):
            kind, n, chunk, joined = op = order[position]
            row = rows.get((kind, chunk))
            if row is None:
                raise Refusal("ops", tuple(op[:3]), f"stage {stage} has no such operation")
            needs, gives, marks, duration, travel, receive, send = row
            slot, late = needs + n, 0.0
            ready = arrived[slot]
            if joined and ready is not None:
                slot, ready, late = wiring.join(stage, ready + travel, order[position + 1 : position + 2])
                travel = 0.0
            if ready is None:
                sleeping[slot] = stage
                break
            start = max(now + receive, ready + travel)
            now = start + duration
            out.append(make(interval, (stage, kind, n, chunk, start, now)))
            gives += n
            if arrived[gives] is not None or (marks and arrived[marks + n] is not None):
                raise Refusal("ops", None, f"stage {stage} runs {op_text(op)} twice", code="repeated")
            arrived[gives] = now + late
            if marks:
                arrived[marks + n] = now
            if gives in sleeping:
                awake.append(sleeping.pop(gives))
            now += send
        clock[stage] = now
    return done, {stage: len(out) for stage, out in enumerate(done) if len(out) < len(ops[stage])}


def run(
    name: str,
    stages: int,
    micro_batches: int,
    chunks: int = 1,
    forward: float = 1.0,
    backward_input: float = 1.0,
    backward_weight: float = 1.0,
    send_s: float = 0.0,
) -> Timeline:
    """The timeline of a schedule with equal stages; times are those of a full stage.

    >>> round(run("zb-h1", stages=4, micro_batches=16).bubble_of_ideal, 4)
    0.0625
    """
    schedule = schedule_named(name)
    return run_schedule(schedule, stages, micro_batches, chunks, forward, backward_input, backward_weight, send_s)


def run_schedule(
    schedule: Schedule,
    stages: int,
    micro_batches: int,
    chunks: int = 1,
    forward: float = 1.0,
    backward_input: float = 1.0,
    backward_weight: float = 1.0,
    send_s: float = 0.0,
) -> Timeline:
    """The same for a schedule at hand."""
    times = {"forward": forward, "backward_input": backward_input, "backward_weight": backward_weight, "send_s": send_s}
    for field, time in times.items():
        if not 0 <= time < math.inf:
            raise Refusal(field, time, "a time is a number of at least 0", "1")
    ops = schedule.ops(stages, micro_batches, chunks)
    placement = schedule.placement(stages, chunks)
    return simulate(ops, placement, even_durations(placement, forward, backward_input, backward_weight), send_s)


class _Row(NamedTuple):
    """What one kind of operation of one chunk needs and gives: slots, to which the micro-batch is added."""

    needs: int
    gives: int
    marks: int  # a second slot that a full backward fills: its weight gradient is done; 0 is none
    duration: float
    travel: float  # from the end of what it needs to the moment that has arrived
    receive: float  # for which a send occupies its stage before it starts
    send: float  # and after it ends


class Wiring:
    """Which slot each operation waits for and fills, for one placement and one set of durations.

    A slot holds the moment at which something was finished. Every place of the model has `size` slots (one for each
    micro-batch) in four areas: input of the forward, gradient of the output, weight gradient done, gradient of the
    model's own input.
    """

    def __init__(self, placement: ChunkPlacement, durations: Durations, size: int, send_s: float, overlapped: bool):
        self.placement, self.size, self.send_s, self.overlapped = placement, size, send_s, overlapped
        self.area = placement.pipes * placement.positions * size
        self.slots: list[float | None] = [None] * (4 * self.area)
        for pipe in range(placement.pipes):
            first = self._slot(0, Place(pipe, 0))
            self.slots[first : first + size] = [0.0] * size
        self.rows = [
            {
                (kind, chunk): self._row(kind, stage, place, durations.of(kind, stage, chunk))
                for chunk, place in enumerate(places)
                for kind in "FBIW"
            }
            for stage, places in enumerate(placement.places)
        ]

    def join(self, stage: int, ready: float, following: Sequence[Op]) -> tuple[int, float | None, float]:
        """For joined operations: the slot of the second, when both inputs have arrived, and the second's duration."""
        if not following or not self.overlapped:
            return 0, ready, 0.0
        op = following[0]
        row = self.rows[stage].get((op.kind, op.chunk))
        if row is None:  # refused when its turn comes
            return 0, ready, 0.0
        other = self.slots[row.needs + op.micro_batch]
        return row.needs + op.micro_batch, None if other is None else max(ready, other + row.travel), row.duration

    def _slot(self, area: int, place: Place) -> int:
        return area * self.area + (place.pipe * self.placement.positions + place.position) * self.size

    def _row(self, kind: str, stage: int, place: Place, duration: float) -> _Row:
        before, after = self.placement.before(place), self.placement.after(place)
        weights = self._slot(2, place)
        gradient = self._slot(1, before) if before else self._slot(3, place)
        if kind == "W":
            return _Row(gradient, weights, 0, duration, 0.0, 0.0, 0.0)
        if kind == "F":
            needs, gives = self._slot(0, place), self._slot(0, after) if after else self._slot(1, place)
            source, target = before, after
        else:
            needs, gives = self._slot(1, place), gradient
            source, target = after, before
        travel = self.send_s if self._crosses(stage, source) else 0.0
        send = self.send_s if self._crosses(stage, target) and not self.overlapped else 0.0
        marks = weights if kind == "B" else 0
        return _Row(needs, gives, marks, duration, travel, 0.0 if self.overlapped else travel, send)

    def _crosses(self, stage: int, other: Place | None) -> bool:
        return other is not None and self.placement.holders[other][0] != stage
