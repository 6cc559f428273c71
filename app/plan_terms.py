"""The numbers that the planner shows, by the names its links use."""

from collections.abc import Mapping

from engine.estimate import Estimate
from engine.formula import Term, nearest
from engine.layout import AXES
from engine.napkin import comparisons
from engine.refusal import Refusal
from engine.step_parts import kernel_loss, share_of_step

PARTS = ("weights", "gradients", "optimizer", "activations", "buffers", "total", "needed", "state")


def terms_of(estimate: Estimate) -> dict[str, Term]:
    """The answers of the board: step, speed, run, MFU."""
    step, training, mfu = estimate.step, estimate.training, estimate.mfu
    return {
        "step": step.seconds, "low": step.low, "high": step.high, "speed": estimate.tokens_per_second,
        "days": training.days, "gpu_hours": training.gpu_hours, "usd": training.usd, "flop": training.flop,
        "goodput": training.goodput_share, "parameters": estimate.parameters,
        "six_n": mfu.six_n, "causal": mfu.causal, "full_attention": mfu.full_attention, "hfu": mfu.hfu,
        "bubble": share_of_step.explain("bubble", x=step.bubble, s=step.seconds),
        "compute": step.compute, "recompute": step.recompute, "optimizer": step.optimizer,
    }  # fmt: skip


def term_at(estimate: Estimate, path: str) -> Term:
    """The term of a link: an answer ("step"), a part of a stage's memory ("stage.0.weights"), a collective's exposed time
    ("wire.2"), or the napkin's side of a comparison ("napkin.days")."""
    found = _every(estimate)
    if path not in found:
        raise Refusal("number", path, "no number of this plan has this name", nearest(path, found))
    return found[path]


def _every(estimate: Estimate) -> Mapping[str, Term]:
    memory = {f"stage.{stage.stage}.{name}": getattr(stage, name) for stage in estimate.stages for name in PARTS}
    wires = {f"wire.{number}": collective.exposed for number, collective in enumerate(estimate.step.communication)}
    lenses = {f"napkin.{row.name}": row.napkin for row in comparisons(estimate)}
    exact = {f"exact.{row.name}": row.exact for row in comparisons(estimate)}
    return {**terms_of(estimate), **memory, **wires, **lenses, **exact, **_lost(estimate)}


def _lost(estimate: Estimate) -> dict[str, Term]:
    """The losses of the waterfall: kernels, then parts of the step, then the exposed time of each axis."""
    step = estimate.step
    parts = {"bubble": step.bubble, "recompute": step.recompute, "optimizer": step.optimizer}
    for axis in AXES:
        shown = [collective.exposed.value for collective in step.communication if collective.axis == axis]
        parts[axis] = sum(shown)  # type: ignore[assignment]
    shares = {f"lost.{name}": share_of_step.explain(name, x=part, s=step.seconds) for name, part in parts.items()}
    kernels = kernel_loss.explain("kernels below peak", c=step.compute, s=step.seconds, u=estimate.mfu.causal)
    return {**shares, "lost.kernels": kernels, "lost.mfu": estimate.mfu.causal}
