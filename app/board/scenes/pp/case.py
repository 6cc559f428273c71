"""The numbers of the pipeline scene for one setting of its knobs, all from the engine."""

from dataclasses import dataclass
from functools import cached_property

from app.board.scenes.base import Values
from engine.catalog.model import Model, model_named
from engine.language.formula import Term
from engine.language.inputs import Amount, Choice
from engine.language.kept import kept
from engine.language.refusal import Refusal
from engine.language.units import MB, digits_text
from engine.layout.stages import split_layers
from engine.lens.slots import head_in_layers, pipeline_sends, step_slots, uneven_step_slots, waiting_share
from engine.lens.stacks import Gaps, idle
from engine.lens.two_steps import next_step_slots, two_steps
from engine.memory.parameters import count
from engine.network.payloads import activation_payload_bytes
from engine.pipeline.bubble import bubble_of_ideal, bubble_of_total
from engine.pipeline.in_flight import in_flight_1f1b, in_flight_gpipe, in_flight_interleaved
from engine.pipeline.schedules import SCHEDULES, SHOWN_ONLY, USUAL, ChunkPlacement, Op
from engine.pipeline.schedules.interleaved import INTERLEAVED
from engine.pipeline.simulator import Durations, even_durations, simulate
from engine.pipeline.timeline import Timeline
from engine.pipeline.waits import Wait, waits

EVERY = {**SCHEDULES, **SHOWN_ONLY}
NAMES = tuple(EVERY)
FIELDS = {"layout.pp": "stages", "layout.micro_batches": "micro", "layout.vp": "chunks"}  # of the engine, as knobs here
MODEL, TOKENS = "llama-3-70b", 8192  # whose layers are dealt, and one sequence per micro-batch

KNOBS = (
    Choice("schedule", "schedule", USUAL.name, {name: schedule.title for name, schedule in EVERY.items()}),
    Amount("stages", "stages", 4, 2, 8),
    Amount("micro", "micro-batches", 8, 2, 32),
    Amount("chunks", "chunks per stage", 2, 2, 4),
    Amount("input", "input gradient", 1, 0.25, 3, step=0.25, unit="forwards", whole=False),
    Amount("weight", "weight gradient", 1, 0.25, 3, step=0.25, unit="forwards", whole=False),
    Amount("send", "one send", 0, 0, 1, step=0.05, unit="forwards", whole=False),
    Amount("slow", "last stage slower by", 0, 0, 100, unit="%"),
)


def slots_text(value: float) -> str:
    """A number of slots, to a tenth where it needs one.

    >>> slots_text(33.0), slots_text(114.6000001)
    ('33', '114.6')
    """
    return digits_text(round(value, 2), 4)


def in_slots(value: float) -> str:
    """The same with its unit.

    >>> in_slots(1.0), in_slots(4.5)
    ('1 slot', '4.5 slots')
    """
    text = slots_text(value)
    return f"{text} slot" if text == "1" else f"{text} slots"


@dataclass(frozen=True)
class Run:
    """One schedule's step: its orders and its exact timeline.

    send   by which a result reaches another stage later   [slots]
    """

    title: str
    orders: tuple[tuple[Op, ...], ...]
    placement: ChunkPlacement
    durations: Durations
    timeline: Timeline
    send: float

    @property
    def slots(self) -> float:
        return self.timeline.makespan

    @property
    def held(self) -> tuple[float, ...]:
        """Most micro-batches that each stage holds, weight gradients still to come included."""
        return self.timeline.held_until_weights

    @property
    def micro_batches(self) -> int:
        return 1 + max(op.micro_batch for op in self.orders[0])

    @property
    def chunks(self) -> int:
        return len(self.placement.places[0])

    @property
    def work(self) -> float:
        """What a stage computes, averaged over the stages.   [slots]"""
        return sum(self.timeline.busy) / self.timeline.stages

    @cached_property
    def span(self) -> float:
        """From a stage's first operation to the end of its last one, averaged over the stages.   [slots]"""
        return sum(row[-1].end - row[0].start for row in self.timeline.by_stage) / self.timeline.stages

    @property
    def gapless(self) -> bool:
        """Whether no stage waits between its first and its last operation."""
        return self.span - self.work < 1e-9

    @cached_property
    def waits(self) -> tuple[Wait, ...]:
        """Every moment at which a stage has nothing to run, with its reason."""
        return waits(self.orders, self.placement, self.timeline, self.send)

    @cached_property
    def gaps(self) -> Gaps:
        """When any stage waits."""
        return idle(self.timeline)

    @cached_property
    def two(self) -> Timeline:
        """This step and the next, each stage going on by itself."""
        return two_steps(self.orders, self.placement, self.durations, self.send)

    @property
    def next_step(self) -> float:
        """From one step to the next then.   [slots]"""
        return next_step_slots(self.timeline, self.two)

    def to_the_right(self, chunk: int) -> bool:
        """Whether forward passes the stages from the first to the last in this chunk."""
        places = self.placement.places
        return places[-1][chunk].position > places[0][chunk].position


