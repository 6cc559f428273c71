"""The hand draws the same thing twice, stays near its mark, and says little."""

import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from app.board import pen
from app.board.figures.doodles import DOODLES, doodle
from app.board.svg import PATTERNS, SOLID, Figure, swatch

STROKES = {
    "rectangle": lambda seed: pen.rectangle(10, 20, 200, 60, seed),
    "rounded": lambda seed: pen.rectangle(10, 20, 200, 60, seed, radius=12),
    "line": lambda seed: pen.line(10, 20, 210, 80, seed),
    "underline": lambda seed: pen.underline(10, 80, 200, seed),
    "polyline": lambda seed: pen.polyline([(10, 20), (100, 80), (210, 40)], seed),
    "circle": lambda seed: pen.circle(110, 50, 30, seed),
    "arc arrow": lambda seed: pen.arc_arrow(10, 40, 210, 40, 5, seed),
    "tick": lambda seed: pen.tick(100, 50, 20, seed),
    "cross": lambda seed: pen.cross(100, 50, 20, seed),
}


def coordinates(path: str) -> list[tuple[float, float]]:
    numbers = [float(text) for text in re.findall(r"-?\d+\.?\d*", path)]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


@pytest.mark.parametrize("name", STROKES)
def test_the_same_seed_gives_the_same_bytes_and_another_seed_another_hand(name: str) -> None:
    assert STROKES[name]("a") == STROKES[name]("a") != STROKES[name]("b")


@pytest.mark.parametrize("name", STROKES)
def test_a_stroke_stays_within_a_few_pixels_of_what_was_asked_for(name: str) -> None:
    for seed in map(str, range(200)):
        for x, y in coordinates(STROKES[name](seed)):
            assert 3 <= x <= 217 and 13 <= y <= 87


@pytest.mark.parametrize("name", STROKES)
def test_coordinates_have_at_most_one_decimal(name: str) -> None:
    assert not re.search(r"\.\d\d", STROKES[name]("a"))


def test_the_wobble_does_not_depend_on_size_so_a_growing_bar_does_not_tremble() -> None:
    small, large = coordinates(pen.rectangle(0, 0, 100, 40, "bar")), coordinates(pen.rectangle(0, 0, 101, 40, "bar"))
    assert max(abs(b[0] - a[0]) + abs(b[1] - a[1]) for a, b in zip(small, large, strict=True)) < 1.2


def test_a_rectangle_is_smaller_than_200_bytes_and_a_thousand_cells_are_one_path() -> None:
    assert len(pen.rectangle(100, 200, 300, 400, "a")) < 200
    assert pen.cells([(column * 10, 0, 8, 8) for column in range(1024)]).count("M") == 1024


def every_shape() -> Figure:
    figure = Figure("all", 300, 200, 'A & B <"', "What < can be read")
    for at, fill in enumerate(sorted(SOLID | set(PATTERNS))):
        figure.rectangle(at * 10, 0, 9, 20, fill=fill)
    figure.line(0, 0, 9, 9, stroke="dashed")
    figure.arrow(0, 0, 50, 50, lift=5)
    figure.arrow(0, 0, 50, 50)
    figure.underline(0, 40, 60)
    figure.circle(50, 50, 20)
    figure.polyline([(0, 0), (9, 9)])
    figure.tick(9, 9, 9)
    figure.cross(9, 9, 9)
    figure.cells([(0, 0, 5, 5)], fill="plain")
    figure.text(0, 50, "a < b & c", "number", anchor="end")
    return figure


def test_a_figure_is_well_formed_and_the_same_every_time() -> None:
    assert ElementTree.fromstring(every_shape().svg()) is not None
    assert every_shape().svg() == every_shape().svg()


def test_a_figure_carries_no_style_so_that_the_policy_does_not_mind() -> None:
    assert "style" not in every_shape().svg()


def test_a_figure_says_what_it_shows_and_an_ornament_keeps_silent() -> None:
    assert 'role="img" aria-labelledby="all-title all-desc"' in every_shape().svg()
    assert 'aria-hidden="true"' in Figure("ornament", 10, 10).svg()


def test_two_figures_on_one_page_never_share_an_id() -> None:
    def ids(figure: Figure) -> set[str]:
        return set(re.findall(r'id="([^"]+)"', figure.svg()))

    one, two = Figure("one", 9, 9, "one"), Figure("two", 9, 9, "two")
    for figure in (one, two):
        figure.rectangle(0, 0, 5, 5, fill="gradients")
    assert ids(one) and not ids(one) & ids(two)


def test_a_key_keeps_the_hand_steady_when_shapes_are_added_before_it() -> None:
    first, second = Figure("f", 99, 99), Figure("f", 99, 99)
    second.line(0, 0, 50, 0)
    for figure in (first, second):
        figure.rectangle(5, 5, 60, 30, key="bar")
    assert re.findall(r'd="([^"]+)"', first.svg())[-1] == re.findall(r'd="([^"]+)"', second.svg())[-1]


UNKNOWN: dict[str, Callable[[Figure], None]] = {
    "fill": lambda figure: figure.rectangle(0, 0, 5, 5, fill="pink"),
    "ink": lambda figure: figure.rectangle(0, 0, 5, 5, ink="pink"),
    "style": lambda figure: figure.text(0, 0, "a", "headline"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_name_is_an_error_that_lists_the_known_ones(name: str) -> None:
    with pytest.raises(ValueError, match="there are"):
        UNKNOWN[name](Figure("f", 9, 9))


@pytest.mark.parametrize("name", DOODLES)
def test_every_doodle_draws(name: str) -> None:
    assert ElementTree.fromstring(doodle(name).svg()) is not None


@pytest.mark.parametrize("kind", sorted(SOLID | set(PATTERNS)))
def test_every_fill_has_a_swatch(kind: str) -> None:
    assert kind in swatch(kind).svg()
