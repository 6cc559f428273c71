"""The front page, and what every page has in common: headers, theme, errors."""

import re

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from app.home import page as home
from app.main import create_app
from app.web.render import HEADERS
from engine.language.refusal import Refusal
from engine.memory.state import state_bytes


@pytest.fixture(scope="module")
def app() -> FastAPI:
    app = create_app()

    @app.get("/broken")
    @app.get("/api/broken")
    def broken() -> None:
        raise RuntimeError("a secret of ours")

    @app.get("/refusing")
    @app.get("/api/refusing")
    def refusing() -> None:
        raise Refusal("layout.tp", 6, "tp must divide the 64 heads", "4 or 8")

    return app


@pytest.fixture
def client(app: FastAPI) -> TestClient:
    return TestClient(app, raise_server_exceptions=False)


def test_the_front_page_asks_the_question(client: TestClient) -> None:
    answer = client.get("/")
    assert answer.status_code == 200
    assert "1,024 H100s and a 70B model" in answer.text


def test_the_picture_shows_the_numbers_of_the_engine(client: TestClient) -> None:
    page = client.get("/").text
    for text in ("1.12 TB", "293 GB", "155 GB", "17.5 GB"):
        assert text in page


@pytest.mark.parametrize("stage", range(4))
def test_the_parts_of_a_bar_add_up_to_the_formula(stage: int) -> None:
    row = home.sharding_wall().rows[stage]
    assert row.total_bytes == pytest.approx(state_bytes(home.PARAMETERS, stage, home.DATA_WIDTH))


def test_only_the_fully_sharded_state_fits_a_gpu() -> None:
    wall = home.sharding_wall()
    assert ["fits" in wall.verdict(row) for row in wall.rows] == [False, False, False, True]


def test_the_blocks_of_the_answer_take_forty_minutes() -> None:
    assert [stop.block.minutes for stop in home.front(frozenset()).stops] == [5, 10, 10, 10, 5]
    assert home.front(frozenset()).minutes == 40


def test_no_door_leads_nowhere(client: TestClient) -> None:
    page = client.get("/").text
    for path in set(re.findall(r'href="(/[^"]*)"', page)):
        assert client.get(path).status_code == 200, path


def test_a_door_opens_when_its_page_exists() -> None:
    assert [door.path for door in home.front(frozenset({"/", "/plan"})).doors] == ["/plan"]


@pytest.mark.parametrize("path", ["/", "/nothing", "/broken", "/api/nothing", "/api/broken"])
def test_every_answer_carries_the_headers(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    assert all(headers[name] == value for name, value in HEADERS.items())


def test_the_page_has_no_inline_script_or_style(client: TestClient) -> None:
    page = client.get("/").text
    data = r'\btype="application/json"'  # is read by a script of ours and runs nothing
    assert not re.search(rf"<script(?![^>]*(?:\bsrc=|{data}))|<style|\sstyle=|\son\w+=", page)


def test_ids_are_unique_and_every_working_that_a_button_names_is_there(client: TestClient) -> None:
    page = client.get("/").text
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'popovertarget="([^"]+)"', page)) <= set(ids)


@pytest.mark.parametrize(
    ("cookie", "shown"), [("dark", "dark"), ("light", "light"), ('"><script>', "auto"), ("", "auto")]
)
def test_the_theme_comes_from_a_cookie_and_only_known_ones(client: TestClient, cookie: str, shown: str) -> None:
    page = client.get("/", headers={"Cookie": f"theme={cookie}"}).text
    assert f'<html lang="en" data-theme="{shown}">' in page


def test_an_unknown_page_is_a_page_and_below_api_it_is_json(client: TestClient) -> None:
    assert client.get("/nothing").status_code == 404
    assert "There is no page at this address" in client.get("/nothing").text
    assert client.get("/api/nothing").status_code == 404
    assert "no page at this address" in client.get("/api/nothing").json()["error"]


def test_a_failure_is_told_without_its_inside(client: TestClient) -> None:
    for path in ("/broken", "/api/broken"):
        answer = client.get(path)
        assert answer.status_code == 500 and "secret" not in answer.text
    assert client.get("/api/broken").json()["error"].startswith("Something went wrong on our side")


def test_a_refusal_is_a_sentence_on_a_page_and_named_parts_below_api(client: TestClient) -> None:
    assert "layout.tp = 6: tp must divide the 64 heads" in client.get("/refusing").text
    (refusal,) = client.get("/api/refusing").json()["refusals"]
    assert (refusal["field"], refusal["value"], refusal["nearest"]) == ("layout.tp", 6, "4 or 8")


def test_a_wrong_method_says_which_are_right(client: TestClient) -> None:
    answer = client.post("/")
    assert answer.status_code == 405 and answer.headers["allow"] == "GET, HEAD"


def test_the_head_of_a_page_can_be_asked_for_alone(client: TestClient) -> None:
    answer = client.head("/")
    assert answer.status_code == 200 and not answer.content


def test_everything_the_first_page_can_load_stays_small(app: FastAPI, client: TestClient) -> None:
    """Bytes over the wire: the page, our files, and every text face, whether it is used or not."""
    page = client.get("/", headers={"Accept-Encoding": "br"})
    built = app.state.assets
    faces = [name for name in built.names if name.endswith(".woff2") and "math" not in name]
    ours = [
        name + ".br" for name in map(built.names.get, ("board.css", "main.js", "slider-field.js", "theme-switch.js"))
    ]
    sizes = [(built.folder / file).stat().st_size for file in (*ours, *map(built.names.get, faces))]
    assert int(page.headers.get("content-length", 20_000)) + sum(sizes) < 120_000


def test_pages_are_compressed_for_browsers_that_say_so(client: TestClient) -> None:
    assert client.get("/", headers={"Accept-Encoding": "gzip"}).headers["content-encoding"] == "gzip"
