"""Published runs: what was printed stands beside what is predicted, and both can be opened."""

import pytest

from engine.accounts.published import QUANTITIES, Judged, judgements
from engine.catalog.scenarios import presets
from engine.estimate import estimate
from engine.scenario import scenario_from

RUNS = judgements()


def test_every_run_of_the_catalogue_is_judged() -> None:
    assert [run.preset.title for run in RUNS] == [each.title for each in presets().values() if each.published]
    assert len(RUNS) >= 9 and {run.preset.published.quantity for run in RUNS if run.preset.published} == set(QUANTITIES)


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.preset.title)
def test_the_error_is_that_of_the_step_the_print_implies(run: Judged) -> None:
    """A rate of the same work turned into a time, without the formulas that the page shows."""
    published, step = run.preset.published, run.estimate.step.seconds.value
    assert published and run.measured.source == run.preset.source
    measured = step * run.predicted.value / published.value
    if published.quantity == "step_seconds":
        measured = published.value
    assert run.error.value == pytest.approx(step / measured - 1, rel=1e-9)
    assert ("slower" in run.error_words) == (step > measured)


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.preset.title)
def test_the_measured_step_lies_in_the_range_that_is_shown(run: Judged) -> None:
    assert run.inside


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.preset.title)
def test_nothing_of_the_print_reaches_the_prediction(run: Judged) -> None:
    alone = estimate(scenario_from(run.preset.document))
    assert run.estimate.step.seconds.value == alone.step.seconds.value and run.predicted.value > 0
    assert "mfu" not in run.preset.document.get("training", {})


def test_what_does_not_fit_here_though_it_ran_there_is_named() -> None:
    for run in RUNS:
        assert run.estimate.fits or any("fit" in sentence for sentence in run.preset.unsaid), run.preset.title
