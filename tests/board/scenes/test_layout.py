"""The layout scene: its figures against the engine, its drawings at the edges of its knobs."""

from itertools import pairwise

import pytest

from app.board.figures.topology_floor import floor_of
from app.board.scenes.layout.case import ORDERS, Case, longest, traffic_s, waiting
from app.board.scenes.layout.deep import GpuShot
from app.board.scenes.layout.scene import LAYOUT
from app.board.scenes.layout.story import Story
from engine.catalog.hardware import cluster_named
from engine.catalog.scenarios import preset_document
from engine.estimate import estimate
from engine.language.refusal import Refusal
from engine.language.units import seconds_text
from engine.network.collectives import ring_half_s, send_s
from engine.scenario import scenario_from
from tests.board.films.reading import film_of
from tests.board.scenes.drawings import each_of

EXTREMES = (
    {},
    {"order": "tp-pp-dp"},
    {"tp": "1", "pp": "1", "oversubscription": "7"},
    {"tp": "64", "pp": "16", "nic": "200", "you": "1023"},
    {"tp": "2", "pp": "32", "order": "tp-pp-dp", "you": "0"},
    {"tp": "32", "pp": "32"},
    {"oversubscription": "1"},
)
each_setting = each_of(EXTREMES)


def case(**given: str) -> Case:
    return Case(LAYOUT.values(given))


@each_setting
def test_it_asks_answers_and_puts_right(given: dict[str, str]) -> None:
    values = LAYOUT.values(given)
    assert LAYOUT.question(values).right in range(4)
    assert all(term.text for term in LAYOUT.numbers(values))
    assert len(LAYOUT.misconceptions(values)) == 3


def test_the_axes_cut_1024_gpus_into_128_256_and_32_groups() -> None:
    assert [case().groups(axis).value for axis in ("tp", "pp", "dp")] == [128, 256, 32]


@each_setting
def test_your_rank_is_made_of_your_places_on_the_axes(given: dict[str, str]) -> None:
    assert case(**given).rank.value == case(**given).you


def test_a_stage_is_a_unit_so_that_gradients_stay_under_their_leaves() -> None:
    placed = case().plain.step.placement
    assert placed.coordinates(74) == {"cp": 0, "tp": 2, "dp": 9, "pp": 0}
    assert [placed.reach(axis).wire for axis in ("tp", "dp", "pp")] == ["nvlink", "leaf", "spine"]
    assert {case().floor.unit_of(rank) for rank in placed.group("dp", 74)} == {0}


def test_a_gpu_of_stage_0_holds_the_card_s_memory() -> None:
    held = case().plain.fullest
    assert held.parameters == pytest.approx(2.20e9, rel=0.05)
    assert held.state.value == pytest.approx(14.1e9, rel=0.03)
    assert held.activations.value == pytest.approx(22.8e9, rel=0.02)


def test_gradients_and_weights_take_a_quarter_of_a_second_at_line_rate_and_twice_that_through_a_2_to_1_spine() -> None:
    wire, state = cluster_named("hgx-h100").nic_bytes_per_s, 6 * 2.205e9
    assert ring_half_s(state, 32, wire, 0) == pytest.approx(0.26, abs=0.005)
    assert ring_half_s(state, 32, wire / 2, 0) == pytest.approx(0.51, abs=0.005)
    swapped = case(order="tp-pp-dp")
    assert traffic_s(swapped.made(swapped.order, 2), "dp") == pytest.approx(
        2 * traffic_s(swapped.plain, "dp"), rel=0.01
    )
    assert traffic_s(case().made(case().order, 2), "dp") == traffic_s(case().plain, "dp")


def test_the_step_is_that_of_the_question_and_a_hand_over_a_third_of_a_millisecond() -> None:
    made = case().plain
    hop = longest(made, "pp")
    card = preset_document()
    assert made.step.seconds.value == estimate(scenario_from(card)).step.seconds.value
    assert hop is not None
    assert hop.payload_bytes == pytest.approx(16.8e6, rel=0.01)
    assert send_s(hop.payload_bytes, 50e9, 0) == pytest.approx(0.34e-3, rel=0.02)


