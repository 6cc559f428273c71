"""One step through the pipe, drawn."""

import re
import time
from typing import Any

import pytest

from app.board.figures.pipeline_timeline import pipeline_timeline
from app.board.linked import LinkedFigure
from engine.estimate import estimate
from engine.language.units import share_text
from engine.pipeline.simulator import run
from engine.pipeline.timeline import Interval, Timeline
from engine.scenario import scenario_from
from tests.board.figures import CASES, assert_as_before, assert_legible, case, words_of


def drawn(name: str, **options: Any) -> LinkedFigure:
    found = case(name)
    alone = {"bubble_of_total": found.alone.bubble_of_total, "bubble_of_ideal": found.alone.bubble_of_ideal}
    return pipeline_timeline(found.step.timeline, **alone, **options)


def cells(svg: str, kind: str) -> int:
    return sum(path.count("z") for path in re.findall(rf'<g class="op-{kind} shade[^>]*><path [^>]*d="([^"]*)"', svg))


def test_the_card_looks_as_it_did_when_somebody_last_looked_at_it() -> None:
    even = run("1f1b", stages=4, micro_batches=16)  # the card's schedule with times that no calibration moves
    assert_as_before(pipeline_timeline(even, in_seconds=False), "pipeline-timeline")
    assert_as_before(pipeline_timeline(even, in_seconds=False, narrow=True), "pipeline-timeline-narrow")


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_no_words_overlap_and_none_leave_the_drawing(name: str, narrow: bool) -> None:
    assert_legible(drawn(name, narrow=narrow))


def test_both_bubbles_are_quoted() -> None:
    alone = case("card").alone
    texts = [words.text for words in words_of(drawn("card"))]
    quoted = f"bubble {share_text(alone.bubble_of_total)} of the step · {share_text(alone.bubble_of_ideal)} of ideal"
    assert quoted in texts


@pytest.mark.parametrize("name", ["interleaved", "zb-h1", "405B", "dualpipev"])
def test_straight_cells_are_as_many_as_operations(name: str) -> None:
    svg, intervals = drawn(name).svg(), case(name).step.timeline.intervals
    for kind in {interval.kind for interval in intervals}:
        samples = 4 if kind == "F" and case(name).step.layout.vp > 1 else 0
        found = cells(svg, kind.lower())
        assert found - samples <= sum(interval.kind == kind for interval in intervals) <= found


@pytest.mark.parametrize("name", CASES)
def test_every_kind_has_its_letter_in_the_legend(name: str) -> None:
    kinds = {interval.kind for interval in case(name).step.timeline.intervals}
    assert kinds <= {words.text for words in words_of(drawn(name))}


def test_cells_have_their_number_where_there_is_room_for_all_of_a_kind() -> None:
    texts = [words.text for words in words_of(drawn("card"))]
    assert texts.count("15") == case("card").step.layout.pp
    assert not any(words.text == "15" for words in words_of(drawn("card", narrow=True)))


def test_chunks_are_told_apart_by_shade() -> None:
    svg = drawn("interleaved").svg()
    assert all(f"shade-{shade}" in svg for shade in range(4))
    assert "shade-1" not in drawn("card").svg()


def test_a_step_too_long_to_draw_says_what_is_left_out() -> None:
    found = estimate(
        scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024, "layout": {"micro_batches": 4096}})
    )
    timeline, micro_batches = found.step.timeline, found.scenario.layout.micro_batches
    assert len(timeline.intervals) < 2 * 4 * 4096
    figure = pipeline_timeline(timeline, micro_batches=micro_batches)
    assert any("of 4,096 micro-batches drawn: the middle repeats" in words.text for words in words_of(figure))
    assert_legible(figure)
    assert_legible(pipeline_timeline(timeline, micro_batches=micro_batches, narrow=True))


def test_a_step_that_is_drawn_whole_claims_no_break() -> None:
    timeline, micro_batches = case("card").step.timeline, case("card").scenario.layout.micro_batches
    assert timeline == case("card").step.timeline
    assert not any(
        "drawn" in words.text for words in words_of(pipeline_timeline(timeline, micro_batches=micro_batches))
    )


def test_a_wait_shows_as_the_row_behind_the_cells() -> None:
    late = Timeline(2, (Interval(0, "F", 0, 0, 0.0, 1.0), Interval(1, "F", 0, 0, 1.0, 2.0)), 2.0)
    svg = pipeline_timeline(late, in_seconds=False).svg()
    assert svg.index("-waiting)") < svg.index("op-f")
    assert "takes" not in svg


@pytest.mark.parametrize("name", CASES)
def test_a_drawing_stays_small(name: str) -> None:
    start = time.perf_counter()
    svg = drawn(name).svg()
    print(f"{name}: {len(svg)} bytes in {1e3 * (time.perf_counter() - start):.1f} ms")
    assert len(svg) < 60_000
