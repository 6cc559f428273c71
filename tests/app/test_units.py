"""What a GPU holds is written in the reader's unit wherever the planner and the floor say it; what travels never changes."""

import re

import pytest
from fastapi.testclient import TestClient

HELD = (
    "/plan?{}",
    "/plan?{}&pp=1&zero=0",  # does not fit: the note says by how much
    "/plan?{}&zero=0&schedule=interleaved&vp=2",  # little to spare
    "/plan?{}&model=llama-3-8b&gpus=32",  # plain FSDP would do: the note says how much state
    "/plan/chart/memory?{}",
    "/plan/chart/knob?{}&knob=pp",
    "/plan/working/memory.peak_bytes?{}",
    "/plan/working/needed.0?{}",
    "/plan/working/exact.state?{}",
    "/topology?{}",
    "/topology?{}&pp=1&zero=0",
    "/topology/layouts?{}",
)
OFFERED = re.compile(
    r"<label[^>]*>.*?</label>|<option.*?</option>|<script.*?</script>|or <?[^<]* (GB|GiB|MB|MiB)</span>", re.DOTALL
)
GIB, GB = re.compile(r"\d (GiB|MiB|TiB)\b"), re.compile(r"\d (GB|MB)\b")


def shown(client: TestClient, address: str, unit: str) -> str:
    """A page without the choices that it offers and without a slip's second reading."""
    answer = client.get(address.format(f"units={unit}"))
    assert answer.status_code == 200
    return OFFERED.sub("", answer.text)


@pytest.mark.parametrize("address", HELD)
def test_once_gb_is_chosen_no_page_says_gib(client: TestClient, address: str) -> None:
    assert GIB.search(shown(client, address, "GiB"))
    text = shown(client, address, "GB")
    assert GB.search(text)
    assert not GIB.search(text), GIB.search(text)


def test_what_travels_is_in_gb_whatever_is_chosen(client: TestClient) -> None:
    for unit in ("GiB", "GB"):
        text = shown(client, "/plan/working/communication.4.payload_bytes?{}", unit)
        assert GB.search(text) and not GIB.search(text)


def test_the_choice_of_one_reader_is_not_the_next_ones(client: TestClient) -> None:
    shown(client, "/plan?{}&pp=1&zero=0", "GB")
    assert GIB.search(OFFERED.sub("", client.get("/plan?pp=1&zero=0").text))


def test_a_number_of_a_lesson_leads_to_the_planner_in_the_unit_of_the_lesson(client: TestClient) -> None:
    html = client.get("/lessons/layout-on-the-wires").text
    links = re.findall(r'href="(/plan/working/(?:memory|needed)\.[^"]+)">([^<]+)</a>', html)
    assert links
    for href, text in links[:6]:
        assert text in client.get(href.replace("&amp;", "&")).text
