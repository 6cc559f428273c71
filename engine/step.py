"""The time of one training step and where it went: computation, recomputation, communication, bubble, optimizer."""

from dataclasses import dataclass, replace
from functools import cached_property

from engine import calibration, kernels
from engine.chunk_time import ChunkTime, chunk_time
from engine.communication import Collective, Traffic
from engine.formula import Number, Term, formula
from engine.layout import Layout
from engine.schedules import schedule_named
from engine.simulator import Durations, even_durations, simulate
from engine.stages import Chunk, Stage, stages_of
from engine.steady import Outline, simulate_long
from engine.timeline import Timeline
from engine.topology import Placement


MOST_DRAWN_OPS = 12_000  # operations that one still wants to draw


@formula(r"<m> \cdot <w>", unit="s", source="Each micro-batch costs the slowest stage the same")
def stage_compute_s(m: Number, w: Number) -> Number:
    """Computation of the slowest stage in one step.   [s]

    m   micro-batches per pipeline and step   [count]
    w   its work on one micro-batch           [s]

    >>> round(stage_compute_s(16, 0.2), 1)
    3.2
    """
    return m * w


@formula(
    r"<e> - <b>",
    unit="s",
    source="Exact timeline of the schedule, with this model's uneven stages and no time for sends",
)
def idle_s(e: Number, b: Number) -> Number:
    """Time in which the slowest stage waits for others.   [s]

    e   from the first forward to the last backward   [s]
    b   time in which that stage is busy              [s]

    >>> round(idle_s(4.2, 3.6), 1)
    0.6
    """
    return e - b


@formula(r"<e> - <f>", unit="s", source="Exact timelines of the schedule with and without the time of sends")
def send_delay_s(e: Number, f: Number) -> Number:
    """What sends between stages add to the step.   [s]

    e   length of the pipeline's step with sends      [s]
    f   and with sends that take no time              [s]

    >>> round(send_delay_s(4.21, 4.2), 2)
    0.01
    """
    return e - f


@formula(
    r"\frac{<k> \cdot <P> + <l> \cdot <Q>}{<B>}",
    unit="s",
    source="Traffic of an Adam step; Rajbhandari et al. 2020 for the sharding",
)
def optimizer_s(k: Number, P: Number, l: Number, Q: Number, B: Number) -> Number:  # noqa: E741
    """Time of the optimizer's step.   [s]

    k   bytes moved a sharded parameter                  [bytes]
    P   parameters whose optimizer state this GPU holds  [parameters]
    l   bytes moved a local parameter                    [bytes]
    Q   parameters this GPU holds                        [parameters]
    B   memory bandwidth reached                         [bytes/s]

    >>> round(optimizer_s(34, 71e6, 4, 2.27e9, 2.68e12) * 1e3, 1)
    4.3
    """
    return (k * P + l * Q) / B


@formula(r"<c> + <r> + <x> + <b> + <o>", unit="s", source="The parts of a step on its slowest stage")
def step_s(c: Number, r: Number, x: Number, b: Number, o: Number) -> Number:
    """Time of one training step.   [s]

    c   computation             [s]
    r   recomputation           [s]
    x   exposed communication   [s]
    b   bubble                  [s]
    o   optimizer               [s]

    >>> step_s(c=3, r=0, x=0.5, b=0.5, o=0.25)
    4.25
    """
    return c + r + x + b + o


@formula(r"<s> \cdot (1 + <d>)", unit="s", source="Half-width from held-out errors of published runs like this one")
def band_s(s: Number, d: Number) -> Number:
    """An end of the range of step times.   [s]

    s   the step time predicted        [s]
    d   relative error, with its sign  [ratio]

    >>> band_s(4.0, 0.05)
    4.2
    """
    return s * (1 + d)


@formula(r"\frac{<x>}{<s>}", unit="share of the step", source="A part of the step over the whole of it")
def share_of_step(x: Number, s: Number) -> Number:
    """Share of the step that one part takes.   [share]

    x   the part       [s]
    s   one step       [s above 0]

    >>> share_of_step(x=0.5, s=4)
    0.125
    """
    return x / s


