"""The lessons' routes: the road, each lesson, exercises with and without a script, glossary, sources, any working."""

import html
import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from app.board.scenes import SCENES
from app.lessons.exercises import exercises
from app.lessons.glossary import references, words
from app.lessons.lesson import BLOCKS, Lesson, lessons
from engine.formulas import all_formulas
from engine.language.domain import Domain, domain_of

HTMX = {"HX-Request": "true"}
LESSONS = lessons()
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=[lesson.slug for lesson in LESSONS])
each_exercise = pytest.mark.parametrize("key", exercises())


def links(page: str) -> Iterator[str]:
    for link in re.findall(r'href="([^"]+)"', page):
        yield html.unescape(link)


def test_the_index_lists_every_lesson_in_the_cards_order(client: TestClient) -> None:
    page = client.get("/lessons").text
    found = re.findall(r'data-lesson="([\w-]+)"', page)
    assert found == [lesson.slug for lesson in LESSONS]
    assert "The answer in 40 minutes" in page
    assert re.findall(r"(\d+) min</p>", page) == [str(block.minutes) for block in BLOCKS if block.minutes]


@each_lesson
def test_a_lesson_leads_to_its_neighbours_and_says_how_long_it_takes(client: TestClient, lesson: Lesson) -> None:
    page = client.get(lesson.href)
    assert page.status_code == 200
    assert f"{lesson.minutes} min to read" in page.text
    at = LESSONS.index(lesson)
    before, after = LESSONS[at - 1 : at], LESSONS[at + 1 : at + 2]
    assert re.findall(r'rel="prev" href="([^"]+)"', page.text) == [each.href for each in before]
    assert re.findall(r'rel="next" href="([^"]+)"', page.text) == [each.href for each in after]


@each_lesson
def test_every_number_of_a_lesson_opens_its_working(client: TestClient, lesson: Lesson) -> None:
    found = {link for link in links(client.get(lesson.href).text) if "/working/" in link}
    for link in found:
        part = client.get(link, headers=HTMX)
        assert part.status_code == 200 and "<html" not in part.text, link
        assert ("<math" in part.text) != ("memory.capacity_bytes" in link), link  # what is given has no formula


@each_lesson
def test_every_other_link_of_a_lesson_leads_somewhere(client: TestClient, lesson: Lesson) -> None:
    page = client.get(lesson.href).text
    pages = {"/glossary": client.get("/glossary").text, "/sources": client.get("/sources").text}
    for link in sorted(set(links(page))):
        path, _, place = link.partition("#")
        if link.startswith("/working/") or "/working/" in link:
            continue
        if path in pages and place:
            assert f'id="{place}"' in pages[path], link
        elif path.startswith("/"):
            assert client.get(path).status_code == 200, link
        elif not link.startswith("https://"):
            assert f'id="{place}"' in page, link


def test_a_lesson_that_does_not_exist_is_told_with_the_nearest(client: TestClient) -> None:
    answer = client.get("/lessons/four-strategie")
    assert answer.status_code == 404 and "the nearest that works: four-strategies" in answer.text
    for slug in ("%00", "💥", "x" * 5000, "..%2f..%2fetc"):
        answer = client.get(f"/lessons/{quote(slug, safe='%')}")
        assert 400 <= answer.status_code < 500 and "Traceback" not in answer.text


def test_the_list_of_exercises_poses_them_all_and_tells_no_answer(client: TestClient) -> None:
    page = client.get("/lessons/exercises").text
    assert re.findall(r'class="exercise" id="exercise-([\w-]+)"', page) == list(exercises())
    assert "exercise-verdict" not in page
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


@each_exercise
def test_the_right_answer_is_praised_and_any_other_is_explained(client: TestClient, key: str) -> None:
    given = exercises()[key]
    for choice in given.choices:
        page = html.unescape(client.get(f"/lessons/exercises/{key}?answer={choice.name}").text)
        told = given.found
        assert told.title in page and told.why in page
        assert ("note-good" in page) == (choice == given.found)
        assert given.term.text in page and given.shown in page
        assert all(each.text in page for each in given.choices)


def test_an_exercise_is_a_part_for_a_script_and_a_page_without_one(client: TestClient) -> None:
    path = "/lessons/exercises/forgotten-optimizer?answer=only_weights&lesson=memory-and-communication"
    part, page = client.get(path, headers=HTMX).text, client.get(path).text
    assert part.lstrip().startswith('<section class="exercise"') and "<html" not in part
    assert "<html" in page and 'href="/lessons/memory-and-communication"' in page


