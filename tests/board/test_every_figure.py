"""A figure is there because something shows it."""

import ast
from pathlib import Path

import pytest

import app.board.figures as folder

FIGURES = Path(folder.__file__).parent
APP = FIGURES.parents[1]
NAMES = sorted(path.stem for path in FIGURES.glob("*.py") if path.stem != "__init__")


def users(name: str) -> set[str]:
    """Files of the application that import a figure's module."""
    module = f"app.board.figures.{name}"
    return {
        str(path.relative_to(APP))
        for path in APP.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == module
    }


@pytest.mark.parametrize("name", NAMES)
def test_something_shows_it(name: str) -> None:
    assert users(name)


def test_one_that_nobody_shows_would_be_found() -> None:
    assert users("nothing") == set()
