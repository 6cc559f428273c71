"""The calibration is part of the question: every factor is read from it, and every kept answer is kept under it."""

from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from engine.accounts.ledger import wire_ledger
from engine.answer import answer
from engine.catalog import calibration
from engine.catalog.calibration import Calibration, fitted_calibration
from engine.compute.work import embedding_work, head_work, layer_work
from engine.estimate import Estimate, estimate
from engine.language.refusal import Refusal
from engine.lens.napkin import comparisons
from engine.scenario import Scenario, scenario_from
from tests.engine.conftest import changed

KNOWN = fitted_calibration()
SCENARIOS = [
    scenario_from(changed(**asked))
    for asked in (
        {},
        {"micro_batches": 4},  # a large bubble
        {"gpus": 32, "model": "llama-3-8b"},  # simpler would do
        {"tp": 1, "pp": 1, "zero": 3, "micro_batches": 1, "gpus": 256},
        {"cp": 4, "pp": 1, "sequence_tokens": 131_072, "gpus": 16_384},
        {"model": "mixtral-8x7b", "gpus": 64, "tp": 1, "pp": 1, "ep": 8, "micro_batches": 2},
        {"rank_order": "tp-cp-ep-pp-dp", "gpus": 4096, "zero": 0},
    )
]
CACHED: tuple[Any, ...] = (estimate, layer_work, head_work, embedding_work)


def fresh() -> None:
    for each in CACHED:
        each.cache_clear()


def said(known: Calibration) -> list[Any]:
    return [answer(estimate(scenario.with_calibration(known))) for scenario in SCENARIOS]


@pytest.mark.parametrize("name", KNOWN.factors)
def test_each_factor_is_read_from_the_scenario(name: str) -> None:
    """A little more of it changes some number, or much more or less of it what is found worth saying."""
    value, usual = KNOWN.factor(name), said(KNOWN)
    assert any(said(KNOWN.changed(stacks=None, **{name: share * value})) != usual for share in (1.1, 1e-3, 1e3))


def test_presets_and_bands_are_read_from_the_scenario_too(card: Estimate) -> None:
    slower = KNOWN.changed(stacks=tuple(replace(stack, g=1.1 * stack.g) for stack in KNOWN.stacks))
    assert card.scenario.with_calibration(slower).stack.g == pytest.approx(1.1 * card.scenario.stack.g)
    assert under(card.scenario, slower).step.compute.value > 1.05 * card.step.compute.value
    wide = replace(KNOWN, usual_gpus=64)
    assert under(card.scenario, wide).step.band == pytest.approx(card.step.band + 4 * KNOWN.scale_band)
    experts = SCENARIOS[5]
    assert under(experts, replace(KNOWN, moe_band=0.7)).step.band == 0.7


def under(scenario: Scenario, known: Calibration) -> Estimate:
    return estimate(scenario.with_calibration(known))


OTHERS = (KNOWN, KNOWN.changed(nic_share=0.6, hbm_share=0.7), KNOWN.changed(nvlink_share=0.5, launch_gap_s=4e-6))


@pytest.mark.parametrize("order", list(permutations(range(len(OTHERS)))))
def test_two_calibrations_give_two_answers_whichever_is_asked_first(order: tuple[int, ...]) -> None:
    """Every cache has the calibration in its key: what was kept for one is not told for another."""
    alone = []
    for known in OTHERS:
        fresh()
        alone.append(said(known))
    fresh()
    together = {at: said(OTHERS[at]) for at in order}
    assert [together[at] for at in range(len(OTHERS))] == alone
    assert all(one != other for one, other in permutations(alone, 2))


def test_equal_calibrations_share_what_was_computed(card: Estimate) -> None:
    first, second = (KNOWN.changed(nic_share=0.9) for _ in range(2))
    assert first is not second
    assert first == second != KNOWN
    assert hash(first) == hash(second) != hash(KNOWN)
    assert under(card.scenario, first) is under(card.scenario, second)
    assert under(card.scenario, KNOWN) is estimate(card.scenario)
    assert KNOWN.changed() == KNOWN


def test_a_changed_factor_keeps_its_range_and_source() -> None:
    other = KNOWN.changed(nic_share=0.9)
    assert other.factors["nic_share"] == replace(KNOWN.factors["nic_share"], value=0.9)
    assert {name for name in KNOWN.factors if other.factors[name] != KNOWN.factors[name]} == {"nic_share"}
    with pytest.raises(Refusal, match="nic_share"):
        KNOWN.changed(nic_shar=0.9)


def test_a_scenario_can_be_made_with_a_calibration_of_its_own() -> None:
    other = KNOWN.changed(nic_share=0.9)
    assert scenario_from(changed(), other) == scenario_from(changed()).with_calibration(other)


def everything(found: Estimate) -> tuple[Any, ...]:
    rows = [(row.ways, row.alone_s, row.uplinks.value) for row in wire_ledger(found)]
    return answer(found), rows, [row.exact.value for row in comparisons(found)]


def test_once_a_scenario_is_made_nothing_reads_the_catalogues_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [everything(estimate(scenario)) for scenario in SCENARIOS]
    fitted_calibration.cache_clear()
    calibration._file.cache_clear()
    monkeypatch.setattr(calibration, "FILE", Path("nowhere.yaml"))
    with pytest.raises(FileNotFoundError):
        fitted_calibration()
    fresh()
    assert [everything(estimate(scenario)) for scenario in SCENARIOS] == before