def test_tp_over_nodes_more_than_doubles_the_step() -> None:
    stretched = case().made(case().stretched)
    one, was = longest(stretched, "tp"), longest(case().plain, "tp")
    assert one is not None and was is not None
    assert stretched.step.placement.reach("tp").nodes == 8
    assert one.each_s > 6 * was.each_s
    assert stretched.step.seconds.value > 2 * case().plain.step.seconds.value


def test_a_lost_node_stops_its_unit_and_its_pipelines_at_once() -> None:
    assert waiting(case()).value == 256 + 3 * 8 - 8


def test_what_does_not_multiply_is_refused_with_the_engine_s_sentence() -> None:
    with pytest.raises(Refusal) as refused:
        LAYOUT.frames(LAYOUT.values({"pp": "5"}))
    assert str(refused.value) == (
        "pp = 5: gpus = 1024: must be a multiple of tp 8 x cp 1 x pp 5 = 40; the nearest that works: 4 or 8"
    )
    with pytest.raises(Refusal, match="tp = 6: tp must divide the 64 attention heads; the nearest that works: 4 or 8"):
        LAYOUT.frames(LAYOUT.values({"tp": "6"}))
    with pytest.raises(Refusal, match=r"pp = 32: .*the nearest that works: 16"):
        LAYOUT.frames(LAYOUT.values({"tp": "64", "pp": "32"}))


def test_every_gpu_stands_in_its_node_and_no_two_on_one_another() -> None:
    floor = floor_of(cluster_named("hgx-h100"), 1024, 54, 4, 478, 300)
    places = {floor.gpu(rank).sides[:2] for rank in range(1024)}
    assert len(places) == 1024
    for rank in (0, 74, 511, 1023):
        gpu, node = floor.gpu(rank), floor.node(floor.node_of(rank))
        assert node.x <= gpu.x and gpu.x + gpu.width <= node.x + node.width
        assert node.y <= gpu.y and gpu.bottom <= node.bottom


def test_other_floors_stand_too() -> None:
    for gpus, per_node, per_unit in ((144, 72, 8), (8, 8, 32), (320, 8, 20)):
        shape = {"gpus_per_node": per_node, "nodes_per_unit": per_unit}
        floor = floor_of(cluster_named("hgx-h100").model_copy(update=shape), gpus, 0, 0, 500, 300)
        last = floor.gpu(gpus - 1)
        assert last.x + last.width <= 500 and last.bottom <= 300


def test_numbers_in_captions_come_from_the_knobs() -> None:
    film = film_of("layout", oversubscription="3")
    caption = next(stop.caption for stop in film.stops if "spine 3:1" in stop.caption)
    here, there = (case(oversubscription="3").made(order, 3) for order in ORDERS)
    assert seconds_text(traffic_s(here, "dp")) in caption and seconds_text(traffic_s(there, "dp")) in caption


def test_the_camera_goes_into_an_operation_of_the_step_and_every_layer_of_it_is_the_engine_s() -> None:
    story = Story(case())
    assert story.close.work in story.made.step.timeline.intervals
    spans = [story.layer_span(layer) for layer in range(story.chunk.layers)]
    assert spans[0][0] == pytest.approx(story.close.work.start)
    assert spans[-1][1] == pytest.approx(story.close.work.end)
    assert all(before[1] == pytest.approx(after[0]) for before, after in pairwise(spans))


def test_the_box_of_the_gpu_is_as_full_as_the_engine_says() -> None:
    """Whole micro-batches from the timeline; of the one under way, its layers so far."""
    film = film_of("layout")
    story = Story(case())
    shot = GpuShot(film.wide, story)
    strip = next(actor for actor in film.wide.actors if actor.key == "breath")
    for layer in range(1, story.last_layer):
        e = story.layer_span(layer)[1]
        t = story.lens.ends(e) + 1e-3
        assert -strip.track.at(t)["tall"] / shot.scale == pytest.approx(shot.activations(e), rel=2e-3)
    held = story.made.stages[story.stage]
    assert shot.activations(story.close.work.end) <= held.activations.value * (1 + 1e-9)
