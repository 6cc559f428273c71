"""Charts as data: what they say, and that nothing in them names a colour."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from app.board.charts import knob_curves, memory_over_step, thinned, turn
from engine.catalog.scenarios import preset_document
from engine.language.units import GIB
from tests.board.figures import CASES, case

TOKENS = Path(__file__).parents[2] / "static" / "css" / "tokens.css"
CARD = preset_document()


def strings(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        yield from (text for one in part.values() for text in strings(one))
    elif isinstance(part, list):
        yield from (text for one in part for text in strings(one))
    elif isinstance(part, str):
        yield part


@pytest.mark.parametrize("name", CASES)
def test_memory_peaks_where_the_memory_model_says(name: str) -> None:
    chart = memory_over_step(case(name))
    for line in chart["data"][:-1]:
        stage = case(name).stages[int(line["name"].removeprefix("stage "))]
        assert max(line["y"]) * GIB == pytest.approx(stage.total.value)
    assert chart["data"][-1]["y"][0] * GIB == case(name).capacity_bytes


@pytest.mark.parametrize("name", CASES)
def test_a_chart_is_small_enough_to_send_while_a_slider_moves(name: str) -> None:
    assert len(orjson.dumps(memory_over_step(case(name)))) < 200_000


def turned(name: str, values: list[int]) -> list:
    return [turn(value, lambda value=value: {**CARD, "layout": {name: value}}) for value in values]


def tensor_chart(values: list[int], current: int) -> dict[str, Any]:
    return knob_curves("tp", turned("tp", values), current, case("card").capacity_bytes)


def test_a_turned_knob_gives_what_a_scenario_with_that_value_gives() -> None:
    turns = turned("micro_batches", [8, 16])
    assert turns[1].mfu == case("card").mfu.causal.value
    assert turns[1].step_s == case("card").step.seconds.value
    assert turns[0].mfu < turns[1].mfu


def test_a_value_without_meaning_is_a_gap_that_says_why() -> None:
    chart = tensor_chart([2, 3, 4, 8], 8)
    assert all(line["y"][1] is None for line in chart["data"][:3])
    crosses = chart["data"][3]
    assert crosses["x"] == [3] and "tp = 3" in crosses["text"][0] and "64" in crosses["text"][0]


def test_where_the_knob_stands_is_marked() -> None:
    assert tensor_chart([4, 8], 8)["layout"]["shapes"][0]["x0"] == 8


def test_the_memory_of_the_gpu_is_a_line() -> None:
    assert tensor_chart([4, 8], 8)["layout"]["shapes"][1]["y0"] == case("card").capacity_bytes / GIB


def test_colours_are_names_of_tokens() -> None:
    known = set(re.findall(r"(--[\w-]+):", TOKENS.read_text(encoding="utf-8")))
    for chart in (memory_over_step(case("card")), tensor_chart([2, 3, 4], 4)):
        named = {text for text in strings(chart) if text.startswith("--")}
        assert named and named <= known
        assert not [text for text in strings(chart) if re.match(r"#|rgb", text)]


def test_thinning_keeps_the_ends_and_the_peak() -> None:
    points = [(float(at), float(at * 7919 % 1000)) for at in range(5000)]
    kept = list(thinned(points, most=100))
    assert len(kept) == 100 and kept[0] == points[0] and kept[-1] == points[-1]
    assert max(held for _, held in kept) == max(held for _, held in points)
    assert kept == sorted(kept)
