"""The expert parallel scene: its numbers against the storyboard's, whose tokens go where, and pictures at every end."""

import pytest

from app.board.scenes.base import Frame
from app.board.scenes.ep.case import GPUS, Case
from app.board.scenes.ep.scene import EP
from engine.language.refusal import Refusal
from engine.lens.routing import routed
from tests.board.figures import fills_of
from tests.board.scenes.drawings import assert_legible, assert_whole, each_of

STORY = {"experts": "16", "top_k": "8", "nodes": "4"}  # eight experts a token, four nodes
SETTINGS = [
    {},
    STORY,
    {**STORY, "skew": "2", "tokens": "16384"},
    {"experts": "4", "nodes": "2"},
    {"experts": "4", "top_k": "1", "skew": "4", "capacity": "1"},
    {"experts": "12", "top_k": "4", "nodes": "2"},
    {"experts": "16", "top_k": "3", "skew": "1", "nodes": "2"},
    {"tokens": "512"},
    {"experts": "8", "top_k": "8", "skew": "1", "nodes": "4"},
    {"capacity": "4"},
    {"top_k": "1"},
    {"experts": "4", "top_k": "4", "skew": "1", "nodes": "4"},
    {"experts": "16", "top_k": "5", "skew": "3", "nodes": "3"},
    {"nodes": "2"},
    {"skew": "4", "capacity": "1"},
]
each_setting = each_of(SETTINGS)


def case(**given: str) -> Case:
    return Case(EP.values(given))


def frames(given: dict[str, str]) -> tuple[Frame, ...]:
    return EP.frames(EP.values(given))


def test_a_dispatch_sends_a_copy_for_each_expert() -> None:
    assert case(**STORY).dispatch.value / 1e6 == pytest.approx(470, abs=0.5)
    assert case(**STORY).exchange_s.value * 1e3 == pytest.approx(9.4, abs=0.05)


def test_four_nodes_a_token_halve_what_eight_experts_cost() -> None:
    assert case(**STORY).limited.value / 1e6 == pytest.approx(235, abs=0.5)
    assert case(**STORY).limited_s.value * 1e3 == pytest.approx(4.7, abs=0.05)


def test_the_busiest_expert_sets_the_pace_where_it_has_a_gpu_of_its_own() -> None:
    alone = case(experts="4", nodes="2")
    assert alone.busiest_gpu.value == alone.skew == 1.5
    assert alone.experts_s.value == pytest.approx(1.5 * alone.even_s.value)


def test_beside_ordinary_experts_a_busy_one_weighs_less() -> None:
    assert case().busiest_gpu.value == pytest.approx((1.5 + case().ordinary.value) / 2)
    assert 1 < case(experts="16").busiest_gpu.value < case().busiest_gpu.value < 1.5
    assert case(skew="1").busiest_gpu.value == 1


def test_what_overflows_is_what_passes_the_capacity() -> None:
    assert case().overflow.value == pytest.approx((1.5 - 1.25) / 8)
    assert case(capacity="1.5").overflow.value == 0
    assert "overflow" in fills_of(frames({})[5].figure.svg())
    assert "overflow" not in fills_of(frames({"capacity": "1.5"})[5].figure.svg())


@pytest.mark.parametrize("experts", [4, 8, 12, 16])
@pytest.mark.parametrize("k", range(1, 9))
def test_tokens_are_routed_with_the_skew_asked_for(experts: int, k: int) -> None:
    if k > experts:
        return
    skew = 1.0
    while skew <= min(4, experts / k):
        routing = routed(16, experts, k, skew, experts // 2)
        assert all(len(set(chosen)) == k for chosen in routing.choices)
        others = [load for expert, load in enumerate(routing.loads) if expert != experts // 2]
        assert abs(routing.loads[experts // 2] - skew * 16 * k / experts) <= 0.5
        assert max(others) - min(others) <= 1
        skew += 0.25


def test_the_chosen_experts_have_the_highest_scores_and_their_gates_add_up_to_one() -> None:
    routing = case().routing
    for token, chosen in enumerate(routing.choices):
        scores = routing.scores(token)
        assert sum(scores) == pytest.approx(1)
        assert {*sorted(range(8), key=lambda expert: -scores[expert])[:2]} == set(chosen)
        assert sum(routing.gates(token)) == pytest.approx(1)


def test_no_copy_is_lost_between_gpus() -> None:
    found = case()
    flows = [[found.flow(i, j) for j in range(GPUS)] for i in range(GPUS)]
    assert [sum(row) for row in flows] == [4 * 2] * GPUS
    assert sum(map(sum, flows)) == sum(found.routing.loads)


def test_copies_move_out_and_come_back() -> None:
    keys = [{key for key in frame.figure.keys if key.startswith("copy-")} for frame in frames({})]
    assert keys[0] == set()
    assert keys[1] == keys[2] == keys[3] == keys[4]
    assert len(keys[1]) == 16 * 2


@pytest.mark.parametrize(
    ("given", "field", "nearest"),
    [
        ({"experts": "6"}, "experts", "8"),
        ({"experts": "4", "top_k": "6"}, "top_k", "4"),
        ({"skew": "4", "top_k": "4", "nodes": "4"}, "skew", "2"),
        ({"top_k": "8"}, "nodes", "4"),
        ({"experts": "16", "top_k": "5"}, "nodes", "2"),
    ],
)
def test_what_fits_no_picture_is_refused_in_a_sentence(given: dict[str, str], field: str, nearest: str) -> None:
    with pytest.raises(Refusal) as caught:
        frames(given)
    assert (caught.value.field, caught.value.nearest) == (field, nearest)


def test_the_question_has_the_engines_answer_and_knows_the_usual_mistake() -> None:
    asked = EP.question(EP.values({})).answer
    assert asked is not None and asked.value == 2 * 4096 * 2 * 7168
    wrong = asked.formula.recognise(2 * 4096 * 7168, **asked.numbers)
    assert wrong is not None and wrong.title == "one copy a token"


def test_what_people_say_is_put_right_with_numbers() -> None:
    said = {each.said: each.instead for each in EP.misconceptions(EP.values({}))}
    assert "671 B parameters" in said["Experts are free: a token uses only a few of them."]
    assert "7,168 by 2,048" in said["Expert parallel is tensor parallel for the MLP."]


@each_setting
def test_every_setting_draws_whole_pictures(given: dict[str, str]) -> None:
    assert_whole(frames(given), frames(given), 8)


@each_setting
def test_no_words_are_small_overlap_or_leave_the_picture(given: dict[str, str]) -> None:
    assert_legible(frames(given))
