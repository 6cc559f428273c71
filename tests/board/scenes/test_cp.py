"""The context-parallel scene: its numbers against the storyboard's, exact merging, and pictures at every end."""

import pytest

from app.board.scenes.base import Frame
from app.board.scenes.cp.case import Case
from app.board.scenes.cp.scene import CP
from engine.language.refusal import Refusal
from engine.lens.ring_attention import (
    DEALINGS,
    causal_strip_share,
    causal_worst_over_mean,
    dealt_loads,
    dealt_strips,
    merged,
    partial_softmax,
    ring_pass,
    uneven_waiting_share,
)
from tests.board.scenes.drawings import assert_legible, assert_whole, each_of

SETTINGS = [
    {},
    {"ranks": "2"},
    {"ranks": "8"},
    {"ranks": "8", "sequence": "8192", "deal": "round-robin"},
    {"sequence": "1048576", "tp": "8"},
    {"ranks": "2", "sequence": "8192", "tp": "8", "deal": "in-order"},
    {"ranks": "3", "sequence": "98304"},
    {"ranks": "8", "sequence": "1048576", "deal": "in-order"},
    {"ranks": "7", "sequence": "114688", "deal": "round-robin"},
]
each_setting = each_of(SETTINGS)


def case(**given: str) -> Case:
    return Case(CP.values(given))


def frames(given: dict[str, str]) -> tuple[Frame, ...]:
    return CP.frames(CP.values(given))


def test_strips_do_odd_numbers_of_parts_and_all_of_them_together() -> None:
    assert [causal_strip_share(i, 4) * 16 for i in range(4)] == [1, 3, 5, 7]
    for ranks in range(2, 9):
        assert sum(causal_strip_share(i, ranks) for i in range(ranks)) == pytest.approx(1)


def test_in_order_the_last_rank_sets_the_pace() -> None:
    assert case().worst.value == 1.75
    assert 100 * case().waiting.value == pytest.approx(43, abs=0.2)
    assert case(ranks="8").worst.value == 1.875


@pytest.mark.parametrize("ranks", range(2, 9))
def test_zig_zag_is_level_and_no_deal_of_ours_beats_it(ranks: int) -> None:
    worst = {deal: max(dealt_loads(dealt_strips(deal, ranks))) for deal in DEALINGS}
    assert worst["zig-zag"] == pytest.approx(1.0)
    assert worst["in-order"] == pytest.approx(causal_worst_over_mean(ranks))
    assert worst["zig-zag"] < worst["round-robin"] < worst["in-order"]


@pytest.mark.parametrize("deal", DEALINGS)
def test_every_half_strip_is_dealt_once(deal: str) -> None:
    assert sorted(strip for mine in dealt_strips(deal, 5) for strip in mine) == list(range(10))


def test_a_hop_and_a_block_take_what_the_storyboard_says() -> None:
    found = case()
    assert found.hop(2, "hop").value / 1e6 == pytest.approx(134, abs=0.5)
    assert found.forward_hop.value * 1e3 == pytest.approx(2.7, abs=0.05)
    assert found.forward_block.value * 1e3 == pytest.approx(59, abs=0.5)
    sliced = case(tp="8")
    assert sliced.forward_hop.value * 1e3 == pytest.approx(0.34, abs=0.005)
    assert sliced.forward_block.value * 1e3 == pytest.approx(7.4, abs=0.05)


def test_attention_passes_the_weights_work_at_long_sequences() -> None:
    assert 100 * case().added(8192).value == pytest.approx(7.6, abs=0.05)
    assert 100 * case().added(131072).value == pytest.approx(122, abs=0.5)


@pytest.mark.parametrize("ranks", ["2", "4", "8"])
def test_merging_in_any_blocks_gives_what_all_keys_at_once_give(ranks: str) -> None:
    found = case(ranks=ranks)
    running, whole = found.running[-1].result, found.at_once
    assert (running.maximum, running.total) == (whole.maximum, pytest.approx(whole.total))
    assert running.output == pytest.approx(whole.output, rel=1e-12)
    assert any(row.scale is not None and row.scale < 1 for row in found.running), "a larger score must rescale the sum"


def test_merging_holds_where_scores_are_far_apart() -> None:
    far, near = partial_softmax((-800.0,), (1.0,)), partial_softmax((5.0,), (3.0,))
    assert merged(far, near).output == merged(near, far).output == 3.0


def test_hops_hide_behind_blocks_unless_they_last_longer() -> None:
    assert ring_pass((1.0, 2.0, 2.0), 0.5)[-1].end == 5.0
    assert ring_pass((1.0, 2.0, 2.0), 3.0)[-1].end == 8.0
    assert not case(ranks="8", sequence="8192").hidden


def test_each_hop_moves_the_keys_one_rank_on() -> None:
    home, away = frames({})[2].figure.svg(), frames({})[3].figure.svg()
    for rank in range(4):
        assert place(away, f"kv-{rank}-shape") == place(home, f"kv-{(rank + 1) % 4}-shape")
        assert place(away, f"q-{rank}-shape") == place(home, f"q-{rank}-shape")


def place(svg: str, key: str) -> str:
    return svg.partition(f'data-key="{key}" transform="')[2].partition('"')[0]


def test_the_deal_of_the_knob_is_the_one_drawn_and_judged() -> None:
    assert "all finish together" in frames({})[6].caption
    worst = max(dealt_loads(dealt_strips("round-robin", 4)))
    robin = frames({"deal": "round-robin"})[6]
    assert f"{worst:.3g} times the mean" in robin.caption
    lost = uneven_waiting_share(worst) * 100
    assert f"{lost:.3g} %" in robin.figure.svg()


def test_gradients_double_the_bytes_on_the_way_back() -> None:
    found = case()
    assert found.hop(4, "hop").value == 2 * found.hop(2, "hop").value
    assert "268 MB" in frames({})[7].description


def test_the_question_knows_the_usual_mistake() -> None:
    asked = CP.question(CP.values({})).answer
    assert asked is not None and asked.value == 1.75
    assert asked.formula.recognise(7, **asked.numbers) is not None


@pytest.mark.parametrize(
    ("given", "field", "nearest"),
    [
        ({"ranks": "3"}, "ranks", "2"),
        ({"ranks": "7"}, "ranks", "8"),
        ({"tp": "3"}, "tp", "2"),
        ({"sequence": "8193"}, "sequence", "8192"),
    ],
)
def test_what_fits_no_picture_is_refused_with_a_way_out(given: dict[str, str], field: str, nearest: str) -> None:
    with pytest.raises(Refusal) as caught:
        frames(given)
    assert (caught.value.field, caught.value.nearest) == (field, nearest)


@each_setting
def test_every_setting_draws_whole_pictures(given: dict[str, str]) -> None:
    assert_whole(frames(given), frames(given), 8)


@each_setting
def test_no_words_are_small_overlap_or_leave_the_picture(given: dict[str, str]) -> None:
    assert_legible(frames(given))
