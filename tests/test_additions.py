"""One test performs every addition of the README's table, so that the table cannot lie.

All of them are made in one scratch copy of the tree, and looked at by one process: pages, pictures, documents and the
command line, as a user sees them.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from app.settings import settings
from tests.additions import CARD, RECIPES
from tests.scratch_tree import Ask, Tree

ROOT = Path(__file__).parent.parent
COPIED = ("engine", "app", "templates", "static", "pyproject.toml")
LOOKING = """
import io, json, sys
from contextlib import redirect_stdout
from fastapi.testclient import TestClient
from app.cli.main import main
from app.main import create_app

def typed(words):
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with redirect_stdout(out):
        try:
            code = main(words)
        except SystemExit as left:
            code = left.code or 0
    out.flush()
    return code, out.buffer.getvalue().decode()

def looked(client, what):
    if what[0].startswith("/"):
        answer = client.get(what[0])
    elif what[0] == "POST":
        answer = client.post(what[1], content=what[2])
    else:
        return typed(what)
    return 0 if answer.status_code == 200 else answer.status_code, answer.text

asks = json.load(sys.stdin)
with TestClient(create_app(), raise_server_exceptions=False) as client:
    answers = [looked(client, ask) for ask in asks]
json.dump(answers, sys.__stdout__)
"""


class Made(NamedTuple):
    """An addition: the files it had to touch, and what was asked with the answers."""

    changed: set[str]
    seen: list[tuple[Ask, int, str]]


def table() -> dict[str, str]:
    """The rows of the README's table by what they add; the rest of each row as it stands."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("## I want to add")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (an? [^|]+?) \| (.+) \|$", text, re.MULTILINE)
    return dict(rows)


ROWS = table()


def scratch(root: Path) -> None:
    """The tree as git knows it, with what is not committed yet."""
    command = ["git", "ls-files", "-co", "--exclude-standard", *COPIED]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if (ROOT / name).exists():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, root / name)
    (root / "plan.json").write_text(json.dumps({**CARD, "layout": {"schedule": "gpipe-again"}}))


def answers_of(root: Path, asks: list[Ask]) -> list[tuple[int, str]]:
    """What the scratch tree answers: 0 and the text, or another code where it fails."""
    places = {"SHARDBOARD_CACHE": settings().cache, "SHARDBOARD_DATA": root / "data", "PYTHONPATH": root}
    done = subprocess.run(
        [sys.executable, "-c", LOOKING],
        cwd=root,
        env={**os.environ, **{name: str(place) for name, place in places.items()}},
        input=json.dumps([ask.what for ask in asks]),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Made]]:
    """All additions, and what a user sees of them."""
    root = tmp_path_factory.mktemp("tree")
    scratch(root)
    trees = {row: Tree(root) for row in ROWS}
    asked = [(row, ask) for row in ROWS if row in RECIPES for ask in RECIPES[row](trees[row])]
    asked = [(row, ask) for row, ask in asked if find_spec("torch") or not ask.needs_torch]
    answers = answers_of(root, [ask for _, ask in asked])
    found: dict[str, Made] = {row: Made(trees[row].changed, []) for row in ROWS}
    for (row, ask), (code, text) in zip(asked, answers, strict=True):
        found[row].seen.append((ask, code, text))
    yield found
    shutil.rmtree(root)


def test_the_table_has_a_recipe_for_each_row_and_no_other() -> None:
    assert set(ROWS) == set(RECIPES) and len(ROWS) > 10


@pytest.mark.parametrize("row", ROWS)
def test_what_is_added_as_the_table_says_is_seen_wherever_it_belongs(row: str, made: dict[str, Made]) -> None:
    assert made[row].seen
    for ask, code, text in made[row].seen:
        assert code == 0, (ask.what, text[-600:])
        assert [words for words in ask.shows if words not in text] == [], ask.what


@pytest.mark.parametrize("row", ROWS)
def test_no_file_is_touched_that_its_row_does_not_name(row: str, made: dict[str, Made]) -> None:
    named = re.findall(r"`([\w./*-]+)`", ROWS[row])
    assert [file for file in made[row].changed if not any(fnmatch(file, name) for name in named)] == []
