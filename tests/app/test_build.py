"""Building a pipeline schedule by hand: what may come next, why not, what it became, and that every press is a link."""

import html
import re

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from app.builder.builder import Built, read
from app.builder.game import CUTS, EVERY, Game, Move, chunks_of, known_of
from app.builder.page import PATH
from app.builder.verdict import verdict_on
from engine.language.refusal import Refusal
from engine.pipeline.schedules import Op
from engine.pipeline.schedules.dependencies import Stuck
from engine.pipeline.simulator import even_durations, simulate

HTMX = {"HX-Request": "true"}
GAMES = st.builds(Game, st.integers(2, 4), st.integers(1, 5), st.sampled_from(list(CUTS)))
KNOWN = [(cut, name) for cut in CUTS for name in known_of(cut)]


def links(page: str) -> list[str]:
    return [html.unescape(link) for link in re.findall(rf'href="({PATH}\?[^"]*)"', page)]


def said(page: str) -> str:
    (words,) = re.findall(r'id="build-said"[^>]*>\s*<span[^>]*>(.*?)</span>', page, re.S)
    return html.unescape(words)


def shuffled(game: Game, data: st.DataObject) -> Built:
    """A board on which somebody has pressed whatever came to mind."""
    built = Built(game)
    for _ in range(data.draw(st.integers(0, game.operations))):
        ready = [choice.move for stage in range(game.stages) for choice in built.choices(stage) if not choice.why]
        built = built.placed(data.draw(st.sampled_from(ready)))
    return built


@given(game=GAMES, data=st.data())
def test_one_never_gets_stuck_and_the_address_holds_all(game: Game, data: st.DataObject) -> None:
    built = shuffled(game, data)
    again, wrong = read(game, built.text)
    assert not wrong
    assert (again.moves, again.timeline) == (built.moves, built.timeline)
    ready = [choice for stage in range(game.stages) for choice in built.choices(stage) if not choice.why]
    assert bool(ready) is not built.finished


@given(game=GAMES, data=st.data())
def test_a_press_is_possible_exactly_where_the_simulator_can_run_it(game: Game, data: st.DataObject) -> None:
    built = shuffled(game, data)
    times = even_durations(game.placement, 1.0, 1.0, 1.0)
    for stage in range(game.stages):
        for choice in built.choices(stage):
            orders = [[*order, choice.op] if at == stage else list(order) for at, order in enumerate(built.orders)]
            if not choice.why:
                simulate(orders, game.placement, times)
                continue
            with pytest.raises(Stuck) as caught:
                simulate(orders, game.placement, times)
            needed = caught.value.rule.partition(" first")[0]
            assert choice.why[1:].startswith(needed[1:]), "the page names what the simulator misses"


@given(game=GAMES, data=st.data())
def test_any_board_can_go_on_as_any_known_schedule(game: Game, data: st.DataObject) -> None:
    built = shuffled(game, data)
    for name in game.known:
        done = built.as_in(name)
        assert done.finished
        assert done.moves[: len(built.moves)] == built.moves
        assert read(game, done.text)[0].moves == done.moves


@pytest.mark.parametrize(("cut", "name"), KNOWN)
def test_a_known_schedule_is_called_by_its_name(cut: str, name: str) -> None:
    done = Built(Game(4, 8, cut)).as_in(name)
    assert done.names == (EVERY[name].title,)
    assert verdict_on(done).title == f"This is {EVERY[name].title}"
    assert [tuple(order) for order in EVERY[name].ops(4, 8, chunks_of(EVERY[name]))] == list(done.orders)


def test_schedules_that_are_the_same_at_a_size_are_all_named() -> None:
    assert Built(Game(3, 1, "whole")).as_in("gpipe").names == ("GPipe", "1F1B")


def test_another_order_is_a_schedule_of_ones_own_beside_the_best_known() -> None:
    built, wrong = read(Game(), "0FF1FF2FB1B0B")
    assert not wrong
    verdict = verdict_on(built.as_in("gpipe"))
    assert (verdict.title, verdict.mood) == ("A schedule of your own", "bad")
    assert verdict.lines[0] == "23 slots: 5 longer than 1F1B."
    assert [row.slots for row in verdict.rows] == sorted(row.slots for row in verdict.rows)


def test_1f1b_is_as_good_as_its_operations_allow_and_another_cut_is_better() -> None:
    verdict = verdict_on(Built(Game(4, 8, "whole")).as_in("1f1b"))
    assert verdict.mood == "good"
    assert verdict.lines[0] == "33 slots: no known schedule of these operations is shorter."
    assert "ZB-V" in verdict.lines[-1]


def test_the_last_press_tells_what_it_waited_for() -> None:
    assert read(Game(), "0F1F2F")[0].last_wait == "Stage 2 waits 2 slots for the forward of micro-batch 0 from stage 1."
    assert "at once" in read(Game(), "0FF")[0].last_wait


def test_a_stage_holds_what_it_has_not_sent_back() -> None:
    built, _ = read(Game(3, 4, "chunks"), "0FFF")
    assert built.holds(0) == 1.5
    split, _ = read(Game(2, 2, "split"), "0F1FI")
    assert split.holds(1) == 1  # the weight gradient still needs it
    assert split.placed(Move(1, "W")).holds(1) == 0


