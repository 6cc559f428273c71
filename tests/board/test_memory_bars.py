"""What one GPU holds, drawn."""

import re
import time
from pathlib import Path
from typing import Any

import pytest

from app.board.figures.memory_bars import PARTS, memory_bars
from app.board.legend import SIZES
from app.board.linked import LinkedFigure
from engine.language.units import bytes_text
from tests.board.figures import CASES, assert_as_before, assert_legible, case, fills_of, words_of

STYLES = Path(__file__).parents[2] / "static" / "css" / "figures.css"


def bars(name: str, **options: Any) -> LinkedFigure:
    found = case(name)
    return memory_bars(found.stages, found.capacity_bytes, **options)


def test_the_card_looks_as_it_did_when_somebody_last_looked_at_it() -> None:
    assert_as_before(bars("card"), "memory-bars")
    assert_as_before(bars("card", narrow=True), "memory-bars-narrow")


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_no_words_overlap_and_none_leave_the_drawing(name: str, narrow: bool) -> None:
    assert_legible(bars(name, narrow=narrow))


@pytest.mark.parametrize("name", CASES)
def test_the_fullest_stage_and_its_total_are_always_told(name: str) -> None:
    found = case(name)
    texts = [words.text for words in words_of(bars(name))]
    assert f"stage {found.fullest.stage}" in texts
    assert bytes_text(found.fullest.total.value, binary=True) in texts


@pytest.mark.parametrize("name", CASES)
def test_every_fill_has_its_name_in_the_legend(name: str) -> None:
    figure = bars(name)
    texts = {words.text for words in words_of(figure)}
    assert fills_of(figure.svg()) - {"overflow", "board"} <= set(PARTS) <= texts
    assert "reserved" in texts


def test_what_does_not_fit_is_crossed_out_and_what_fits_is_not() -> None:
    assert "overflow" not in fills_of(bars("card").svg())
    assert "overflow" in fills_of(bars("fsdp").svg())
    assert case("fsdp").fullest.needed.value > case("fsdp").capacity_bytes


def test_a_bar_many_times_too_long_says_how_many_gpus_it_needs() -> None:
    texts = [words.text for words in words_of(bars("ddp"))]
    assert any(re.fullmatch(r"needs \d+ GPUs", text) for text in texts)


def test_segments_are_as_wide_as_their_bytes() -> None:
    found = case("many micro-batches")
    svg = bars("many micro-batches").svg()
    path = re.search(r'fill-weights" d="M([\d.]+) [\d.]+h([\d.]+)', svg)
    axis = max(found.capacity_bytes, max(stage.needed.value for stage in found.stages))
    expected = found.stages[0].weights.value / axis * (720 - 92 - 66)
    assert path and float(path[2]) == pytest.approx(expected, abs=0.1)


def test_every_part_leads_to_its_working_and_the_tab_key_stops_at_few() -> None:
    svg = bars("card", link=lambda stage, part: f"/w?{stage}.{part}").svg()
    for part in (*PARTS, "total"):
        assert f'href="/w?0.{part}"' in svg
    stops = [link for link in re.findall("<a [^>]*>", svg) if "tabindex" not in link]
    assert len(stops) == len(PARTS) + len(case("card").stages)
    assert 'role="group"' in svg and 'role="img"' in bars("card").svg()


def test_the_ruler_knows_the_sizes_of_the_style_sheet() -> None:
    css = STYLES.read_text(encoding="utf-8")
    for style, size in SIZES.items():
        rule = re.search(rf"\.drawing \.t-{style} {{[^}}]*?(\d+)px", css)
        assert size == (int(rule[1]) if rule else 16), style


def test_sixty_four_stages_stay_small() -> None:
    start = time.perf_counter()
    svg = bars("64 stages").svg()
    print(f"{len(svg)} bytes in {1e3 * (time.perf_counter() - start):.1f} ms")
    assert len(svg) < 25_000
