"""The front door: estimate(scenario) gives everything the engine knows about it. Delegates, holds no formula."""

from dataclasses import dataclass
from functools import cached_property

from engine.compute.flops import (
    causal_flop,
    flop_utilization,
    full_attention_flop,
    hardware_flop,
    recomputed_flop,
    six_n_flop,
    training_flop,
    work_per_token,
)
from engine.language.formula import Term
from engine.language.kept import kept
from engine.language.units import MB
from engine.layout.stages import stages_of
from engine.memory.parameters import count, parameters_term
from engine.memory.stage import StageMemory, stage_memory
from engine.network.communication import Traffic
from engine.pipeline.held import held_until_weights
from engine.pipeline.schedules import schedule_named
from engine.pipeline.steady import Outline
from engine.run.goodput import goodput_share, gpu_mtbf_s, young_interval_s
from engine.run.speed import tokens_per_second
from engine.run.training import gpu_hours, gpu_hours_at_speed, run_usd, wall_days
from engine.scenario import Scenario
from engine.step.step import Step, schedule_alone, step_of

EACH_BYTES, STAGE_BYTES = 20_000, 8_000  # of an estimate, and of each of its stages
ESTIMATES_BYTES = 32 * MB


@dataclass(frozen=True)
class Mfu:
    """The same speed by four conventions."""

    six_n: Term
    causal: Term
    full_attention: Term
    hfu: Term


@dataclass(frozen=True)
class WholeRun:
    """The whole run."""

    flop: Term
    gpu_hours: Term
    days: Term
    usd: Term
    goodput_share: Term


@dataclass(frozen=True)
class Estimate:
    """Everything about a scenario, each part made when it is asked for. Numbers are Terms: each opens its working."""

    scenario: Scenario

    @cached_property
    def parameters(self) -> Term:
        return parameters_term(self.scenario.model)

    @property
    def active_parameters(self) -> float:
        return count(self.scenario.model).active

    @cached_property
    def stages(self) -> tuple[StageMemory, ...]:
        """The memory of each pipeline stage. What it holds at once follows from its order, not from how long a step takes."""
        scenario, layout = self.scenario, self.scenario.layout
        schedule = schedule_named(layout.schedule)
        held = held_until_weights(schedule, layout.pp, layout.micro_batches, layout.vp)
        return tuple(
            stage_memory(
                scenario.model,
                layout,
                scenario.sequence_tokens,
                stage,
                held[stage.index],
                scenario.calibration,
                fp8=scenario.fp8,
                fused=scenario.fused,
                copies=schedule.parameter_copies,
            )
            for stage in stages_of(scenario.model, layout)
        )

    @cached_property
    def traffic(self) -> Traffic:
        """What decides the collectives of a step."""
        scenario = self.scenario
        return Traffic(scenario.model, scenario.layout, scenario.cluster, scenario.machine, scenario.sequence_tokens)

    @cached_property
    def step(self) -> Step:
        return step_of(self.traffic)

    @cached_property
    def alone(self) -> Outline:
        """The schedule with equal stages and sends that take no time."""
        return schedule_alone(self.scenario.layout, self.step)

    @cached_property
    def fullest(self) -> StageMemory:
        """The stage that needs most memory."""
        return max(self.stages, key=lambda stage: stage.total.value)

    @property
    def capacity_bytes(self) -> float:
        return self.scenario.cluster.gpu.memory_bytes

    @property
    def fits(self) -> bool:
        return self.fullest.needed.value <= self.capacity_bytes

    @cached_property
    def tokens_per_second(self) -> Term:
        layout = self.scenario.layout
        return tokens_per_second.explain(
            "tokens per second", B=layout.global_batch, s=self.scenario.sequence_tokens, t=self.step.seconds
        )

    @cached_property
    def mfu(self) -> Mfu:
        scenario = self.scenario
        work = work_per_token(scenario.model, scenario.sequence_tokens)
        again = recomputed_flop(scenario.model, scenario.sequence_tokens, scenario.layout.recompute)
        causal = causal_flop.explain(**work)
        conventions = {
            "six_n": ("MFU, 6N", six_n_flop.explain(N=count(scenario.model).active)),
            "causal": ("MFU, causal attention", causal),
            "full_attention": ("MFU, full attention", full_attention_flop.explain(**work)),
            "hfu": ("HFU, with recomputation", hardware_flop.explain(c=causal, r=again)),
        }
        return Mfu(**{name: self._utilization(label, flop) for name, (label, flop) in conventions.items()})

    def _utilization(self, label: str, flop: Term) -> Term:
        peak = self.scenario.cluster.gpu.peak(self.scenario.precision)
        return flop_utilization.explain(label, c=flop, r=self.tokens_per_second, g=self.scenario.gpus, P=peak)

    @cached_property
    def training(self) -> WholeRun:
        """The run at the computed speed, or at the MFU the scenario gives."""
        scenario, run = self.scenario, self.scenario.training
        flop = training_flop.explain("work", N=count(scenario.model).active, T=run.tokens)
        if run.mfu is None:
            hours = gpu_hours_at_speed.explain("GPU-hours", T=run.tokens, r=self.tokens_per_second, g=scenario.gpus)
        else:
            peak = scenario.cluster.gpu.peak(scenario.precision)
            hours = gpu_hours.explain("GPU-hours", flop=flop, peak_flop_per_s=peak, mfu=run.mfu)
        return WholeRun(
            flop=flop,
            gpu_hours=hours,
            days=wall_days.explain("days", gpu_hours=hours, gpus=scenario.gpus),
            usd=run_usd.explain("price", gpu_hours=hours, usd_per_gpu_hour=run.usd_per_gpu_hour),
            goodput_share=self._goodput(),
        )

    def _goodput(self) -> Term:
        known = self.scenario.calibration
        mtbf = gpu_mtbf_s.explain(
            "time between failures",
            gpus=self.scenario.gpus,
            gpu_hours_between_failures=known.factor("gpu_hours_between_failures"),
        )
        stall = known.factor("checkpoint_stall_s")
        interval = young_interval_s.explain("time between checkpoints", checkpoint_s=stall, mtbf_s=mtbf)
        return goodput_share.explain("useful share", C=stall, i=interval, M=mtbf, R=known.factor("restart_s"))


def _held_bytes(estimate: Estimate) -> int:
    """Memory of an estimate of which every part has been asked for, about: mostly the terms of its stages.   [bytes]"""
    return EACH_BYTES + STAGE_BYTES * estimate.scenario.layout.pp


@kept(ESTIMATES_BYTES, _held_bytes)
def estimate(scenario: Scenario) -> Estimate:
    """Everything the engine knows about a scenario.

    >>> from engine.scenario import scenario_from
    >>> card = estimate(scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024}))
    >>> card.alone.in_flight, round(card.alone.bubble_of_total, 4)
    ((4.0, 3.0, 2.0, 1.0), 0.1579)
    """
    return Estimate(scenario)