def test_an_exercise_in_a_lesson_leads_back_to_it(client: TestClient) -> None:
    page = client.get("/lessons/memory-and-communication").text
    back = '<input type="hidden" name="lesson" value="memory-and-communication">'
    assert back in page
    assert back in client.get("/lessons/exercises/bits-for-bytes?lesson=memory-and-communication", headers=HTMX).text


@pytest.mark.parametrize(
    ("path", "status"),
    [("uncut-gradient", 404), ("uncut-gradients?answer=nobody", 422), ("uncut-gradients?answer=%00", 422)],
)
def test_an_exercise_or_an_answer_that_does_not_exist_is_refused(client: TestClient, path: str, status: int) -> None:
    answer = client.get(f"/lessons/exercises/{path}")
    assert answer.status_code == status and "Back to the board" in answer.text


def test_a_lesson_named_in_an_address_is_never_printed_unread(client: TestClient) -> None:
    page = client.get("/lessons/exercises/uncut-gradients?lesson=%22%3E%3Cscript%3E").text
    assert '"><script>' not in page


def test_the_glossary_has_every_word_and_its_links_lead_somewhere(client: TestClient) -> None:
    page = client.get("/glossary").text
    assert all(f'id="{word.anchor}"' in page for word in words().values())
    for link in set(links(page)):
        if link.startswith(("/lessons", "/scenes")):
            assert client.get(link).status_code == 200, link


def test_the_sources_say_where_they_are_cited(client: TestClient) -> None:
    page = client.get("/sources").text
    assert all(f'id="{source.anchor}"' in page for source in references().values())
    assert 'href="/lessons/memory-and-communication"' in page
    assert 'href="https://arxiv.org/abs/1910.02054"' in page


def some(domain: Domain) -> float:
    """A value that means something in any formula: half of a share, one of a flag, eight of anything else."""
    return 8 if domain.high > 8 else 1 if domain.whole else 0.5


@pytest.mark.parametrize("name", sorted(all_formulas()))
def test_every_formula_has_a_working_at_an_address(client: TestClient, name: str) -> None:
    made = all_formulas()[name]
    values = {p.name: some(domain_of(p.unit)) for p in made.parameters.values() if p.default is None}
    if made.case:
        values[made.case] = next(iter(made.templates))
    term = made.answer(values)
    page = client.get(f"/working/{name}", params=values)
    assert page.status_code == 200
    assert term.text in html.unescape(page.text) and term.source in html.unescape(page.text)
    assert "<html" not in client.get(f"/working/{name}", params=values, headers=HTMX).text


def test_a_working_tells_only_slips_that_give_another_answer(client: TestClient) -> None:
    alone = client.get("/working/state_bytes?N=70e9&zero=0&D=64", headers=HTMX).text
    assert "nothing is sharded" not in alone and "only the weights" in alone
    assert "nothing is sharded" in client.get("/working/state_bytes?N=70e9&zero=1&D=64", headers=HTMX).text


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("nothing", 404, "there is no formula of this name"),
        ("state_bytes", 422, "state_bytes needs N"),
        ("state_bytes?N=70e9&zero=7&D=64", 422, "zero = 7"),
        ("state_bytes?N=many&zero=1&D=64", 422, "N = many"),
        ("state_bytes?N=1&zero=1&D=64&x=1", 200, "x: state_bytes takes no such value and passes it over"),
    ],
)
def test_a_working_without_meaning_or_with_too_much_says_why(
    client: TestClient, path: str, status: int, words: str
) -> None:
    answer = client.get(f"/working/{path}")
    assert answer.status_code == status and words in html.unescape(answer.text)


@pytest.mark.parametrize(
    "path",
    [
        "/lessons",
        "/lessons/four-strategies",
        "/lessons/exercises",
        "/glossary",
        "/sources",
        "/working/state_bytes?N=70e9&zero=1&D=64",
    ],
)
def test_no_page_has_inline_script_or_style(client: TestClient, path: str) -> None:
    page = client.get(path).text
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", page)


def test_a_scene_in_a_lesson_opens_at_the_same_frame(client: TestClient) -> None:
    page = client.get("/lessons/four-strategies").text
    frames = SCENES["ddp"].frames(SCENES["ddp"].values({}))
    at = next(at for at, frame in enumerate(frames) if frame.name == "it leaves")
    assert f"/scenes/ddp?frame={at}" in page
    assert frames[at].caption in html.unescape(page)
