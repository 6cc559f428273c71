"""Advice keeps what it promises: what is offered was tried, fits, helps, and comes out of the document as it is printed."""

from typing import Any

import pytest

from engine.advice import Advice, advised, changed
from engine.advice.trial import MOST_WORK, Tries, estimate_work
from engine.answer import answer, estimate_answer
from engine.estimate import Estimate
from engine.findings import findings_of
from engine.scenario import scenario_from
from tests.engine.conftest import Ask, Document
from tests.engine.plans import Plan, batch_of, is_better, one_step_away, plans
from tests.engine.test_findings import CASES, NEIGHBOUR, UNEVEN

SEED = 10
FEW = plans(100, SEED)
EVEN = {"model": UNEVEN, "cluster": "hgx-h100", "gpus": 64, "layout": {"pp": 8, "micro_batches": 64}}


def kept(plan: Plan) -> list[Advice]:
    """The advice about a plan, each offer held against the promise."""
    before = Estimate(scenario_from(plan))
    said = list(advised(before))
    for advice in said:
        if advice.gain is None:
            assert not advice.change
            continue
        moved = changed(plan, advice.change)
        after = Estimate(scenario_from(moved))  # refused: no offer
        assert batch_of(moved) == batch_of(plan)
        assert after.scenario.stack_name == before.scenario.stack_name
        assert is_better(before, after), advice
        assert advice.gain.step_seconds == before.step.seconds.value - after.step.seconds.value
        assert advice.gain.peak_bytes == before.fullest.total.value - after.fullest.total.value
        assert advice.gain.mfu == after.mfu.causal.value - before.mfu.causal.value
    return said


def share_offered(sample: list[Plan]) -> float:
    """Of the plans that have a better neighbour, the share to which some change is offered."""
    offered = [
        any(advice.change for advice in kept(plan))
        for plan in sample
        if any(is_better(Estimate(scenario_from(plan)), near) for near in one_step_away(plan))
    ]
    assert len(offered) > len(sample) / 3  # the sample is one where advice matters
    return sum(offered) / len(offered)


@pytest.mark.parametrize("plan", FEW[:40], ids=range(40))
def test_an_offer_fits_helps_and_gains_what_it_says(plan: Plan) -> None:
    kept(plan)


def test_most_plans_with_a_better_neighbour_are_offered_a_change() -> None:
    assert share_offered(FEW[40:]) > 0.9


@pytest.mark.soak
def test_a_thousand_plans() -> None:
    assert share_offered(plans(1000, SEED + 1)) > 0.9


def test_every_rule_with_candidates_helps_somebody(document: Document) -> None:
    """Of the cases that raise each red flag, and of plans by chance: a rule that never helps would be found here."""
    cases = [document(**raises) for _, _, raises, _ in CASES]
    told = [advice for plan in (*cases, EVEN, *FEW) for advice in kept(plan)]
    trying = {advice.finding.code for advice in told if advice.finding.candidates} | {NEIGHBOUR}
    assert {advice.finding.code for advice in told if advice.change} == trying
    assert {advice.finding.code for advice in told if advice.finding.candidates and not advice.change} >= {
        "out-of-memory",
        "large-bubble",
    }


def test_the_document_says_what_was_tried(document: Document) -> None:
    plan = document(stack=None, zero=2, dp=32)
    told = estimate_answer(plan)
    for finding in told["findings"]:
        assert (finding["change"] is None) == (finding["gain"] is None)
        if finding["change"]:
            after = estimate_answer(changed(plan, finding["change"]))
            assert told["step"]["seconds"] - after["step"]["seconds"] == finding["gain"]["step_seconds"]
            assert told["memory"]["peak_bytes"] - after["memory"]["peak_bytes"] == finding["gain"]["peak_bytes"]
            assert after["mfu"]["causal"] - told["mfu"]["causal"] == finding["gain"]["mfu"]


def test_a_change_to_or_from_fsdp_pins_the_software(document: Document) -> None:
    """Where the document leaves the software to the layout, ZeRO 3 would bring another one."""
    plan = document(pp=1, zero=0)
    change = Tries(Estimate(scenario_from(plan))).trial({"zero": 3}).change
    assert change["stack"] == "megatron"
    assert scenario_from(changed(plan, change)).stack_name == "megatron"
    assert scenario_from(changed(plan, {"zero": 3})).stack_name == "fsdp2"


@pytest.mark.parametrize(
    ("scenario", "code"),
    [({"model": "llama-3-405b", "gpus": 8, "pp": 1, "micro_batches": 1}, "out-of-memory"), ({"gpus": 64}, "simpler-layout-fits")],
)  # fmt: skip
def test_what_does_not_help_is_named_with_its_figures(ask: Ask, scenario: dict[str, Any], code: str) -> None:
    before = ask(**scenario)
    advice = next(advice for advice in advised(before) if advice.finding.code == code)
    assert advice.try_this.startswith("Tried, and no better: ")
    assert "of 79.1 GiB" in advice.try_this or f"instead of {before.step.seconds.text}" in advice.try_this
    assert advice.trial is None


def test_what_nothing_can_change_stays_words(ask: Ask) -> None:
    """Routing is the model's; no layout balances it."""
    spread = ask(model="mixtral-8x7b", gpus=64, tp=1, pp=1, ep=8)
    finding = next(each for each in findings_of(spread) if each.code == "experts-imbalanced")
    advice = next(each for each in advised(spread) if each.finding == finding)
    assert not finding.candidates
    assert (advice.try_this, advice.change, advice.gain) == (finding.try_this, {}, None)


def test_the_best_neighbour_is_offered_where_no_rule_has_a_better_change(ask: Ask) -> None:
    """The card recomputes everything although it fits without: no rule says so, one step away it is a fifth faster."""
    advice = next(each for each in advised(ask(recompute="full")) if each.finding.code == "better-neighbour")
    assert advice.change == {"recompute": "none"}


def test_trying_is_bounded_whatever_a_plan_costs(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long pipelines use up the work sooner, so that whoever asks waits no longer for them."""
    made: list[Tries] = []

    def noted(before: Estimate) -> Tries:
        made.append(Tries(before))
        return made[-1]

    monkeypatch.setattr("engine.advice.Tries", noted)
    short = ask()
    long = ask(model="llama-3-405b", gpus=2048, pp=64, schedule="zb-v", recompute="full", micro_batches=4096)
    for plan in (short, long):
        advised(plan)
    few, many = len(made[1].made), len(made[0].made)
    assert 1 <= few < many
    heaviest = max(estimate_work(tried.layout) for tried in made[1].made)
    assert all(tries.spent <= MOST_WORK + 2 * heaviest for tries in made)


def test_an_answer_carries_one_finding_for_each_advice(card: Estimate) -> None:
    told = answer(card)["findings"]
    assert [one["code"] for one in told] == [advice.finding.code for advice in advised(card)]
