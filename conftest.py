"""Which files of the program hold tests: those with a runnable example. The others are not even imported."""

import re
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent
PROGRAM = (ROOT / "app", ROOT / "engine")
IMPORTS_TORCH = re.compile(r"^\s*(import|from) torch\b", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Passes over a module without `>>>`, and one that imports torch where there is none."""
    if collection_path.suffix != ".py" or not any(collection_path.is_relative_to(folder) for folder in PROGRAM):
        return None
    text = collection_path.read_text(encoding="utf-8")
    runs = ">>>" in text and (find_spec("torch") is not None or not IMPORTS_TORCH.search(text))
    return None if runs else True
