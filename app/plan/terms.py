"""The numbers that the planner shows, by the names its links use: those of the API's document, and a few of its own."""

from engine.accounts.kernel_list import kernel_list
from engine.estimate import Estimate
from engine.language.choice import choose
from engine.language.formula import Term, Value
from engine.layout.layout import AXES
from engine.lens.napkin import comparisons
from engine.run.goodput import days_with_failures
from engine.step.parts import kernel_loss, share_of_step
from engine.workings import terms_of

KERNELS = "kernels"
LOST_TO_KERNELS = "lost.kernels"


def shown_terms(estimate: Estimate) -> dict[str, Value]:
    """Every number of the planner.

    As in the document ("step.seconds", "memory.stages.0.weights_bytes"), and besides what a stage needs of its GPU
    ("needed.0"), what is sent for a collective in a step ("wires.0"), the days with failures, both lenses of a comparison
    ("napkin.days", "exact.days") and the losses of the waterfall ("lost.tp").
    """
    rows = comparisons(estimate)
    return {
        **terms_of(estimate),
        **{f"needed.{stage.stage}": stage.needed for stage in estimate.stages},
        **{f"napkin.{row.name}": row.napkin for row in rows},
        **{f"exact.{row.name}": row.exact for row in rows},
        **{f"wires.{at}": each.sent_in_step for at, each in enumerate(estimate.step.communication)},
        **_with_failures(estimate),
        **_lost(estimate),
    }


def _with_failures(estimate: Estimate) -> dict[str, Term]:
    """Days with failures; none where failures come faster than the run recovers."""
    days, share = estimate.training.days, estimate.training.goodput_share
    if share.value <= 0:
        return {}
    return {"with_failures": days_with_failures.explain("days with failures", d=days, G=share)}


HELD = ("memory.", "needed.", "napkin.state", "exact.state")  # paths of what a GPU holds


def is_held(path: str) -> bool:
    """Whether a number is of what a GPU holds, so that its bytes follow the reader's unit."""
    return path.startswith(HELD)


def term_at(estimate: Estimate, path: str) -> Value:
    """The term that a link names."""
    known = kernel_terms(estimate) if path.startswith(f"{KERNELS}.") else shown_terms(estimate)
    return choose("number", path, known, "no number of this plan has this name")


def kernel_terms(estimate: Estimate) -> dict[str, Value]:
    """The numbers of the kernel list: "kernels.0.seconds". Apart, since no board shows them before they are asked for."""
    return {
        f"{KERNELS}.{place}.{name}": term
        for place, row in enumerate(kernel_list(estimate))
        for name in ("seconds", "rate", "of_peak", "share", "lost")
        if (term := getattr(row, name)) is not None
    }


def _lost(estimate: Estimate) -> dict[str, Term]:
    """The losses of the waterfall: kernels, parts of the step, the exposed time of each axis."""
    step = estimate.step
    parts: dict[str, Term | float] = {axis: step.exposed_on(axis) for axis in AXES}
    parts |= {"bubble": step.bubble, "recompute": step.recompute, "optimizer": step.optimizer}
    shares = {f"lost.{name}": share_of_step.explain(name, x=part, s=step.seconds) for name, part in parts.items()}
    kernels = kernel_loss.explain("kernels below peak", c=step.compute, s=step.seconds, u=estimate.mfu.causal)
    return {**shares, LOST_TO_KERNELS: kernels, "lost.mfu": estimate.mfu.causal}
