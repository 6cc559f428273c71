"""The time of one training step and where it went: computation, recomputation, communication, bubble, optimizer."""

from dataclasses import dataclass, replace
from functools import cached_property

from engine.catalog import kernel_rates
from engine.language.formula import Term
from engine.language.kept import kept
from engine.language.units import MB
from engine.layout.layout import Layout
from engine.layout.stages import Chunk, Stage, stages_of
from engine.memory.held import local_parameters, sharded_parameters, stage_parameter_terms
from engine.network.communication import Traffic
from engine.network.counts import pipe_micro_batches
from engine.network.issued import Collective
from engine.network.placement import Placement
from engine.pipeline.orders import short_of
from engine.pipeline.schedules import schedule_named
from engine.pipeline.simulator import Durations, even_durations
from engine.pipeline.steady import Outline, simulate_long, timeline_of
from engine.pipeline.timeline import Timeline
from engine.step.chunk import ChunkTime, chunk_time
from engine.step.counted import layer_collectives
from engine.step.parts import (
    band_s,
    exposed_communication_s,
    idle_s,
    optimizer_s,
    send_delay_s,
    stage_compute_s,
    step_s,
)

MOST_DRAWN_OPS = 20_000  # operations simulated for a drawing: about 25 ms

drawn_timeline = kept(3 * MB, lambda timeline: timeline.held_bytes)(timeline_of)


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

    def exposed_on(self, axis: str) -> float:
        """Time that one axis' collectives add.   [s]"""
        return sum(c.exposed.value for c in self.communication if c.axis == axis)

    @cached_property
    def exposed(self) -> Term:
        return exposed_communication_s.explain(
            "exposed communication", **{axis[0]: self.exposed_on(axis) for axis in ("tp", "cp", "ep", "pp", "dp")}
        )

    @cached_property
    def seconds(self) -> Term:
        return step_s.explain(
            "one step", c=self.compute, r=self.recompute, x=self.exposed, b=self.bubble, o=self.optimizer
        )

    @cached_property
    def shown_micro_batches(self) -> int:
        """Micro-batches of `timeline`: all, or where that is too much to draw, enough to see its middle repeat."""
        layout, schedule = self.layout, schedule_named(self.layout.schedule)
        kinds, positions = 3 if schedule.splits_backward else 2, schedule.placement(layout.pp, layout.vp).positions
        most, rest = MOST_DRAWN_OPS // (kinds * positions), schedule.round_length(layout.pp, layout.vp)
        if layout.micro_batches <= most:
            return layout.micro_batches
        few = most - (most - layout.micro_batches) % rest
        return max(few, short_of(schedule, layout.pp, layout.micro_batches, layout.vp))

    @property
    def timeline(self) -> Timeline:
        """Every operation of the step, or of a shorter one like it with `shown_micro_batches`. Made anew if it is large."""
        layout, schedule = self.layout, schedule_named(self.layout.schedule)
        times = self.durations, self.send_s, self.overlapped
        return drawn_timeline(schedule, layout.pp, self.shown_micro_batches, layout.vp, *times)

    @property
    def low(self) -> Term:
        return band_s.explain("low end", s=self.seconds, d=-self.band)

    @property
    def high(self) -> Term:
        return band_s.explain("high end", s=self.seconds, d=self.band)


