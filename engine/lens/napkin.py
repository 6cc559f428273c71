"""The arithmetic one does at a whiteboard, beside the exact answer, and what makes the two differ."""

from dataclasses import dataclass

from engine.catalog.model import called_parameters
from engine.compute.flops import training_flop
from engine.estimate import Estimate
from engine.language.formula import Given, Number, Value, formula
from engine.language.units import share_text
from engine.memory.state import state_bytes
from engine.pipeline.bubble import bubble_of_total
from engine.pipeline.schedules import schedule_named
from engine.run.speed import tokens_per_second
from engine.run.training import gpu_hours, run_usd, wall_days
from engine.step.parts import share_of_step

USUAL_MFU = 0.40  # the interview card's middle of 35 to 45 %
USUAL = "The interview card: 35 to 45 % of BF16 peak on H100"
AS_SAID = "The size people say; two digits where a model has no name"


@formula(
    r"\frac{6 \cdot <N> \cdot <B> \cdot <s>}{<g> \cdot <P> \cdot <u>}",
    unit="s",
    source="6ND for the tokens of one step",
)
def napkin_step_s(N: Number, B: Number, s: Number, g: Number, P: Number, u: Number) -> Number:
    """Time of one step at an assumed MFU.   [s]

    N   parameters                  [parameters]
    B   global batch                [sequences]
    s   sequence length             [tokens]
    g   GPUs                        [count]
    P   dense peak of one GPU       [FLOP/s]
    u   utilization assumed         [share above 0]

    >>> round(napkin_step_s(70e9, 512, 8192, 1024, 989e12, 0.4), 2)
    4.35
    """
    return 6 * N * B * s / (g * P * u)


@formula(r"\frac{<N>}{<t> \cdot <p>}", unit="parameters", source="As if every GPU of a copy held as much as any other")
def gpu_share(N: Number, t: Number, p: Number) -> Number:
    """A GPU's even part of the parameters, before ZeRO shards it.   [parameters]

    N   parameters                [parameters]
    t   tensor-parallel degree    [count]
    p   pipeline stages           [count]

    >>> gpu_share(70e9, 8, 4) / 1e9
    2.1875
    """
    return N / (t * p)


@dataclass(frozen=True)
class Comparison:
    """One quantity by both lenses, and why they differ."""

    name: str
    label: str
    napkin: Value
    exact: Value
    why: str


def comparisons(estimate: Estimate) -> tuple[Comparison, ...]:
    """The napkin's answers beside the exact ones.

    >>> from engine.estimate import estimate
    >>> from engine.scenario import scenario_from
    >>> card = estimate(scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024}))
    >>> [row.napkin.text for row in comparisons(card)][:3]
    ['70 B parameters', '9.57 GB', '15.8 % of the step']
    """
    scenario, layout, run = estimate.scenario, estimate.scenario.layout, estimate.scenario.training
    # the card's 40 % is of the BF16 peak: of twice that nobody reaches it; a share that is given is of the plan's own peak
    peak = scenario.cluster.gpu.peak(scenario.precision if run.mfu or not scenario.fp8 else "bf16")
    total, active = called_parameters(scenario.model) or (
        float(f"{estimate.parameters.value:.2g}"),
        float(f"{estimate.active_parameters:.2g}"),
    )
    everything = Given("parameters", total, "parameters", AS_SAID)
    parameters = Given("active parameters", active, "parameters", AS_SAID)
    mfu = Given("MFU", run.mfu or USUAL_MFU, "share of peak", "Given with the run" if run.mfu else USUAL)
    share = gpu_share.explain("parameters per GPU", N=everything, t=layout.tp, p=layout.pp)
    state = state_bytes.explain("training state per GPU", N=share, zero=layout.zero, D=layout.shard_width)
    step = napkin_step_s.explain(
        "one step", N=parameters, B=layout.global_batch, s=scenario.sequence_tokens, g=scenario.gpus, P=peak, u=mfu
    )
    flop = training_flop.explain("work of the run", N=parameters, T=run.tokens)
    hours = gpu_hours.explain("GPU-hours", flop=flop, peak_flop_per_s=peak, mfu=mfu)
    return (
        Comparison("parameters", "parameters", everything, estimate.parameters, "the name, against every matrix counted"),
        Comparison("state", "state per GPU", state, estimate.fullest.state, _why_state(estimate)),
        Comparison("bubble", "bubble", bubble_of_total.explain(p=layout.pp, m=layout.micro_batches, v=layout.vp),
                   share_of_step.explain("bubble", x=estimate.step.bubble, s=estimate.step.seconds), _why_bubble(estimate)),
        Comparison("step", "one step", step, estimate.step.seconds, _why_step(estimate)),
        Comparison("speed", "speed", tokens_per_second.explain(B=layout.global_batch, s=scenario.sequence_tokens, t=step),
                   estimate.tokens_per_second, "follows from the step"),
        Comparison("mfu", "MFU", mfu, estimate.mfu.six_n, _why_mfu(estimate)),
        Comparison("days", "days", wall_days.explain(gpu_hours=hours, gpus=scenario.gpus), estimate.training.days,
                   "no failures in either"),
        Comparison("usd", "price", run_usd.explain(gpu_hours=hours, usd_per_gpu_hour=run.usd_per_gpu_hour),
                   estimate.training.usd, "before restarts and ablations"),
    )  # fmt: skip


def _why_state(estimate: Estimate) -> str:
    """The reasons that act, the largest first."""
    layout, model = estimate.scenario.layout, estimate.scenario.model
    reasons = []
    if layout.ep > 1:
        reasons.append(
            f"a GPU holds {model.experts // layout.ep} of {model.experts} experts, where the napkin gives it all"
        )
    if layout.gradient_bytes != 2:
        reasons.append(f"{layout.gradient_bytes} bytes per gradient, not 2")
    if layout.pp > 1:
        reasons.append("the fullest stage also holds the embedding or the head, or a layer more")
    if schedule_named(layout.schedule).parameter_copies > 1:
        reasons.append("this schedule keeps two copies of the parameters")
    return "; ".join(reasons) or "rounding"


def _why_step(estimate: Estimate) -> str:
    eight = estimate.scenario.fp8 and not estimate.scenario.training.mfu
    peak = "an MFU assumed of the BF16 peak, and products in FP8" if eight else "an MFU assumed"
    return f"{peak}, against kernels, wires and waiting added up"


def _why_mfu(estimate: Estimate) -> str:
    eight = estimate.scenario.fp8 and not estimate.scenario.training.mfu
    return "both by 6N; of the BF16 peak, against the peak in FP8" if eight else "both by 6N"


def _why_bubble(estimate: Estimate) -> str:
    layout = estimate.scenario.layout
    if layout.pp == 1:
        return "one stage never waits for another"
    if layout.runs.closed.bubble_of_total is bubble_of_total:
        alone = share_text(estimate.alone.bubble_of_total)
        return f"share of the whole step, communication and optimizer included; the slowest stage waits least ({alone} if all were equal)"
    return "the napkin knows only 1F1B and interleaving; this schedule is simulated"
