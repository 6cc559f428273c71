"""What the tests of single scenes share: settings as cases, and pictures that are whole and legible."""

from collections.abc import Iterable, Sequence
from itertools import combinations

import pytest

from app.board.legend import SIZES
from app.board.scenes.base import HEIGHT, MOST_WORDS, WIDTH, Frame
from tests.board.figures import placed

SMALLEST = 16  # units of the drawing, that the last row can read


def each_of(settings: Iterable[dict[str, str]]) -> pytest.MarkDecorator:
    """A test for each setting of the knobs."""
    return pytest.mark.parametrize(
        "given", settings, ids=lambda given: " ".join(f"{k}={v}" for k, v in given.items()) or "default"
    )


def assert_whole(made: Sequence[Frame], again: Sequence[Frame], count: int) -> None:
    """So many frames, the same ones each time, with short captions and keys of their own."""
    assert len(made) == count
    for frame, same in zip(made, again, strict=True):
        svg = frame.figure.svg()
        assert svg == same.figure.svg()
        assert len(frame.caption.split()) <= MOST_WORDS, frame.caption
        assert len(set(frame.figure.keys)) == len(frame.figure.keys)
        assert "nan" not in svg and "inf " not in svg


def assert_inside(frame: Frame, hair: float = 1) -> None:
    """No words leave the picture, by more than a hair at its sides."""
    for each in placed(frame.figure):
        assert each.left >= -hair and each.right <= WIDTH + hair, (frame.name, each)
        assert each.top >= 1 and each.bottom <= HEIGHT + 1, (frame.name, each)


def assert_legible(frames: Iterable[Frame]) -> None:
    """No words are small, overlap or leave the picture."""
    for frame in frames:
        assert_inside(frame)
        words = placed(frame.figure)
        assert all(SIZES[each.style] >= SMALLEST for each in words), frame.name
        for one, two in combinations(words, 2):
            assert not one.overlaps(two), (frame.name, one, two)