def step_of(traffic: Traffic) -> Step:
    """The step of a layout."""
    layout, overlapped = traffic.layout, traffic.machine.stack.overlapped
    stages = stages_of(traffic.model, layout)
    times = {chunk: chunk_time(traffic, chunk) for chunk in {chunk for stage in stages for chunk in stage.chunks}}
    durations = _durations(stages, times)
    send = traffic.pipeline_send()
    send_s = send.each_s if send else 0.0
    outline = _outline(layout, durations, send_s, overlapped)
    free = outline if layout.pp == 1 else _outline(layout, durations, 0.0, overlapped)
    slowest = max(range(layout.pp), key=lambda stage: free.busy[stage])
    chunks = [times[chunk] for chunk in stages[slowest].chunks]
    runs = passes(layout)
    issued = layer_collectives(chunks, runs, layout.recompute)
    if send:
        delay = send_delay_s.explain("PP sends, exposed", e=max(outline.makespan, free.makespan), f=free.makespan)
        issued.append(replace(send, delay=delay))
    own, experts = stage_parameter_terms(traffic.model, layout, stages[slowest].whole)
    # gradients travel beside computation, but not while the NIC carries another axis
    free_s = sum(max(0.0, c.work.backward_input + c.work.backward_weight - c.backward_nic) for c in chunks)
    window = free_s * _window(layout.pp, layout.vp)
    issued += traffic.data_parallel(stages[slowest], own, experts, window)
    return Step(
        layout=layout,
        placement=traffic.placement,
        stage=slowest,
        compute=stage_compute_s.explain("compute", m=runs, w=sum(c.work.total for c in chunks)),
        recompute=stage_compute_s.explain("recompute", m=runs, w=sum(c.recompute for c in chunks)),
        communication=tuple(issued),
        bubble=idle_s.explain("bubble", e=max(free.makespan, free.busy[slowest]), b=free.busy[slowest]),
        optimizer=_optimizer(traffic, own, experts),
        outline=outline,
        durations=durations,
        send_s=send_s,
        overlapped=overlapped,
        band=_band(traffic),
    )


def passes(layout: Layout) -> Term | float:
    """Micro-batches that pass each chunk of a stage."""
    pipes = schedule_named(layout.schedule).placement(layout.pp, layout.vp).pipes
    if pipes == 1:
        return layout.micro_batches
    return pipe_micro_batches.explain("micro-batches of a direction", m=layout.micro_batches, p=pipes)


def _outline(layout: Layout, durations: Durations, send_s: float, overlapped: bool) -> Outline:
    schedule = schedule_named(layout.schedule)
    return simulate_long(schedule, layout.pp, layout.micro_batches, layout.vp, durations, send_s, overlapped)


def schedule_alone(layout: Layout, step: Step) -> Outline:
    """The schedule by itself: every stage like the mean one, sends take no time.

    Its bubble is what the closed forms speak of; the step's own bubble also has the unevenness of the stages.
    """
    placement = schedule_named(layout.schedule).placement(layout.pp, layout.vp)
    return _outline(layout, even_durations(placement, *mean_times(step)), 0.0, True)


def mean_times(step: Step) -> tuple[float, float, float]:
    """A micro-batch's forward, input-gradient and weight-gradient part on the mean stage.   [s]"""
    layout, durations = step.layout, step.durations
    pipes = schedule_named(layout.schedule).placement(layout.pp, layout.vp).pipes
    forward, backward_input, backward_weight = (
        sum(map(sum, rows)) / layout.pp / pipes
        for rows in (durations.forward, durations.backward_input, durations.backward_weight)
    )
    return forward, backward_input, backward_weight


def _window(p: int, v: int) -> float:
    """Backward passes of a full stage beside which gradients travel: the last one; interleaved, all but one chunk of p."""
    return 1.0 if v == 1 else p * (v - 1) / v


def _durations(stages: tuple[Stage, ...], times: dict[Chunk, ChunkTime]) -> Durations:
    rows = [[times[chunk] for chunk in stage.chunks] for stage in stages]
    return Durations(
        tuple(tuple(t.forward for t in row) for row in rows),
        tuple(tuple(t.backward_input for t in row) for row in rows),
        tuple(tuple(t.work.backward_weight for t in row) for row in rows),
    )


def _optimizer(traffic: Traffic, own: Term, experts: Term) -> Term:
    layout, known = traffic.layout, traffic.machine.calibration
    widths = (layout.shard_width, layout.expert_shard_width) if layout.zero else (1, 1)
    return optimizer_s.explain(
        "optimizer",
        k=known.factor("optimizer_shard_bytes"),
        P=sharded_parameters.explain("parameters stepped", P=own, D=widths[0], E=experts, X=widths[1]),
        l=known.factor("optimizer_local_bytes"),
        Q=local_parameters.explain("parameters held", P=own, E=experts, D=widths[0] if layout.zero == 3 else 1),
        B=kernel_rates.streamed_bytes_per_s(traffic.cluster.gpu, known),
    )


def _band(traffic: Traffic) -> float:
    """Half-width of the range: that of runs like this one, wider where none was so large."""
    machine = traffic.machine
    alike = max(machine.stack.band, machine.calibration.moe_band if traffic.model.experts else 0.0)
    return alike + machine.calibration.band_beyond(machine.gpus)