@kept(8 * MB, lambda run: 3 * run.timeline.held_bytes)
def run_of(name: str, p: int, m: int, v: int, input_slots: float, weight_slots: float, send: float, slow: float) -> Run:
    """One schedule's step; `slow` is by which share everything takes longer on the last stage. May refuse the shape."""
    schedule = EVERY[name]
    orders, placement = schedule.ops(p, m, v), schedule.placement(p, v)
    times = even_durations(placement, 1.0, input_slots, weight_slots)
    parts = (times.forward, times.backward_input, times.backward_weight)
    durations = Durations(*((*part[:-1], tuple(time * (1 + slow) for time in part[-1])) for part in parts))
    timeline = simulate(orders, placement, durations, send)
    return Run(schedule.title, tuple(map(tuple, orders)), placement, durations, timeline, send)


@dataclass(frozen=True)
class Case:
    """The runs and the terms of one setting."""

    values: Values

    @property
    def name(self) -> str:
        """The schedule that is played."""
        return NAMES[int(self.values["schedule"])]

    @property
    def against(self) -> str:
        """The one it is raced with: the usual one, which is itself raced with the first of the others."""
        return USUAL.name if self.name != USUAL.name else next(name for name in NAMES if name != USUAL.name)

    @property
    def p(self) -> int:
        return int(self.values["stages"])

    @property
    def m(self) -> int:
        return int(self.values["micro"])

    @property
    def v(self) -> int:
        return int(self.values["chunks"])

    @property
    def send(self) -> float:
        return self.values["send"]

    @property
    def slower(self) -> float:
        """By which share the last stage takes longer for everything, in what is played."""
        return self.values["slow"] / 100

    def run(self, name: str, micro_batches: int = 0, slow: float = 0.0) -> Run:
        """A schedule's step with these knobs."""
        chunks = self.v if EVERY[name].takes_chunks else 1
        return run_of(
            name, self.p, micro_batches or self.m, chunks, self.values["input"], self.values["weight"], self.send, slow
        )

    @property
    def played(self) -> Run:
        return self.run(self.name, slow=self.slower)

    @property
    def rival(self) -> Run:
        return self.run(self.against, slow=self.slower)

    def refusal(self, name: str) -> Refusal | None:
        """Why a schedule cannot run here, if it cannot."""
        try:
            EVERY[name].check(self.p, self.m, self.v if EVERY[name].takes_chunks else 1)
        except Refusal as said:
            return Refusal(FIELDS.get(said.field, said.field), said.value, said.rule, said.nearest, said.code)
        return None

    @property
    def groups(self) -> Refusal | None:
        """Why the interleaved schedule cannot run here, if it cannot."""
        return self.refusal(INTERLEAVED.name)

    @cached_property
    def runs(self) -> dict[str, Run]:
        """Each schedule that can run here."""
        return {name: self.run(name) for name in EVERY if self.refusal(name) is None}

    @cached_property
    def model(self) -> Model:
        return model_named(MODEL)

    @cached_property
    def layers(self) -> list[int]:
        """Layers of each stage."""
        return split_layers(self.model.layers, self.p)

    @cached_property
    def payload(self) -> Term:
        return activation_payload_bytes.explain("one hand-over between stages", b=2, T=TOKENS, w=self.model.hidden)

    @cached_property
    def head(self) -> Term:
        parts = count(self.model)
        return head_in_layers.explain(f"the output head of {MODEL}", H=parts.head, l=parts.dense_layer)

    def waiting(self, name: str, run: Run | None = None) -> Term:
        """Share of a schedule's step in which a stage waits, exact."""
        shown = run or self.run(name)
        return waiting_share.explain(f"waiting under {shown.title}", w=shown.work, T=shown.slots)

    def inside(self, name: str) -> Term:
        """Share of the time between a stage's first and last operation in which it waits."""
        shown = self.run(name)
        return waiting_share.explain(
            f"waiting inside {shown.title}, ramps left out", w=shown.work, T=max(shown.span, shown.work)
        )

    def sends(self, v: int = 1) -> Term:
        name = f"sends with {v} chunks per stage" if v > 1 else "sends under 1F1B"
        return pipeline_sends.explain(name, p=self.p, m=self.m, v=v)

    @cached_property
    def uneven(self) -> Term:
        return uneven_step_slots.explain(
            "1F1B with a slow last stage", p=self.p, m=self.m, s=self.slower, **self._times
        )

    @property
    def _times(self) -> dict[str, float]:
        return {"F": 1.0, "B": self.values["input"], "W": self.values["weight"]}

    @cached_property
    def closed(self) -> tuple[Term, ...]:
        """What textbooks give; it holds while sends take no time."""
        if self.send:
            return ()
        size = {"p": self.p, "m": self.m}
        thin = (
            ()
            if self.groups
            else (
                step_slots.explain(f"step, {self.v} chunks per stage", **size, **self._times, v=self.v),
                bubble_of_total.explain(f"bubble, {self.v} chunks per stage", **size, v=self.v),
            )
        )
        return (
            step_slots.explain("step of GPipe and of 1F1B", **size, **self._times),
            bubble_of_total.explain("bubble of GPipe and of 1F1B", **size),
            bubble_of_ideal.explain("the same over the ideal step", **size),
            *thin,
            *((self.uneven,) if self.slower else ()),
        )

    @cached_property
    def held_terms(self) -> tuple[Term, ...]:
        """Micro-batches that the first stage holds."""
        size = {"p": self.p, "m": self.m}
        thin = (
            ()
            if self.groups
            else (in_flight_interleaved.explain("held by the first stage, interleaved", **size, v=self.v),)
        )
        return (
            in_flight_gpipe.explain("held by each stage of GPipe", m=self.m),
            in_flight_1f1b.explain("held by the first stage of 1F1B", **size),
            *thin,
        )
