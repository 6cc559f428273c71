"""The examples in docstrings are tests too: which files of the program are looked through for them."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The rule of conftest.py, for a program that lies in tmp_path."""
    spec = importlib.util.spec_from_file_location("chosen", ROOT / "conftest.py")
    assert spec and spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    monkeypatch.setattr(made, "PROGRAM", (tmp_path,))
    return made


@pytest.mark.parametrize(
    ("text", "with_torch", "without"),
    [
        ("x = 1\n", True, True),
        ('"""\n>>> 1\n1\n"""\n', None, None),
        ('"""\n>>> 1\n1\n"""\nimport torch\n', None, True),
        ('"""\n>>> 1\n1\n"""\nfrom torch import Tensor\n', None, True),
        ('"""\n>>> 1\n1\n"""\nimport torchless\n', None, None),
    ],
)
def test_a_file_without_an_example_or_without_its_torch_is_passed_over(
    chosen: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    with_torch: bool | None,
    without: bool | None,
) -> None:
    file = tmp_path / "module.py"
    file.write_text(text)
    monkeypatch.setattr(chosen, "find_spec", lambda name: object())
    assert chosen.pytest_ignore_collect(file) is with_torch
    monkeypatch.setattr(chosen, "find_spec", lambda name: None)
    assert chosen.pytest_ignore_collect(file) is without


def test_what_lies_outside_the_program_is_left_to_pytest(chosen: ModuleType, tmp_path: Path) -> None:
    assert chosen.pytest_ignore_collect(tmp_path.parent / "test_module.py") is None


def test_app_and_engine_are_both_looked_through(pytestconfig: pytest.Config) -> None:
    assert {"app", "engine"} <= set(pytestconfig.getini("testpaths"))
