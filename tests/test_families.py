"""A family is listed once: outside its own folder nobody keeps a list of its members' names."""

import ast
from collections.abc import Iterator, Set
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from app.board.scenes import SCENES
from app.runner.catalog import DEMOS
from engine.catalog.calibration import software
from engine.catalog.hardware import cluster_names, gpu_names
from engine.catalog.model import catalogue
from engine.catalog.precision import PRECISIONS
from engine.export import TARGETS
from engine.layout.layout import AXES
from engine.pipeline.schedules import SCHEDULES, SHOWN_ONLY

ROOT = Path(__file__).parent.parent
MANY = 3  # names in one list are a list of members, not a mention of two


class Family(NamedTuple):
    """Names of the members, and where alone they may stand in a list."""

    names: Set[str]
    home: str


def finding_codes() -> set[str]:
    """The codes of all red flags: what stands first in each Finding that is made."""
    made = (
        call.args[0]
        for folder in ("findings", "advice")
        for path in sorted((ROOT / "engine" / folder).glob("*.py"))
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Finding" and call.args
    )
    return {code.value for code in made if isinstance(code, ast.Constant) and isinstance(code.value, str)}


FAMILIES = {
    "schedules": Family({*SCHEDULES, *SHOWN_ONLY}, "engine/pipeline/schedules"),
    "PyTorch's schedules": Family({s.torch_name for s in SCHEDULES.values()} - {""}, "engine/pipeline/schedules"),
    "exports": Family({*TARGETS}, "engine/export/__init__.py"),
    "scenes": Family({*SCENES}, "app/board/scenes/__init__.py"),
    "demos": Family({*DEMOS}, "app/runner/catalog.py"),
    "stacks": Family({*software()}, "engine/catalog/calibration.py"),
    "precisions": Family({*PRECISIONS}, "engine/catalog/precision.py"),
    "GPUs": Family({*gpu_names()}, "engine/catalog/hardware.py"),
    "clusters": Family({*cluster_names()}, "engine/catalog/hardware.py"),
    "models": Family({*catalogue()}, "engine/catalog/model.py"),
    "red flags": Family(finding_codes(), "engine/findings"),
}


def lists_in(tree: ast.AST) -> Iterator[tuple[int, set[str]]]:
    """Each tuple, list, set, dictionary and Literal with its line and the texts that stand in it, pairs looked into."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            members = [part for item in node.elts for part in (item, *getattr(item, "elts", ()))]
        elif isinstance(node, ast.Dict):
            members = [*(key for key in node.keys if key), *node.values]
        else:
            continue
        yield (
            node.lineno,
            {item.value for item in members if isinstance(item, ast.Constant) and isinstance(item.value, str)},
        )


@cache
def lists_of(text: str) -> tuple[tuple[int, set[str]], ...]:
    """The lists of a source, read once for all families."""
    return tuple(lists_in(ast.parse(text)))


def found_in(text: str, names: Set[str]) -> list[str]:
    """The lists in a source text that hold many of these names. Axes are no family: scenes and demos only share their names."""
    return [
        f"line {line}: {', '.join(sorted(held))}"
        for line, texts in lists_of(text)
        if len(held := texts & (names - {*AXES})) >= MANY
    ]


@pytest.mark.parametrize("name", FAMILIES)
def test_nobody_keeps_a_list_of_its_members(name: str) -> None:
    family = FAMILIES[name]
    assert len(family.names) > MANY
    found = {
        str(path.relative_to(ROOT)): lists
        for folder in ("engine", "app")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not str(path.relative_to(ROOT)).startswith(family.home)
        and (lists := found_in(path.read_text(encoding="utf-8"), family.names))
    }
    assert found == {}


@pytest.mark.parametrize(
    "text",
    [
        'x = ("gpipe", "1f1b", "zb-h1")',
        'x = ["gpipe", "1f1b", "zb-h1"]',
        'x = {"gpipe", "1f1b", "zb-h1"}',
        'x = {"gpipe": 1, "1f1b": 2, "zb-h1": 3}',
        'x = (("gpipe", 1), ("1f1b", 2), ("zb-h1", 3))',
        'Name = Literal["gpipe", "1f1b", "zb-h1"]',
    ],
)
def test_a_list_would_be_found(text: str) -> None:
    assert found_in(text, FAMILIES["schedules"].names) == ["line 1: 1f1b, gpipe, zb-h1"]
    assert found_in(text.replace('"zb-h1"', '"other"'), FAMILIES["schedules"].names) == []
