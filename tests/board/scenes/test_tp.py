"""The tensor parallel scene: its numbers against the storyboard's, and what each cut forces."""

import pytest

from app.board.scenes.base import Frame
from app.board.scenes.tp.case import ELEMENT, SUMS, Case, silu_of
from app.board.scenes.tp.scene import TP
from app.board.scenes.tp.timeline import Timeline
from engine.catalog.model import model_named
from engine.language.refusal import Refusal
from engine.lens.half_blocks import layer_step_s, narrowed
from engine.memory.parameters import count
from tests.board.scenes.drawings import each_of

SETTINGS = [
    {},
    {"tp": "1"},
    {"tp": "2"},
    {"tp": "4"},
    {"tp": "8", "width": "1024", "sequence": "1024"},
    {"tp": "1", "width": "16384", "sequence": "131072"},
    {"tp": "8", "width": "16384", "sequence": "131072"},
    {"tp": "2", "first": "rows"},
    {"first": "rows", "second": "columns"},
    {"tp": "4", "second": "columns"},
    {"tp": "1", "first": "rows", "second": "columns"},
    {"tp": "2", "width": "1024"},
    {"tp": "8", "width": "2048"},
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
    assert "on 16 GPUs each lies on 2" in frames({})[4].figure.svg()
    assert "enough for 8 GPUs" in frames({"tp": "4"})[4].figure.svg()


def test_twice_the_gpus_are_less_than_twice_as_fast() -> None:
    for t in ("2", "4", "8"):
        assert 1 < case(tp=t).doubled.value < 2
    assert case(tp="8").doubled.value < case(tp="4").doubled.value


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
        frames({"tp": t})
    assert caught.value.field == "tp"
    assert caught.value.nearest is not None and set(nearest.split(" or ")) <= set(caught.value.nearest.split(" or "))


def test_alone_nothing_is_summed() -> None:
    alone = case(tp="1")
    assert alone.sums_s.value == alone.far_sums_s.value == alone.sent.value == 0
    question = TP.question(TP.values({"tp": "1"}))
    assert question.options[question.right] == "none"


def test_the_question_counts_four_sums() -> None:
    question = TP.question(TP.values({}))
    assert question.options[question.right] == "four"


def test_what_people_say_is_put_right_with_numbers() -> None:
    said = {each.said: each.instead for each in TP.misconceptions(TP.values({}))}
    assert "1.78 times" in said["Twice the tensor parallelism, half the time."]
    assert "117 MB" in said["Sequence parallelism costs extra traffic."]
    assert "23.6 %" in said["There is one all-reduce a layer."]


@each_setting
def test_the_film_s_products_and_sums_add_up_to_the_layer_s(given: dict[str, str]) -> None:
    """Norms, which the layer's work counts, are multiplied with nothing."""
    one = case(**given)
    forward = sum(term.value for term in (*one.products, *one.attention_products))
    parts = count(one.model)
    assert 3 * forward == pytest.approx(one.work.value * (1 - parts.norms / parts.dense_layer))
    if one.columns_first and one.rows_second:
        end = Timeline(one).backward.end
        assert end == pytest.approx(layer_step_s(3 * forward, one.sums_s.value))


@each_setting
def test_every_setting_has_eight_stops(given: dict[str, str]) -> None:
    names = [frame.name for frame in frames(given)]
    assert (
        names[3] == "cut B" and names[6] == "norms cut too" and len(names) == 8
    )  # lessons name them, old addresses number them
