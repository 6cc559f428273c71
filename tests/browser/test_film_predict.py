"""Predict first: the question stands on the picture until the film moves, and its answer can be watched."""

import pytest
from playwright.sync_api import expect

from app.board.scenes import SCENES
from tests.board.films.reading import FILMS, film_of, films
from tests.browser.conftest import Visit
from tests.browser.test_pages import violations

EACH = pytest.mark.parametrize("name", FILMS)


@pytest.mark.parametrize("name", [name for name in FILMS if SCENES[name].proof])
def test_the_stop_that_proves_the_answer_is_there_at_every_setting(name: str) -> None:
    for given, film in films(name):
        assert SCENES[name].proof in [stop.name for stop in film.stops], given


@EACH
def test_the_question_stands_on_the_picture_until_the_film_moves(visit: Visit, name: str) -> None:
    page = visit(f"/scenes/{name}")
    on_picture, beside = page.locator(".film-over .scene-predict"), page.locator("scene-predict > .scene-predict")
    expect(on_picture).to_be_visible()
    assert page.evaluate("document.activeElement.closest('.scene-predict')") is None  # it takes no focus
    page.locator("[data-go=play]").click()  # nor does Play wait for it
    expect(page.locator("[data-go=play]")).to_have_attribute("aria-label", "pause")
    expect(beside).to_be_visible()
    expect(on_picture).to_have_count(0)
    page = visit(f"/scenes/{name}")
    page.get_by_role("button", name="answer later").click()
    expect(page.locator("scene-predict > .scene-predict")).to_be_visible()
    expect(page.locator("film-player")).to_be_focused()


@EACH
def test_a_moment_that_was_asked_for_is_not_covered(visit: Visit, name: str) -> None:
    for query in ("t=0", "frame=2"):
        expect(visit(f"/scenes/{name}?{query}").locator("scene-predict > .scene-predict")).to_be_visible()


@EACH
def test_watch_why_plays_the_passage_that_proves_the_answer(visit: Visit, name: str) -> None:
    page, film = visit(f"/scenes/{name}"), film_of(name)
    names = [stop.name for stop in film.stops]
    proof = film.stops[names.index(SCENES[name].proof) if SCENES[name].proof else -1]
    predict = page.locator(".scene-predict")
    if predict.locator("[type=radio]").count():
        predict.locator("[type=radio]").first.check()
    else:
        predict.locator("[name=answer]").fill("1e3")
    predict.get_by_role("button", name="Check with the engine").click()
    expect(page.locator(".film-over #scene-verdict .note")).to_be_visible()
    page.locator("[data-watch]").click()
    expect(page.locator(".film-caption")).to_have_text(proof.caption)
    page.evaluate("document.querySelector('film-player').clock.speed = 40")
    expect(page.locator("[data-go=play]")).to_have_attribute("aria-label", "play")
    assert page.evaluate("document.querySelector('film-player').clock.t") == pytest.approx(proof.t, abs=0.01)


def test_without_a_script_the_question_has_its_place_and_watch_why_is_a_link(visit: Visit) -> None:
    page = visit("/scenes/zero?answer=1e3", java_script_enabled=False)
    page.get_by_role("link", name="watch why").click()
    expect(page.locator(".film-caption")).to_have_text(film_of("zero").stops[4].caption)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_question_over_the_picture(visit: Visit, scheme: str) -> None:
    page = visit("/scenes/zero", color_scheme=scheme, reduced_motion="reduce")
    expect(page.locator(".film-over .scene-predict")).to_be_visible()
    assert violations(page) == []
