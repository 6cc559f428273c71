"""Why a stage idles: what it waits for, and who holds that up meanwhile.

A stage that idles wants its next operation and lacks a result. Whoever makes that result is running it, or is busy with
something that its order puts first, or waits in turn: followed back, the wait falls into pieces with a culprit each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from engine.pipeline.schedules import ChunkPlacement, Op
from engine.pipeline.schedules.dependencies import dependency, op_text
from engine.pipeline.timeline import HAIR, Interval, Timeline


@dataclass(frozen=True)
class Wait:
    """A while in which a stage idles for one reason.

    op        what the stage runs next; None where it has run everything
    missing   what that needs first, from stage `owner`
    holder    the operation that runs meanwhile and holds it up; None while a result travels
    """

    stage: int
    start: float
    end: float
    op: Op | None = None
    missing: Op | None = None
    owner: int = 0
    holder: Interval | None = None

    @property
    def sentence(self) -> str:
        """The reason, for people."""
        if self.op is None or self.missing is None:
            return f"Stage {self.stage} is done; the step ends with stage {self.owner}."
        head = f"Stage {self.stage} waits for {op_text(self.missing)} from stage {self.owner}"
        if self.holder is None:
            return f"{head}: a result is on its way."
        if (self.holder.stage, *_op(self.holder)[:3]) == (self.owner, *self.missing[:3]):
            return f"{head}, which runs it now."
        return f"{head}; first stage {self.holder.stage} has to run {op_text(_op(self.holder))}."


def waits(
    orders: Sequence[Sequence[Op]], placement: ChunkPlacement, timeline: Timeline, send_s: float = 0.0
) -> tuple[Wait, ...]:
    """Every wait of a timeline, stage by stage, in order of time. Together they are all its idle gaps.

    orders    [stage] -> operations in order, which the timeline ran
    send_s    by which a result reaches another stage later   [time unit of the timeline]

    >>> from engine.pipeline.schedules import schedule_named
    >>> from engine.pipeline.simulator import run
    >>> gpipe = schedule_named("gpipe")
    >>> waits(gpipe.ops(2, 1), gpipe.placement(2), run("gpipe", 2, 1))[0].sentence
    'Stage 0 waits for the backward of micro-batch 0 from stage 1; first stage 1 has to run the forward of micro-batch 0.'

    Breaks down where sends occupy the stages: it takes them to overlap.
    """
    search = _Search(orders, placement, timeline, send_s)
    return tuple(wait for stage in range(timeline.stages) for wait in search.of(stage))


@dataclass(frozen=True)
class _Search:
    orders: Sequence[Sequence[Op]]
    placement: ChunkPlacement
    timeline: Timeline
    send_s: float

    @cached_property
    def found(self) -> dict[tuple[int, str, int, int], Interval]:
        return {(i.stage, i.kind, i.micro_batch, i.chunk): i for i in self.timeline.intervals}

    @cached_property
    def before(self) -> dict[Interval, Interval]:
        """What each operation's stage ran just before it."""
        return {after: first for row in self.timeline.by_stage for first, after in pairwise(row)}

    def of(self, stage: int) -> Iterator[Wait]:
        """The waits of one stage."""
        starts = {interval.start: interval for interval in reversed(self.timeline.by_stage[stage])}
        last = max(
            range(self.timeline.stages), key=lambda s: max((i.end for i in self.timeline.by_stage[s]), default=0.0)
        )
        for start, end in self.timeline.idle_gaps(stage):
            wanted = starts.get(end)
            if wanted is None:
                yield Wait(stage, start, end, owner=last)
                continue
            needed = self.needed(wanted)
            if needed is None:
                continue
            owner, missing = needed.stage, _op(needed)
            pieces = list(self.pieces(wanted, start))
            for begin, until, holder in reversed(pieces):
                yield Wait(stage, begin, until, _op(wanted), missing, owner, holder)

    def pieces(self, wanted: Interval, since: float) -> Iterator[tuple[float, float, Interval | None]]:
        """Back from the start of an operation to a moment: what ran on the way that led to it."""
        end, hair = wanted.start, HAIR * self.timeline.makespan
        while end - since > hair:
            needed, own = self.needed(wanted), self.before.get(wanted)
            if needed and self._arrives(needed, wanted) >= (own.end if own else 0.0) - hair:
                giver = self.beside.get(needed, needed)
                if end - giver.end > hair:
                    yield max(since, giver.end), end, None
                wanted = giver
            elif own:
                wanted = own
            else:
                return
            end = min(end, wanted.end)
            if end - since > hair:
                yield max(since, wanted.start), end, wanted
            end = wanted.start

    @cached_property
    def beside(self) -> dict[Interval, Interval]:
        """The operation beside which each joined one runs: it starts with what both need, and gives when both are done."""
        found: dict[Interval, Interval] = {}
        for stage, order in enumerate(self.orders):
            for op, after in pairwise(order):
                if op.joined:
                    found[self.found[(stage, *op[:3])]] = self.found[(stage, *after[:3])]
        return found

    def needed(self, wanted: Interval) -> Interval | None:
        """The operation whose result this one waits for longest; None for a forward of the first layers."""
        both = (wanted, self.beside[wanted]) if wanted in self.beside else (wanted,)
        sources = [source for source in map(self._source, both) if source]
        return max(sources, key=lambda source: self._arrives(source, wanted), default=None)

    def _source(self, wanted: Interval) -> Interval | None:
        op = _op(wanted)
        if op.kind == "F" and self.placement.places[wanted.stage][op.chunk].position == 0:
            return None
        owner, missing = dependency(self.orders, self.placement, wanted.stage, op)
        return self.found[(owner, *missing[:3])]

    def _arrives(self, source: Interval, target: Interval) -> float:
        """When a result is there."""
        return self.beside.get(source, source).end + self._travel(source, target)

    def _travel(self, source: Interval, target: Interval) -> float:
        return self.send_s if source.stage != target.stage else 0.0


def _op(interval: Interval) -> Op:
    return Op(interval.kind, interval.micro_batch, interval.chunk)
