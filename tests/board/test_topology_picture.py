"""The floor: everything stands in its place at every size, the browser is told the same places, and a drawing stays small."""

import re
from typing import Any

import pytest

from app.board.figures.floor import Floor
from app.board.figures.marks import LEVELS, MIXED, Marks
from app.board.figures.topology_floor import floor_of
from app.board.figures.topology_picture import NARROW, WIDE, TopologyPicture
from app.board.figures.wire_bars import wire_bars
from engine.accounts.ledger import wire_ledger
from engine.catalog.hardware import cluster_named
from engine.estimate import Estimate, estimate
from engine.scenario import scenario_from

BIG = {"model": "llama-3-405b", "layout": {"pp": 16, "cp": 2, "micro_batches": 8}}
RUNS: dict[str, dict[str, Any]] = {
    "card": {},
    "one node": {"gpus": 8, "layout": {"pp": 1, "micro_batches": 8}},
    "two units": {"gpus": 512},
    "racks": {"cluster": "gb200-nvl72", "gpus": 1152},
    "plain Ethernet": {"cluster": "hgx-h100-roce"},
    "A100": {"cluster": "hgx-a100-80gb", "gpus": 640, "layout": {"micro_batches": 4}},
    "MI300X": {"cluster": "mi300x"},
    "16k": {**BIG, "gpus": 16384},
    "131k": {**BIG, "gpus": 131072},
    "a unit that is not full": {"gpus": 96},
    "experts": {"model": "mixtral-8x7b", "gpus": 256, "layout": {"tp": 1, "pp": 2, "ep": 8}},
}


def made(**given: Any) -> Estimate:
    return estimate(scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024, **given}))


def picture(run: Estimate, **more: Any) -> TopologyPicture:
    return TopologyPicture(run.step.placement, wire_ledger(run), more.pop("you", 0), **more)


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("name", RUNS)
def test_every_mark_stands_inside_the_picture_and_on_no_other(name: str, narrow: bool) -> None:
    drawn = picture(made(**RUNS[name]), narrow=narrow)
    width, height = NARROW if narrow else WIDE
    for marks in drawn.marks:
        boxes = marks.boxes
        assert len({(round(x, 2), round(y, 2)) for x, y, _, _ in boxes}) == len(boxes)
        assert all(x >= 0 and y >= 0 and x + w <= width and y + h <= height for x, y, w, h in boxes)
        assert all(w > 1.5 and h > 1.5 for _, _, w, h in boxes)


@pytest.mark.parametrize("name", RUNS)
def test_marks_are_where_the_floor_has_them_and_where_the_browser_is_told(name: str) -> None:
    for marks in picture(made(**RUNS[name])).marks:
        told: dict[str, Any] = marks.geometry()
        for mark in {0, len(marks.boxes) // 3, len(marks.boxes) - 1}:
            assert marks.boxes[mark] == pytest.approx(marks.box(mark), abs=0.01)
            (left, top), (dx, dy) = told["units"][mark // told["each"]], told["marks"][mark % told["each"]]
            assert (left + dx, top + dy) == pytest.approx(marks.boxes[mark][:2], abs=0.02)


@pytest.mark.parametrize("name", RUNS)
def test_every_gpu_stands_in_its_node_and_every_node_in_its_unit(name: str) -> None:
    floor = picture(made(**RUNS[name])).floors[-1]
    for rank in list(floor.drawn_ranks)[::37]:
        gpu, node, unit = floor.gpu(rank), floor.node(floor.node_of(rank)), floor.unit(floor.unit_of(rank))
        assert node.x <= gpu.x and gpu.x + gpu.width <= node.x + node.width + 0.01
        assert node.y <= gpu.y and gpu.bottom <= node.bottom + 0.01
        assert unit.x <= node.x and node.x + node.width <= unit.x + unit.width + 0.01
        assert unit.y <= node.y and node.bottom <= unit.bottom + 0.01


def test_large_floors_show_nodes_then_units_and_a_lens() -> None:
    assert [marks.detail for marks in picture(made()).marks] == ["gpu"]
    assert [marks.detail for marks in picture(made(**RUNS["16k"])).marks] == ["node", "gpu"]
    far, near = picture(made(**RUNS["131k"]), you=70_000).marks
    assert (far.detail, near.detail) == ("unit", "gpu")
    assert 70_000 in near.floor.drawn_ranks and len(near.floor.drawn_ranks) == 256


@pytest.mark.parametrize("name", RUNS)
def test_a_drawing_is_small_and_the_same_each_time(name: str) -> None:
    run = made(**RUNS[name])
    once, again = (picture(run, colour="pp").figure().svg() for _ in range(2))
    assert once == again
    assert once.count("<path") < 250 and len(once) < 400_000


def test_shades_deal_the_places_of_an_axis_in_order() -> None:
    run = made(**RUNS["16k"])
    marks = picture(run).marks[0]
    levels = marks.by_level(run.step.placement, "pp")
    assert sorted(levels) == list(range(LEVELS))
    assert sum(map(len, levels.values())) == len(marks.boxes)


def test_a_node_that_holds_several_places_of_an_axis_has_no_shade_of_it() -> None:
    run = made(**RUNS["16k"])
    marks = picture(run).marks[0]
    assert set(marks.coordinates(run.step.placement, "tp").tolist()) == {MIXED}
    assert marks.by_level(run.step.placement, "tp") == {}


def test_what_crosses_the_spine_is_drawn_on_the_uplinks() -> None:
    inner, outer = made(), made(layout={"rank_order": "tp-cp-ep-pp-dp"})
    assert re.search(r'class="uplink uplink-pp"><path', picture(inner).figure().svg())
    assert not re.search(r'class="uplink uplink-dp"><path', picture(inner).figure().svg())
    assert re.search(r'class="uplink uplink-dp"><path', picture(outer).figure().svg())
    crowded = made(cluster={"base": "hgx-h100", "oversubscription": 4})
    assert "uplink-pp uplink-crowded" in picture(crowded).figure().svg()


def test_a_lost_node_is_crossed_out_and_all_that_wait_are_lit() -> None:
    run = made()
    drawn = picture(run, lost=range(72, 80))
    assert drawn._peers("dp") == list(range(256))
    assert "8 GPUs are gone" in drawn.figure().svg()


def test_the_picture_says_in_words_what_it_shows() -> None:
    words = picture(made(), you=74).description
    assert words.startswith("1,024 GPUs in 128 nodes and 4 units. Rank 74 in node 9 talks to:")
    assert "DP with 31 others, under one leaf switch" in words


def test_links_are_as_busy_as_the_ledger_says() -> None:
    rows = wire_ledger(made())
    figure = wire_bars(rows, link=lambda name: f"/{name}")
    assert figure.svg().count('<a class="part"') == 4  # TP on NVLink, DP and PP on NICs, PP on uplinks
    assert all(0 <= row.busy_nic.value <= 1 for row in rows)


def test_a_floor_of_one_node_still_has_its_leaves() -> None:
    floor = floor_of(cluster_named("hgx-h100"), 8, 0, 0, 600, 400)
    assert isinstance(floor, Floor) and floor.units == 1
    assert floor.leaf(0, 7).x > floor.leaf(0, 0).x
    assert Marks(floor).holding([3, 99]) == [3]
