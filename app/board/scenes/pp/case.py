"""The numbers of the pipeline scene for one setting of its knobs, all from the engine."""

from dataclasses import dataclass
from functools import cached_property

from app.board.scenes.base import Values
from app.board.scenes.pp.drawing import Run
from engine.catalog.model import Model, model_named
from engine.language.formula import Term
from engine.language.inputs import Amount
from engine.language.kept import kept
from engine.language.refusal import Refusal
from engine.language.units import MB
from engine.layout.stages import split_layers
from engine.lens.slots import head_in_layers, pipeline_sends, step_slots, uneven_step_slots, waiting_share
from engine.memory.parameters import count
from engine.network.payloads import activation_payload_bytes
from engine.pipeline.bubble import bubble_of_ideal, bubble_of_total
from engine.pipeline.in_flight import in_flight_1f1b, in_flight_gpipe, in_flight_interleaved
from engine.pipeline.schedules import SCHEDULES, SHOWN_ONLY
from engine.pipeline.schedules.interleaved import INTERLEAVED
from engine.pipeline.schedules.placement import loop
from engine.pipeline.simulator import Durations, even_durations, simulate

EVERY = {**SCHEDULES, **SHOWN_ONLY}
SHOWN = tuple(name for name, schedule in EVERY.items() if schedule.arrange is loop)  # whose layers are dealt in a loop
MODEL, TOKENS = "llama-3-70b", 8192  # whose layers are dealt, and one sequence per micro-batch

KNOBS = (
    Amount("stages", "stages", 4, 2, 8),
    Amount("micro", "micro-batches", 8, 2, 32),
    Amount("chunks", "chunks per stage", 2, 2, 4),
    Amount("input", "input gradient", 1, 0.25, 3, step=0.25, unit="forwards", whole=False),
    Amount("weight", "weight gradient", 1, 0.25, 3, step=0.25, unit="forwards", whole=False),
    Amount("send", "one send", 0, 0, 1, step=0.05, unit="forwards", whole=False),
    Amount("slow", "last stage slower by", 10, 0, 100, unit="%"),
)


@kept(8 * MB, lambda run: run.timeline.held_bytes)
def run_of(name: str, p: int, m: int, v: int, input_slots: float, weight_slots: float, send: float, slow: float) -> Run:
    """One schedule's step; `slow` is by which share everything takes longer on the last stage. May refuse the shape."""
    schedule = EVERY[name]
    orders, placement = schedule.ops(p, m, v), schedule.placement(p, v)
    times = even_durations(placement, 1.0, input_slots, weight_slots)
    parts = (times.forward, times.backward_input, times.backward_weight)
    slowed = ((*part[:-1], tuple(time * (1 + slow) for time in part[-1])) for part in parts)
    timeline = simulate(orders, placement, Durations(*slowed), send)
    return Run(schedule.title, tuple(map(tuple, orders)), placement, timeline, send)


@dataclass(frozen=True)
class Case:
    """The runs and the terms of one setting."""

    values: Values

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
        """By which share the last stage is slower in the frame about it."""
        return self.values["slow"] / 100

    def run(self, name: str, micro_batches: int = 0, slow: float = 0.0) -> Run:
        """A schedule's step with these knobs."""
        chunks = self.v if EVERY[name].takes_chunks else 1
        return run_of(
            name, self.p, micro_batches or self.m, chunks, self.values["input"], self.values["weight"], self.send, slow
        )

    def refusal(self, name: str) -> Refusal | None:
        """Why a schedule cannot run here, if it cannot."""
        try:
            EVERY[name].check(self.p, self.m, self.v if EVERY[name].takes_chunks else 1)
        except Refusal as refusal:
            return refusal
        return None

    @property
    def groups(self) -> Refusal | None:
        """Why the interleaved schedule cannot run here, if it cannot."""
        return self.refusal(INTERLEAVED.name)

    @cached_property
    def runs(self) -> dict[str, Run]:
        """Each schedule that is shown and can run here."""
        return {name: self.run(name) for name in SHOWN if self.refusal(name) is None}

    @cached_property
    def end(self) -> float:
        """The longest of all: the axis that the frames share.   [slots]"""
        return max(run.slots for run in self.runs.values())

    @cached_property
    def most_held(self) -> float:
        return max(max(run.held) for run in self.runs.values())

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
            self.uneven,
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
