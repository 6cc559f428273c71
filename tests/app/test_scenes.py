"""Scene pages asked for with values that mean nothing: a sentence each, never a broken picture."""

import html
import re

import pytest
from fastapi.testclient import TestClient

from app.board.scenes import SCENES

BAD = (
    ("pp?stages=0", "stages = 0: needs a whole number from 2 to 8"),
    ("pp?micro=1e9", "micro = 1e9: needs a whole number from 2 to 32"),
    ("tp?tp=7", "tp = 7: it must divide the 64 heads"),
    ("layout?pp=5", "pp = 5: gpus = 1024: must be a multiple of"),
)


@pytest.mark.parametrize(("query", "sentence"), BAD)
@pytest.mark.parametrize("place", ["/scenes/", "/present/"])
def test_what_means_nothing_is_a_sentence_in_place_of_the_picture(
    client: TestClient, place: str, query: str, sentence: str
) -> None:
    answer = client.get(place + query)
    text = html.unescape(answer.text)
    assert answer.status_code == 200 and sentence in text
    assert "scene-frame" not in text


def test_a_frame_that_does_not_exist_is_said_over_the_first(client: TestClient) -> None:
    scene = SCENES["ep"]
    made = scene.frames(scene.values({}))
    text = html.unescape(client.get("/scenes/ep?frame=99").text)
    last = len(made) - 1
    assert text.count(f"frame = 99: there are {len(made)}, counted from 0; the nearest that works: {last}") == 1
    assert f'<figcaption class="film-caption">{made[0].caption}</figcaption>' in text


def test_a_clip_is_a_passage_with_one_knob(client: TestClient) -> None:
    part = client.get("/scenes/zero/clip?frame=6&billions=7").text
    film = SCENES["zero"].film
    assert film and "<html" not in part
    stop = film(SCENES["zero"].values({"billions": "7"})).stops[6]
    assert stop.caption in html.unescape(part) and 'data-stop="6"' in part
    assert part.count('type="hidden"') == len(SCENES["zero"].knobs)  # all knobs but the shown one, and the stop
    assert "frame = 99" in html.unescape(client.get("/scenes/zero/clip?frame=99").text)


def test_ids_of_two_clips_of_one_film_do_not_meet(client: TestClient) -> None:
    one, other = (set(re.findall(r'\sid="([^"]+)"', client.get(f"/scenes/zero/clip?frame={at}").text)) for at in (5, 6))
    assert one and not one & other


def test_what_was_the_size_of_a_group_in_an_old_address_is_a_moment_of_the_film(client: TestClient) -> None:
    text = html.unescape(client.get("/scenes/tp?t=4").text)
    assert 'data-t="4' in text
    assert "no such knob" not in text and 'name="tp"' in text and 'name="t"' not in text
