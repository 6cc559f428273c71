"""The failures scene: its figures against the engine, its drawings at the edges of its knobs."""

import pytest

from app.board.film.composition import words_at
from app.board.scenes.failures.back import Back
from app.board.scenes.failures.case import Case
from app.board.scenes.failures.scene import FAILURES
from app.board.scenes.failures.story import STOPPED, Story
from engine.language.refusal import Refusal
from engine.language.units import DAY_S
from engine.run.failures import LLAMA_3, WATCHDOG_S, drawn_run
from engine.run.goodput import goodput_share, gpu_hours_per_failure, gpu_mtbf_s
from tests.board.films.reading import film_of
from tests.board.scenes.drawings import each_of

EXTREMES = (
    {},
    {"gpus": "65536", "hours": "5000"},
    {"gpus": "16", "hours": "200000", "interval": "1440"},
    {"gpus": "16384", "interval": "1", "stall": "60"},
    {"gpus": "16384", "interval": "10", "stall": "600", "hours": "29500"},
    {"stall": "1", "interval": "1"},
)
each_setting = each_of(EXTREMES)


def case(**given: str) -> Case:
    return Case(FAILURES.values(given))


@each_setting
def test_it_asks_answers_and_puts_right(given: dict[str, str]) -> None:
    values = FAILURES.values(given)
    assert FAILURES.question(values).answer is not None
    assert all(term.text for term in FAILURES.numbers(values))
    assert len(FAILURES.misconceptions(values)) == 4


def test_1024_gpus_fail_every_two_days_and_16384_every_three_hours_as_was_published() -> None:
    assert case().between.value / 3600 == pytest.approx(48.8, abs=0.05)
    assert case(gpus="16384").between.value / 3600 == pytest.approx(3.05, abs=0.005)
    seen = gpu_hours_per_failure(LLAMA_3.gpus, LLAMA_3.days, LLAMA_3.stops)
    assert gpu_mtbf_s(LLAMA_3.gpus, seen) == pytest.approx(case(gpus="16384").between.value, rel=0.02)


def test_a_day_and_half_a_year() -> None:
    assert case().daily.value == pytest.approx(0.39, abs=0.005)
    assert int(case().expected.value) == 88


def test_a_checkpoint_and_the_way_back() -> None:
    assert case().state.value == pytest.approx(988e9, rel=1e-3)
    assert case().reading.value == pytest.approx(9.9, abs=0.05)
    assert case().each.value / 60 == pytest.approx(58, abs=0.5)
    assert case().lost.value / DAY_S == pytest.approx(3.6, abs=0.05)


def test_the_best_interval_and_what_it_costs() -> None:
    assert case().best.value / 60 == pytest.approx(76.5, abs=0.1)
    assert case().best_overhead.value == pytest.approx(0.026, abs=5e-4)


def test_a_slow_gpu_and_a_hang_cost_171_each() -> None:
    assert case().slow.value == pytest.approx(0.167, abs=5e-4)
    assert round(case().slow_gpus.value) == 171
    assert round(case().hang.value) == 171


def test_the_failures_drawn_are_as_many_as_expected_and_always_the_same() -> None:
    assert case().run == case().run
    means = [len(drawn_run(180, case().between.value, 4590, 60, 0, seed).failures) for seed in range(60)]
    assert sum(means) / len(means) == pytest.approx(case().expected.value, rel=0.05)
    assert case().run.useful_share == pytest.approx(case().goodput.value, abs=0.01)


def test_a_drawn_run_loses_what_the_formula_says() -> None:
    shares = [drawn_run(180, 20 * 3600, 3600, 60, 1200, seed).useful_share for seed in range(60)]
    assert sum(shares) / len(shares) == pytest.approx(float(goodput_share(60, 3600, 20 * 3600, 1200)), abs=0.005)


def test_a_run_without_failures_loses_only_its_saves() -> None:
    run = drawn_run(10, 1e12, 3600, 60, 1200, 1)
    assert run.failures == ()
    assert run.useful_share == pytest.approx(3600 / 3660, abs=1e-3)


def test_saving_longer_than_working_is_refused() -> None:
    with pytest.raises(Refusal, match=r"interval = 1: .*10 min.*the nearest that works: 10"):
        film_of("failures", interval="1", stall="600")


@each_setting
def test_every_setting_has_a_film(given: dict[str, str]) -> None:
    film = film_of("failures", **given)
    assert "nan" not in film.wide.at(film.length / 2) and "inf " not in film.tall.at(film.length / 2)


def test_a_crash_is_noticed_at_once_and_a_hang_by_the_watchdog() -> None:
    """Two passages, and on the way back two lanes that differ by the watchdog alone."""
    film, story = film_of("failures"), Story(case())
    crash, hang = (next(stop for stop in film.stops if stop.name == name) for name in ("a crash", "a hang"))
    assert "at once" in crash.caption and "watchdog" in hang.caption
    assert story.lens(hang.t) - story.lens(hang.begins) == pytest.approx(WATCHDOG_S + STOPPED * story.step_s)
    back = Back(film.wide, story)
    for early, late in zip(back.moments(0.0)[1:], back.moments(WATCHDOG_S)[1:], strict=True):
        assert late - early == WATCHDOG_S


def test_as_many_failures_are_counted_by_the_end_of_the_half_year_as_the_run_had() -> None:
    film = film_of("failures")
    counted = next(words for words in film.wide.words if words.key == "failed")
    end = next(stop for stop in film.stops if stop.name == "half a year").t
    assert words_at(counted.steps, end).split()[0] == f"{len(case().run.failures)}"