def test_the_page_has_a_chip_for_every_next_operation_and_each_answers(client: TestClient) -> None:
    page = client.get(f"{PATH}?moves=0FF1F")
    assert page.status_code == 200
    found = links(page.text)
    assert f"{PATH}?stages=3&micro=4&cut=whole&moves=0FF1FF" in found
    assert f"{PATH}?stages=3&micro=4&cut=whole&moves=0FF1F2F" in found
    assert f"{PATH}?stages=3&micro=4&cut=whole&moves=0FF1F&try=0B" in found
    for link in found:
        assert client.get(link).status_code == 200


def test_a_press_that_is_not_possible_is_told_with_what_is_missing(client: TestClient) -> None:
    page = client.get(f"{PATH}?moves=0F&try=0B").text
    assert said(page) == (
        "Stage 0 cannot run the backward of micro-batch 0: it needs the backward of micro-batch 0 on stage 1 first,"
        " and that has not been placed."
    )
    assert f"{PATH}?stages=3&micro=4&cut=whole&moves=0FF" in links(page), "the board is as it was"


def test_the_part_is_the_board_alone_and_moves_the_address(client: TestClient) -> None:
    part = client.get(f"{PATH}/board?stages=3&micro=4&cut=whole&moves=0F1F", headers=HTMX)
    assert part.status_code == 200
    assert "<html" not in part.text and 'id="build-board"' in part.text and 'hx-swap-oob="innerHTML"' in part.text
    assert part.headers["HX-Push-Url"] == f"{PATH}?stages=3&micro=4&cut=whole&moves=0F1F"


def test_undo_takes_the_last_press_back(client: TestClient) -> None:
    page = client.get(f"{PATH}?moves=0F1F").text
    (undo,) = re.findall(r'id="build-undo" href="([^"]+)"', page)
    assert html.unescape(undo) == f"{PATH}?stages=3&micro=4&cut=whole&moves=0F"


def test_show_me_1f1b_ends_in_1f1b(client: TestClient) -> None:
    page = client.get(f"{PATH}?moves=0F").text
    (like,) = re.findall(r'id="build-like-2" href="([^"]+)"', page)
    end = client.get(html.unescape(like)).text
    assert "This is 1F1B" in end and "Every operation is placed." in end and " build-chip" not in end


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("stages=1", "a board has room for 2 to 6; the nearest that works: 2"),
        ("stages=99", "the nearest that works: 6"),
        ("micro=0", "the nearest that works: 1"),
        ("micro=many", "needs a whole number"),
        ("stages=", "needs a whole number"),
        ("stages=%C2%B2", "needs a whole number"),
        ("cut=hole", "the nearest that works: whole"),
        ("micro=1e3", "a board has room for 1 to 8; the nearest that works: 8"),
        ("micro=2.5", "a board has room for 1 to 8; the nearest that works: 2"),
        ("moves=0B", "Stage 0 cannot run the backward of micro-batch 0"),
        ("moves=0FFFFF", "the last one of its kind"),
        ("moves=7F", "There are stages 0 to 2"),
        ("moves=0x", "There are stages 0 to 2"),
        ("moves=" + "0F" * 4000, "fewer than"),
        ("try=zz", "a stage and a letter"),
        ("try=9F", "There are stages"),
        ("moves=%3Cscript%3E", "There are stages 0 to 2 and F, B"),
    ],
)
def test_what_has_no_meaning_is_told_in_a_sentence(client: TestClient, query: str, words: str) -> None:
    answer = client.get(f"{PATH}?{query}")
    assert answer.status_code == 200
    assert words in html.unescape(answer.text)
    assert "<script>" not in answer.text.replace('<script type="module"', "").replace("<script src", "")


def test_a_part_without_meaning_is_an_error_in_words(client: TestClient) -> None:
    answer = client.get(f"{PATH}/board?stages=99", headers=HTMX)
    assert answer.status_code == 422 and "a board has room for" in answer.text


@pytest.mark.parametrize("cut", CUTS)
def test_the_largest_board_draws_and_no_script_or_style_stands_in_the_page(client: TestClient, cut: str) -> None:
    game = Game(6, 6, cut)
    name = next(iter(game.known))
    page = client.get(f"{PATH}?stages=6&micro=6&cut={cut}&moves={Built(game).as_in(name).text}").text
    assert page.count('id="build-stage-') == 6 and "This is" in page
    assert " style=" not in page and not re.search(r"<script>|onclick=", page)


def test_an_operation_cannot_be_asked_of_a_schedule_that_does_not_run_here() -> None:
    with pytest.raises(Refusal) as caught:
        Built(Game(3, 4, "chunks")).as_in("interleaved")  # four micro-batches do not come in groups of three
    assert caught.value.field == "like"
    assert Built(Game(3, 4, "whole")).missing(1, Op("F", 0, 0)) is not None


def test_a_part_it_does_not_have_is_passed_over_and_told(client: TestClient) -> None:
    answer = client.get(PATH, params={"stage": "4"})
    assert answer.status_code == 200 and "<svg" in answer.text
    assert "stage: this board has no such part and passes it over; the nearest is stages" in html.unescape(answer.text)
