"""Where the pages lead: one plan in hand is kept, and the stages have an entrance."""

import re
from html import unescape

import pytest
from fastapi.testclient import TestClient

from app.board.scenes import SCENES
from app.lessons.lesson import lessons
from app.web.render import CARRIED, FOOT, PLACES


@pytest.mark.parametrize("page", ["/plan", "/topology", "/plan/working/step.seconds", "/topology/working/waiting"])
def test_a_plan_in_hand_goes_along(client: TestClient, page: str) -> None:
    text = unescape(client.get(f"{page}?pp=2&zero=0").text)
    nav = text.split('class="board-nav"')[1].split("</nav>")[0]
    for place in CARRIED:
        assert re.search(rf'href="{place}\?[^"]*pp=2[^"]*zero=0', nav), (page, place)


@pytest.mark.parametrize("place", [*PLACES, *FOOT], ids=lambda place: place[0])
def test_every_place_that_pages_lead_to_is_there(client: TestClient, place: tuple[str, str]) -> None:
    assert client.get(place[1]).status_code == 200
    assert f'href="{place[1]}"' in client.get("/").text


def test_the_stages_have_an_entrance(client: TestClient) -> None:
    page = client.get("/present").text
    for name in (*SCENES, *(lesson.slug for lesson in lessons())):
        assert f'href="/present/{name}"' in page
