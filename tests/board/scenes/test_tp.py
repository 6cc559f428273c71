"""The tensor parallel scene: its numbers against the storyboard's, what each cut forces, and pictures at every end."""

import pytest

from app.board.scenes.base import Frame
from app.board.scenes.tp.case import ELEMENT, SUMS, Case, silu_of
from app.board.scenes.tp.scene import TP
from engine.catalog.model import model_named
from engine.language.refusal import Refusal
from engine.lens.half_blocks import narrowed
from tests.board.figures import fills_of
from tests.board.scenes.drawings import assert_legible, assert_whole, each_of

SETTINGS = [
    {},
    {"t": "1"},
    {"t": "2"},
    {"t": "4"},
    {"t": "8", "width": "1024", "sequence": "1024"},
    {"t": "1", "width": "16384", "sequence": "131072"},
    {"t": "8", "width": "16384", "sequence": "131072"},
    {"t": "2", "first": "rows"},
    {"first": "rows", "second": "columns"},
    {"t": "4", "second": "columns"},
    {"t": "1", "first": "rows", "second": "columns"},
    {"t": "2", "width": "1024"},
    {"t": "8", "width": "2048"},
]
each_setting = each_of(SETTINGS)


def case(**given: str) -> Case:
    return Case(TP.values(given))


def frames(given: dict[str, str]) -> tuple[Frame, ...]:
    return TP.frames(TP.values(given))


def test_a_layer_pays_four_sums_of_134_megabytes_in_the_node() -> None:
    assert SUMS == 4
    assert case().field.value / 1e6 == pytest.approx(134, abs=0.5)
    assert case().sum_s.value * 1e3 == pytest.approx(0.52, abs=0.005)
    assert case().sums_s.value * 1e3 == pytest.approx(2.1, abs=0.05)


def test_the_sums_are_a_quarter_of_the_work_in_a_node_and_twice_the_work_over_nodes() -> None:
    assert case().work.value * 1e3 == pytest.approx(8.9, abs=0.05)
    assert case().near_wait.value == pytest.approx(0.24, abs=0.005)
    assert case().far_sums_s.value * 1e3 == pytest.approx(18.8, abs=0.05)
    assert case().far_wait.value == pytest.approx(2.12, abs=0.005)


def test_sequence_parallelism_moves_the_same_bytes_and_keeps_an_eighth() -> None:
    """The storyboard counts 34 bytes a token and channel; the engine this model's own layer, 1.5 % less."""
    assert 2 * case().half_sent.value == pytest.approx(case().sent.value)
    assert case().kept(1, False).value / 1e9 == pytest.approx(2.28, rel=0.02)
    assert case().kept(8, True).value / 1e9 == pytest.approx(0.285, rel=0.02)
    assert case().kept(8, True).value * 8 == pytest.approx(case().kept(1, False).value)
    assert case().kept(8, True).value < case().kept(8, False).value < case().kept(1, False).value


def test_key_value_heads_run_out_at_eight() -> None:
    assert case().model.kv_heads == 8
    assert case().copies.value == 2
    assert "copies" in frames({})[4].figure.svg() and "copies" not in frames({"t": "4"})[4].figure.svg()


def test_twice_the_gpus_are_less_than_twice_as_fast() -> None:
    for t in ("2", "4", "8"):
        assert 1 < case(t=t).doubled.value < 2
    assert case(t="8").doubled.value < case(t="4").doubled.value


@pytest.mark.parametrize(
    ("first", "second", "forced"),
    [
        ("columns", "rows", ["all-reduce of Z"]),
        ("columns", "columns", ["all-gather of Y", "all-gather of Z"]),
        ("rows", "rows", ["all-reduce of Y", "all-reduce of Z"]),
        ("rows", "columns", ["all-reduce of Y", "all-gather of Z"]),
    ],
)
def test_each_choice_of_cuts_has_its_collectives(first: str, second: str, forced: list[str]) -> None:
    found = case(first=first, second=second).forced
    assert [each.what for each in found] == forced
    best = sum(each.seconds.value for each in case().forced)
    assert sum(each.seconds.value for each in found) >= best


def test_the_nonlinearity_of_a_sum_is_not_the_sum_of_nonlinearities() -> None:
    parts = [silu_of(part).value for part in ELEMENT]
    assert abs(sum(parts) - silu_of(sum(ELEMENT)).value) > 1


def test_the_default_width_is_the_catalogue_s_model() -> None:
    llama = model_named("llama-3-70b")
    assert case().model == narrowed(llama, llama.hidden) == llama


@pytest.mark.parametrize(("t", "nearest"), [("3", "2 or 4"), ("5", "4"), ("6", "4 or 8"), ("7", "8")])
def test_gpus_that_do_not_divide_the_heads_are_refused_in_a_sentence(t: str, nearest: str) -> None:
    with pytest.raises(Refusal, match="must divide the 64 heads") as caught:
        frames({"t": t})
    assert caught.value.field == "t"
    assert caught.value.nearest is not None and set(nearest.split(" or ")) <= set(caught.value.nearest.split(" or "))


def test_alone_nothing_is_summed() -> None:
    alone = case(t="1")
    assert alone.sums_s.value == alone.far_sums_s.value == alone.sent.value == 0
    question = TP.question(TP.values({"t": "1"}))
    assert question.options[question.right] == "none"


def test_the_question_counts_four_sums() -> None:
    question = TP.question(TP.values({}))
    assert question.options[question.right] == "four"


def test_matrices_that_are_not_at_work_are_ghosts() -> None:
    ghosts = ["pen-dashed" in frame.figure.svg() for frame in frames({})]
    assert ghosts[0] is False and ghosts[1] is True
    assert "waiting" in fills_of(frames({})[5].figure.svg())


def test_slices_keep_their_keys_so_that_a_cut_is_seen_to_open() -> None:
    whole, cut, _, second = (frame.figure.keys for frame in frames({})[:4])
    assert {f"A-{i}" for i in range(8)} <= set(whole) & set(cut)
    assert {f"B-{i}" for i in range(8)} <= set(whole) & set(second)


def test_what_people_say_is_put_right_with_numbers() -> None:
    said = {each.said: each.instead for each in TP.misconceptions(TP.values({}))}
    assert "1.78 times" in said["Twice the tensor parallelism, half the time."]
    assert "117 MB" in said["Sequence parallelism costs extra traffic."]
    assert "23.6 %" in said["There is one all-reduce a layer."]


@each_setting
def test_every_setting_draws_whole_pictures(given: dict[str, str]) -> None:
    assert_whole(frames(given), frames(given), 8)


@each_setting
def test_no_words_are_small_overlap_or_leave_the_picture(given: dict[str, str]) -> None:
    assert_legible(frames(given))