@dataclass(frozen=True)
class Step:
    """One step on its slowest stage; the parts add up to `seconds`.

    outline     of the pipeline, with sends
    durations   of every stage's operations, from which `timeline` draws all of it   [s]
    """

    layout: Layout
    placement: Placement
    stage: int
    compute: Term
    recompute: Term
    communication: tuple[Collective, ...]
    bubble: Term
    optimizer: Term
    outline: Outline
    durations: Durations
    send_s: float
    overlapped: bool
    band: float

    @cached_property
    def exposed_s(self) -> float:
        return sum(c.exposed.value for c in self.communication)

    @cached_property
    def seconds(self) -> Term:
        return step_s.explain(
            "one step", c=self.compute, r=self.recompute, x=self.exposed_s, b=self.bubble, o=self.optimizer
        )

    @cached_property
    def timeline_micro_batches(self) -> int:
        """Micro-batches that `timeline` has: all, or where that is too long to draw, enough to see its middle repeat."""
        layout, schedule = self.layout, schedule_named(self.layout.schedule)
        placement = schedule.placement(layout.pp, layout.vp)
        each = 3 * layout.pp * len(placement.places[0])
        if each * layout.micro_batches <= MOST_DRAWN_OPS:
            return layout.micro_batches
        period = layout.pp * placement.pipes
        few = max(4, MOST_DRAWN_OPS // each // period) * period
        return min(layout.micro_batches, few + layout.micro_batches % period)

    @cached_property
    def timeline(self) -> Timeline:
        """Every operation of the step, or of a shorter one of `timeline_micro_batches`."""
        schedule, layout = schedule_named(self.layout.schedule), self.layout
        ops = schedule.ops(layout.pp, self.timeline_micro_batches, layout.vp)
        return simulate(ops, schedule.placement(layout.pp, layout.vp), self.durations, self.send_s, self.overlapped)

    @property
    def low(self) -> Term:
        return band_s.explain("low end", s=self.seconds, d=-self.band)

    @property
    def high(self) -> Term:
        return band_s.explain("high end", s=self.seconds, d=self.band)


def step_of(traffic: Traffic, held: tuple[tuple[float, float], ...]) -> Step:
    """The step of a layout.

    held   parameters per GPU of each stage: without routed experts, and those   [parameters]
    """
    layout, overlapped = traffic.layout, traffic.machine.stack.overlapped
    stages = stages_of(traffic.model, layout)
    times = {chunk: chunk_time(traffic, chunk) for stage in stages for chunk in stage.chunks}
    durations = _durations(stages, times)
    send = traffic.pipeline_send()
    outline = _outline(layout, durations, send.each_s, overlapped)
    free = outline if layout.pp == 1 else _outline(layout, durations, 0.0, overlapped)
    slowest = max(range(layout.pp), key=lambda stage: free.busy[stage])
    chunks = [times[chunk] for chunk in stages[slowest].chunks]
    runs = layout.micro_batches / schedule_named(layout.schedule).placement(layout.pp, layout.vp).pipes
    issued = _step_collectives(chunks, runs)
    if send.count:
        delay = send_delay_s(e=outline.makespan, f=free.makespan)
        issued.append(replace(send, exposed_share=delay / (send.count * send.each_s)))
    own, experts = held[slowest]
    window = sum(c.work.backward_input + c.work.backward_weight for c in chunks) * _window(layout.pp, layout.vp)
    issued += traffic.data_parallel(stages[slowest], own, experts, window)
    return Step(
        layout=layout, placement=traffic.placement, stage=slowest,
        compute=stage_compute_s.explain("compute", m=runs, w=sum(c.work.total for c in chunks)),
        recompute=stage_compute_s.explain("recompute", m=runs, w=sum(c.recompute for c in chunks)),
        communication=tuple(issued),
        bubble=idle_s.explain("bubble", e=free.makespan, b=free.busy[slowest]),
        optimizer=_optimizer(traffic, own, experts),
        outline=outline, durations=durations, send_s=send.each_s, overlapped=overlapped, band=_band(traffic),
    )  # fmt: skip


def _outline(layout: Layout, durations: Durations, send_s: float, overlapped: bool) -> Outline:
    schedule = schedule_named(layout.schedule)
    return simulate_long(schedule, layout.pp, layout.micro_batches, layout.vp, durations, send_s, overlapped)


def schedule_alone(layout: Layout, step: Step) -> Outline:
    """The schedule by itself: every stage like the mean one, sends take no time.

    Its bubble is what the closed forms speak of; the step's own bubble also has the unevenness of the stages.
    """
    schedule, durations = schedule_named(layout.schedule), step.durations
    full = [
        sum(map(sum, rows)) / layout.pp
        for rows in (durations.forward, durations.backward_input, durations.backward_weight)
    ]
    placement = schedule.placement(layout.pp, layout.vp)
    even = even_durations(placement, *(time / placement.pipes for time in full))
    return _outline(layout, even, 0.0, True)


def _window(p: int, v: int) -> float:
    """Backward passes of a full stage beside which gradients travel: the last one; interleaved, all but one chunk of p."""
    return 1.0 if v == 1 else p * (v - 1) / v


def _durations(stages: tuple[Stage, ...], times: dict[Chunk, ChunkTime]) -> Durations:
    rows = [[times[chunk] for chunk in stage.chunks] for stage in stages]
    return Durations(
        [[t.forward for t in row] for row in rows],
        [[t.backward_input for t in row] for row in rows],
        [[t.work.backward_weight for t in row] for row in rows],
    )


def _step_collectives(chunks: list[ChunkTime], runs: float) -> list[Collective]:
    """Collectives of the layers, added up over layers, passes and micro-batches."""
    found: dict[tuple[str, str, float, float], Collective] = {}
    for chunk in chunks:
        for collective, layers in chunk.traffic:
            key = collective.what, collective.op, collective.payload_bytes, collective.exposed_share
            seen = found.get(key)
            times = collective.count * layers * runs + (seen.count if seen else 0)
            found[key] = replace(collective, count=times)
    return list(found.values())


def _optimizer(traffic: Traffic, own: float, experts: float) -> Term:
    layout = traffic.layout
    widths = (layout.shard_width, layout.expert_shard_width) if layout.zero else (1, 1)
    return optimizer_s.explain(
        "optimizer", k=calibration.factor("optimizer_shard_bytes"), P=own / widths[0] + experts / widths[1],
        l=calibration.factor("optimizer_local_bytes"), Q=(own + experts) / (widths[0] if layout.zero == 3 else 1),
        B=1 / float(kernels.pointwise_s(traffic.cluster.gpu, 1.0)),
    )  # fmt: skip


def _band(traffic: Traffic) -> float:
    return max(traffic.machine.stack.band, calibration.moe_band() if traffic.model.experts else 0.0)
