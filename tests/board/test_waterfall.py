"""Where the time goes, drawn."""

import pytest

from app.board.figures.waterfall import Loss, losses, merged, waterfall
from engine.estimate import estimate
from engine.scenario import scenario_from
from tests.board.figures import CASES, assert_as_before, assert_legible, case, words_of


def test_the_card_looks_as_it_did_when_somebody_last_looked_at_it() -> None:
    assert_as_before(waterfall(case("card")), "waterfall")
    assert_as_before(waterfall(case("card"), narrow=True), "waterfall-narrow")


@pytest.mark.parametrize("name", CASES)
def test_losses_and_the_mfu_add_up_to_the_whole_step(name: str) -> None:
    found = case(name)
    assert sum(loss.share for loss in losses(found)) + found.mfu.causal.value == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("recompute", ["selective", "full"])
def test_they_add_up_with_recomputation_and_experts_too(recompute: str) -> None:
    found = estimate(
        scenario_from(
            {
                "model": "mixtral-8x7b",
                "cluster": "hgx-h100",
                "gpus": 256,
                "layout": {"tp": 1, "ep": 8, "pp": 4, "recompute": recompute},
            }
        )
    )
    parts = losses(found)
    assert sum(loss.share for loss in parts) + found.mfu.causal.value == pytest.approx(1, abs=1e-12)
    assert {loss.name for loss in parts if loss.share > 0} >= {"EP", "recompute"}


@pytest.mark.parametrize("name", CASES)
def test_no_loss_is_a_gain(name: str) -> None:
    assert all(loss.share >= 0 for loss in losses(case(name)))


def test_putting_small_losses_together_loses_nothing() -> None:
    found = losses(case("card"))
    assert sum(loss.share for loss in merged(found, small=0.1)) == pytest.approx(sum(loss.share for loss in found))
    assert merged((Loss("TP", 0.0, "tp-pale"),)) == ()


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_no_words_overlap_and_none_leave_the_drawing(name: str, narrow: bool) -> None:
    assert_legible(waterfall(case(name), narrow=narrow))


@pytest.mark.parametrize("name", CASES)
def test_every_bar_has_its_name(name: str) -> None:
    said = " ".join(words.text for words in words_of(waterfall(case(name))))
    for loss in losses(case(name)):
        assert loss.name in said or loss.share == 0


def test_every_loss_leads_to_its_working() -> None:
    svg = waterfall(case("card"), link=lambda name: f"/w?{name}").svg()
    assert 'href="/w?mfu"' in svg and 'href="/w?bubble"' in svg
