"""Where the pages lead: one plan in hand is kept, and the stages have an entrance."""

import re
from html import unescape

import pytest
from fastapi.testclient import TestClient

from app.board.scenes import SCENES
from app.lessons.lesson import lessons
from app.web.render import CARRIED, FOOT, PLACES

SHOWING_A_PLAN = (
    *CARRIED,
    "/plan/working/step.seconds",
    "/topology/working/waiting",
    "/plan/published",
    "/plan/advice",
    "/topology/advice",
)


@pytest.mark.parametrize("page", SHOWING_A_PLAN)
def test_a_plan_in_hand_goes_along(client: TestClient, page: str) -> None:
    goes_along(client.get(f"{page}?pp=2&zero=0").text)


def goes_along(page: str) -> None:
    """The menu of a page leads to each place with its plan."""
    nav = unescape(page).split('class="board-nav"')[1].split("</nav>")[0]
    for place in CARRIED:
        assert re.search(rf'href="{place}\?[^"]*pp=2[^"]*zero=0', nav), place


def test_a_text_that_was_read_goes_along_and_one_that_was_not_leaves_the_plan_in_hand(client: TestClient) -> None:
    launch = "torchrun --nnodes 8 --nproc-per-node 8 pretrain_gpt.py --tensor-model-parallel-size 8 --pipeline-model-parallel-size 2 --bf16"
    read = client.post("/topology/import?tp=4", data={"text": launch})
    not_read = client.post("/topology/import?pp=2&zero=0", data={"text": "nothing that anybody launches"})
    assert "Open it in the planner" in read.text and "tp=4" not in read.text
    assert 'action="/topology/import?pp=2&amp;zero=0"' in not_read.text
    goes_along(read.text)
    goes_along(not_read.text)


@pytest.mark.parametrize("place", [*PLACES, *FOOT], ids=lambda place: place[0])
def test_every_place_that_pages_lead_to_is_there(client: TestClient, place: tuple[str, str]) -> None:
    assert client.get(place[1]).status_code == 200
    assert f'href="{place[1]}"' in client.get("/").text


def test_the_stages_have_an_entrance(client: TestClient) -> None:
    page = client.get("/present").text
    for name in (*SCENES, *(lesson.slug for lesson in lessons())):
        assert f'href="/present/{name}"' in page
