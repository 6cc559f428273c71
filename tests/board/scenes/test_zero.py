"""The ZeRO scene: its numbers against the storyboard's, its clock against the closed form, and pictures at every end."""

from itertools import pairwise

import pytest

from app.board.scenes.base import Frame
from app.board.scenes.zero.case import SHAPE, Case
from app.board.scenes.zero.scene import ZERO
from engine.language.formula import Term
from engine.language.refusal import Refusal
from engine.lens.sharded import break_even_tokens, gathered_bytes, sharded_forward_s, sharded_pass
from engine.memory.parameters import count
from engine.network.collectives import zero3_over_ddp_volume
from engine.step.overlap import forward_s
from tests.board.scenes.drawings import each_of

SETTINGS = [
    {},
    {"gpus": "4", "billions": "1", "tokens": "256", "ahead": "3"},
    {"gpus": "1024", "billions": "1000", "tokens": "65536", "ahead": "3"},
    {"gpus": "4", "billions": "1000", "tokens": "256"},
    {"gpus": "1024", "billions": "1", "tokens": "1024", "ahead": "2"},
    {"gpus": "8"},
    {"gpus": "16", "tokens": "1024"},
    {"billions": "405", "tokens": "2048"},
    {"tokens": "1217"},
    {"tokens": "700", "ahead": "2"},
]
each_setting = each_of(SETTINGS)


def case(**given: str) -> Case:
    return Case(ZERO.values(given))


def frames(given: dict[str, str]) -> tuple[Frame, ...]:
    return ZERO.frames(ZERO.values(given))


def shown(**given: str) -> dict[str, Term]:
    return {term.label: term for term in ZERO.numbers(ZERO.values(given))}


def test_each_stage_leaves_what_the_storyboard_says() -> None:
    assert [round(state.value / 1e9, 1) for state in case().states] == [1120.0, 293.1, 155.3, 17.5]


def test_a_gathered_layer_and_two_of_them_at_the_shape_s_own_size() -> None:
    layer = 2 * count(SHAPE).dense_layer
    assert layer / 1e9 == pytest.approx(1.71, abs=0.005)
    assert gathered_bytes(1, layer) / 1e9 == pytest.approx(3.42, abs=0.005)
    assert case().layer_bytes.value == pytest.approx(layer, rel=0.01)  # 70 B is a little less than the shape's 70.55 B


def test_traffic_is_three_passages_against_two() -> None:
    terms = shown()
    assert terms["ZeRO-3: sent in a step"].value / terms["DDP: sent in a step"].value == pytest.approx(3 / 2)
    assert zero3_over_ddp_volume() == 3 / 2


def test_a_layer_s_gather_is_short_beside_its_forward() -> None:
    """The storyboard divides a whole layer by the node's bandwidth; a ring leaves out one's own slice."""
    whole = case().gather.value * 64 / 63
    assert whole * 1e3 == pytest.approx(4.3, rel=0.02)
    assert case().forward.value * 1e3 == pytest.approx(28, rel=0.01)
    assert forward_s(855.65e6, 8192, 989e12, 0.5) * 1e3 == pytest.approx(28, rel=0.02)


def test_at_peak_and_for_many_gpus_gather_and_forward_are_level_at_the_storyboard_s_tokens() -> None:
    assert break_even_tokens(989e12, 1, 400e9, 1e9) == pytest.approx(2472, abs=1)
    level = case(tokens=str(round(case().break_even.value)))
    assert level.gather.value == pytest.approx(level.forward.value, rel=1e-3)


def test_inside_a_node_the_gather_runs_at_nvlink_speed() -> None:
    assert case(gpus="8").bandwidth.value == 450e9
    assert case(gpus="16").bandwidth.value == 400e9


@pytest.mark.parametrize(("gather", "compute"), [(1.0, 4.0), (4.0, 1.0), (2.0, 2.0)])
@pytest.mark.parametrize("prefetch", [0, 1])
def test_the_clock_ends_when_the_closed_form_says(gather: float, compute: float, prefetch: int) -> None:
    turns = sharded_pass(80, gather, compute, ahead=prefetch)
    assert turns[-1].compute.end == pytest.approx(sharded_forward_s(80, gather, compute, prefetch))


@pytest.mark.parametrize("ahead", [1, 2, 3])
def test_never_more_layers_are_whole_than_the_one_at_work_and_those_fetched_ahead(ahead: int) -> None:
    for scatter in (None, 1.5):
        turns = sharded_pass(9, 1.0, 2.5, ahead, scatter)
        moments = [time + 1e-6 for turn in turns for time in (turn.gather.start, turn.compute.start)]
        assert max(sum(turn.held(now) for turn in turns) for now in moments) == ahead + 1


def test_nothing_shares_the_wire_and_every_gradient_leaves_after_its_layer() -> None:
    turns = sharded_pass(6, 1.0, 1.2, 1, 1.0)
    spans = sorted((span.start, span.end) for turn in turns for span in (turn.gather, turn.scatter) if span)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert all(turn.scatter and turn.scatter.start >= turn.compute.end for turn in turns)


def test_the_question_has_the_engines_answer_and_knows_the_usual_mistake() -> None:
    asked = ZERO.question(ZERO.values({})).answer
    assert asked is not None and asked.text == "17.5 GB"
    wrong = asked.formula.recognise(1120e9, **asked.numbers)
    assert wrong is not None and wrong.title == "nothing is sharded"


def test_what_people_say_is_put_right_with_numbers() -> None:
    said = {each.said: each.instead for each in ZERO.misconceptions(ZERO.values({}))}
    assert "all 80 layers" in said["FSDP is model parallelism."]
    assert "400 GB/s together" in said["50 GB/s is the speed between nodes."]


def test_a_part_of_a_node_is_refused_with_the_nearest_whole_ones() -> None:
    with pytest.raises(Refusal) as caught:
        frames({"gpus": "21"})
    assert (caught.value.field, caught.value.nearest) == ("gpus", "24")
