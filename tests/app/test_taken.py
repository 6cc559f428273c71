"""What is taken away of a film stands alone, and what means nothing is a sentence."""

import html
import re
import xml.etree.ElementTree as ET

import pytest
from fastapi.testclient import TestClient

from app.board.scenes import SCENES
from app.web.alone import BOARDS
from tests.board.films.reading import FILMS, film_of

EACH = pytest.mark.parametrize("name", FILMS)
TAKEN = ("moment.svg", "strip.svg", "embed")
BAD_T = ("-1", "nan", "inf", "1e9", "", "x")
ROWS = [name for name in SCENES if name not in FILMS]


@EACH
@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("form", ["wide", "tall"])
def test_a_moment_stands_alone(client: TestClient, name: str, board: str, form: str) -> None:
    answer = client.get(f"/scenes/{name}/moment.svg?t=5&board={board}&form={form}")
    assert answer.headers["content-type"] == "image/svg+xml"
    text = answer.text
    assert not re.search(r"var\(|light-dark|\drem\b", re.sub(r"base64,[^\"]*", "", text))
    assert not re.findall(r"(?:url\(\"|href=\")(?!data:|#)", text)  # it asks for nothing
    drawn = {css for css in re.findall(r'class="([^"]+)"', text) for css in css.split()}
    styles = text.partition("</style>")[0]
    assert all(f".{css}" in styles for css in drawn if css.startswith(("fill-", "ink-", "t-")) and css not in PLAIN)
    assert ET.fromstring(text).tag.endswith("svg")
    other = client.get(f"/scenes/{name}/moment.svg?t=5&board={'light' if board == 'dark' else 'dark'}&form={form}").text
    assert other != text


PLAIN = {"t-read", "ink-ink"}  # what a drawing is without them


@EACH
def test_a_strip_has_every_stop_with_its_caption(client: TestClient, name: str) -> None:
    text = client.get(f"/scenes/{name}/strip.svg").text
    said = html.unescape(" ".join(re.findall(r">([^<]*)</text>", text)))
    for at, stop in enumerate(film_of(name).stops):
        assert f"{at + 1}. {stop.caption}" in said
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))


@EACH
@pytest.mark.parametrize("t", BAD_T)
@pytest.mark.parametrize("place", ["/scenes/{}", "/present/{}", *(f"/scenes/{{}}/{what}" for what in TAKEN)])
def test_a_moment_that_is_none_is_a_sentence_everywhere(client: TestClient, name: str, t: str, place: str) -> None:
    answer = client.get(f"{place.format(name)}?t={t}")
    assert answer.status_code in (200, 422)
    assert f"a moment of this film is a number of seconds from 0 to {film_of(name).length:.4g}" in html.unescape(
        answer.text
    )
    assert f"t = {t}" in html.unescape(answer.text) or not t
    twice = client.get(f"{place.format(name)}?t=1&t=2")
    assert twice.status_code == 422 and "t: is given twice" in html.unescape(twice.text)


@EACH
def test_only_the_embedded_player_may_be_framed(client: TestClient, name: str) -> None:
    framed = client.get(f"/scenes/{name}/embed?frame=1")
    assert framed.headers["content-security-policy"].endswith("frame-ancestors *")
    assert "x-frame-options" not in framed.headers
    assert "board-nav" not in framed.text and "scene-form" not in framed.text
    for path in (f"/scenes/{name}", f"/present/{name}", f"/scenes/{name}/moment.svg", "/"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].endswith("frame-ancestors 'none'")
        assert headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("what", TAKEN)
def test_looks_and_scenes_that_there_are_none_of_are_sentences(client: TestClient, what: str) -> None:
    for name in ROWS:
        assert "row of frames" in client.get(f"/scenes/{name}/{what}").text
    if what != "embed":
        assert "must be one of light, dark" in client.get(f"/scenes/zero/{what}?board=drak").text
