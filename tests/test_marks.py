"""Which tests are quick: marks come from folder and fixtures, and a test that imports torch is not."""

import sys
from types import ModuleType, SimpleNamespace
from typing import cast

import pytest

from tests.conftest import TESTS, marks_of, pytest_runtest_call


def item(path: str, *fixtures: str, quick: bool = True) -> pytest.Item:
    mark = pytest.mark.quick if quick else None
    made = SimpleNamespace(path=TESTS / path, fixturenames=fixtures, get_closest_marker=lambda name: mark)
    return cast(pytest.Item, made)


@pytest.mark.parametrize(
    ("made", "marks"),
    [
        (item("browser/test_pages.py", "visit"), {"browser"}),
        (item("demo/test_verdict.py"), {"demo"}),
        (item("app/test_demos.py", "served"), {"demo"}),
        (item("engine/export/test_fsdp2.py", "loaded", "framework"), {"frameworks"}),
        (item("engine/export/test_torchtitan.py", "titan_folder"), {"frameworks"}),
        (item("engine/test_card.py", "card"), set()),
        (item("../app/settings.py"), set()),
    ],
)
def test_a_test_is_marked_by_its_folder_and_fixtures(made: pytest.Item, marks: set[str]) -> None:
    assert marks_of(made) == marks


@pytest.mark.parametrize(
    ("quick", "imports", "fails"), [(True, True, True), (True, False, False), (False, True, False)]
)
def test_a_quick_test_that_imports_torch_fails(
    monkeypatch: pytest.MonkeyPatch, quick: bool, imports: bool, fails: bool
) -> None:
    with monkeypatch.context() as patch:  # this test too is watched: nothing of it may be left
        patch.delitem(sys.modules, "torch", raising=False)
        running = pytest_runtest_call(item("app/test_home.py", quick=quick))
        next(running)
        if imports:
            patch.setitem(sys.modules, "torch", ModuleType("torch"))
        with pytest.raises(pytest.fail.Exception if fails else StopIteration):
            next(running)
