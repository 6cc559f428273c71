"""The list behind "kernels": it is the step's computation, kernel by kernel, and what it says would raise a rate does."""

import re
from collections.abc import Mapping

import pytest

from engine.accounts.kernel_list import KernelRow, kernel_list
from engine.catalog.calibration import software
from engine.catalog.model import catalogue
from engine.estimate import Estimate, estimate
from engine.language.refusal import Refusal
from engine.language.units import quantity_text
from engine.scenario import scenario_from

LAYOUTS = (
    {"tp": 8, "pp": 4},
    {"tp": 2, "pp": 2, "micro_batch": 2, "recompute": "full"},
    {"tp": 1, "pp": 1, "zero": 3},
    {"tp": 1, "pp": 2, "ep": 8, "gradient_bytes": 2},
)


def asked(model: str, layout: Mapping[str, object], **more: object) -> Estimate | None:
    try:
        return estimate(scenario_from({"model": model, "cluster": "hgx-h100", "gpus": 256, "layout": layout, **more}))
    except Refusal:
        return None


PLANS = [
    found
    for model in catalogue()
    for layout in LAYOUTS
    for precision in ("bf16", "fp8")
    if (found := asked(model, layout, precision=precision))
] + [found for stack in software() if (found := asked("llama-3-70b", LAYOUTS[0], stack=stack))]


def test_there_are_plans_of_every_kind() -> None:
    assert len(PLANS) > 40 and any(found.scenario.model.experts for found in PLANS)


@pytest.mark.parametrize("found", PLANS, ids=lambda found: found.scenario.layout.__class__.__name__)
def test_the_kernels_add_up_to_the_computation_of_the_step(found: Estimate) -> None:
    rows = kernel_list(found)
    assert sum(row.seconds.value for row in rows) == pytest.approx(found.step.compute.value, rel=1e-12)
    times = [row.seconds.value for row in rows]
    assert times == sorted(times, reverse=True)
    assert len({row.name for row in rows}) == len(rows)
    assert all(0 < row.of_peak.value <= 1 for row in rows if row.of_peak)


def test_attention_norms_and_head_are_in_it(card: Estimate) -> None:
    assert {"attention", "norms and residuals", "head", "MLP up"} <= {row.name for row in kernel_list(card)}


def test_what_lies_below_peak_is_the_loss_of_a_plan_of_equal_stages() -> None:
    """One stage, every layer in it: nothing but the kernels stands between its computation and the useful work."""
    found = asked("llama-3-8b", {"tp": 1, "pp": 1, "zero": 3})
    assert found
    lost = sum(row.lost.value for row in kernel_list(found))
    # the convention counts weights of norms as work, a hundred-thousandth
    assert lost == pytest.approx(found.step.compute.value / found.step.seconds.value - found.mfu.causal.value, rel=1e-4)


TRIED = re.compile(r"(micro-batch|TP|EP) (\d+): (.+) by itself")


@pytest.mark.parametrize("found", PLANS, ids=lambda found: found.scenario.layout.__class__.__name__)
def test_what_would_raise_a_rate_raises_it_by_so_much_in_the_plan_it_names(found: Estimate) -> None:
    scenario = found.scenario
    for row in kernel_list(found):
        if not (said := TRIED.fullmatch(row.raise_it)):
            continue
        name, degree, rate = {"micro-batch": "micro_batch", "TP": "tp", "EP": "ep"}[said[1]], int(said[2]), said[3]
        dp = (scenario.layout.dp or 1) * scenario.layout.tp // degree if name == "tp" else scenario.layout.dp
        layout = scenario.layout.model_copy(update={name: degree, "dp": dp})
        other = estimate(scenario.model_copy(update={"layout": layout}))
        assert shown(kernel_list(other), row.name) == rate, (row.name, row.raise_it)
        assert row.rate and row.rate.text != rate


def shown(rows: tuple[KernelRow, ...], name: str) -> str:
    (row,) = (row for row in rows if row.name == name)
    assert row.rate
    return quantity_text(row.rate.value, "FLOP/s")
