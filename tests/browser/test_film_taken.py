"""A moment is taken away by one press each: its link, its SVG, its PNG; and a film is printed and embedded."""

import struct
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.board.films.reading import FILMS, film_of
from tests.browser.conftest import Visit
from tests.browser.test_films import assert_alike, seek
from tests.browser.test_pages import violations

EACH = pytest.mark.parametrize("name", FILMS)


def test_the_link_of_the_moment_is_copied_by_one_press(visit: Visit) -> None:
    page = visit("/scenes/zero", permissions=["clipboard-read", "clipboard-write"])
    page.locator("#gpus").fill("8")
    expect(page.locator(".film-wide")).to_contain_text("8 GPUs drawn")
    seek(page, 14.25)
    page.get_by_role("button", name="copy link").click()
    expect(page.locator("[data-take=link]")).to_have_text("copied")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.url and "t=14.25" in link and "gpus=8" in link


@EACH
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_svg_and_png_are_of_the_moment_and_the_board_that_is_seen(
    visit: Visit, name: str, scheme: str, tmp_path: Path
) -> None:
    page = visit(f"/scenes/{name}", color_scheme=scheme)
    seek(page, 6.5)
    with page.expect_download() as svg:
        page.locator("[data-take='moment.svg']").click()
    svg.value.save_as(tmp_path / "moment.svg")
    assert f"t=6.5&board={scheme}" in svg.value.url
    assert "<style>" in (tmp_path / "moment.svg").read_text()
    with page.expect_download() as png:
        page.locator("[data-take=png]").click()
    png.value.save_as(tmp_path / "moment.png")
    data = (tmp_path / "moment.png").read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    assert data[:4] == b"\x89PNG" and (width, height) == (1488, 848)
    assert len(data) > 10_000  # something is drawn on it


def test_a_printed_page_has_the_strip_of_the_knobs_that_are_set(visit: Visit, asked: list[str]) -> None:
    page = visit("/scenes/zero?gpus=8")
    assert not any("strip.svg" in url for url in asked)  # a screen does not load it
    page.emulate_media(media="print")
    page.pdf()
    assert any("strip.svg" in url and "gpus=8" in url for url in asked)
    expect(page.locator(".film-printed")).to_be_visible()
    expect(page.locator(".film-picture")).to_be_hidden()


@EACH
def test_an_embedded_player_plays_alone(visit: Visit, name: str) -> None:
    page, film = visit(f"/scenes/{name}/embed?t=5", width=720, height=560), film_of(name)
    assert_alike(page, film.wide, 5.0)
    page.locator("film-player").focus()
    page.keyboard.press("End")
    expect(page.locator(".film-caption")).to_have_text(film.stops[-1].caption)
    assert urlsplit(page.url).path.endswith("/embed")
    page.locator("[data-go=why]").click()
    expect(page.locator("#scene-why .note")).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 720
