"""The DDP scene: its numbers against the storyboard's, and what it puts right."""

import pytest

from app.board.scenes.ddp.case import Case
from app.board.scenes.ddp.scene import DDP
from engine.language.refusal import Refusal


def case(**given: str) -> Case:
    return Case(DDP.values(given))


def test_gradients_and_their_sum_are_the_storyboard_s() -> None:
    eight = case(gpus="8")
    assert eight.gradients.value == 14e9
    assert eight.traffic.value * 1e3 == pytest.approx(54, abs=0.5)
    assert eight.backward.value * 1e3 == pytest.approx(464, abs=0.5)
    assert eight.tail.value * 1e3 == pytest.approx(0.1, abs=0.01)
    assert case().sent.value == 1.5 * case().gradients.value


def test_bytes_stop_at_twice_the_gradients_and_hops_go_on() -> None:
    few, many = case(gpus="8"), case(gpus="1024")
    assert few.sent.value < many.sent.value < 2 * many.gradients.value
    assert (few.hops.value, many.hops.value) == (14, 2046)
    assert many.slice.value == pytest.approx(many.bucket_bytes / 1024)


def test_inside_a_node_the_ring_runs_at_nvlink_speed() -> None:
    assert case(gpus="8").bandwidth.value == 450e9
    assert case(gpus="16").bandwidth.value == 400e9


def test_a_part_of_a_node_is_refused_with_the_nearest_whole_ones() -> None:
    with pytest.raises(Refusal) as caught:
        DDP.frames(DDP.values({"gpus": "99"}))
    assert (caught.value.field, caught.value.nearest) == ("gpus", "96")


def test_the_question_has_the_engines_answer_and_knows_the_usual_mistake() -> None:
    asked = DDP.question(DDP.values({})).answer
    assert asked is not None and asked.value == 21e9
    wrong = asked.formula.recognise(42e9, **asked.numbers)
    assert wrong is not None and wrong.title == "grows with the ranks"


def test_what_people_say_is_put_right_with_numbers() -> None:
    said = {each.said: each.instead for each in DDP.misconceptions(DDP.values({}))}
    assert "on 1,024 GPUs, 28 GB at most" in said["Traffic grows with the number of GPUs."]
