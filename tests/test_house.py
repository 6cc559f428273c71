"""The rules of the house: who may import whom, how long a file may be, and that every number has a source."""

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.catalog.calibration import fitted_calibration

ROOT = Path(__file__).parent.parent
ENGINE_MAY_IMPORT = {"engine", "numpy", "pydantic", "pydantic_core", "yaml"}
BOARD_MAY_NOT_IMPORT = {"fastapi", "starlette", "time", "datetime", "os", "socket", "urllib", "sqlite3", "subprocess"}
LONGEST_FILE, LONGEST_FUNCTION, LONGEST_ELEMENT = 300, 40, 150
MOST_FOLDERS, MOST_AT_THE_TOP = 20, 6
LONGEST_TEMPLATE_LINE = 160  # characters; the formatter keeps Python shorter
VAGUE = {"service", "services", "repository", "manager", "helper", "helpers", "common", "utils", "util"}
OF_OTHERS = ("*.woff", "*.woff2", "*.ttf", "*.otf", "*.min.js", "*.min.css", "*.map")

# Floors of the engine from the ground up: folders, and the modules beside them. Nothing imports what stands above it.
FLOORS = [
    {"language"},
    {"catalog", "asking"},
    {"pipeline"},
    {"layout"},
    {"memory"},
    {"compute"},
    {"network"},
    {"step", "run"},
    {"scenario"},
    {"estimate"},
    {"findings", "lens", "accounts", "workings", "export"},
    {"advice", "importing"},
    {"answer"},
    {"formulas"},
]
FLOOR = {name: number for number, names in enumerate(FLOORS) for name in names}


def files(*suffixes: str) -> list[Path]:
    """The project's own files: tracked, or not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    paths = [ROOT / line for line in listed.stdout.splitlines()]
    return [path for path in paths if path.suffix in suffixes and path.exists()]


def sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def only_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only a type checker reads."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not only_for_types(child):
            yield from walk(child)


def imports(path: Path, all_nodes: bool = False) -> set[str]:
    """Modules a file imports, in full.

    all_nodes   also those that only a type checker imports
    """
    found: set[str] = set()
    for node in ast.walk(tree(path)) if all_nodes else walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            siblings = {name for name in names if (ROOT / name.replace(".", "/")).with_suffix(".py").exists()}
            found |= names | ({node.module or ""} if names - siblings else set())
    return found


def known(path: Path, modules: set[str]) -> set[str]:
    return (imports(path) & modules) - {module_of(path)}


# Who may ask for the catalogue's factors: whoever makes a scenario, and pages that show them. All else is given some.
READ_THE_FACTORS = {
    "engine/scenario.py",
    "app/lessons/calls.py",
    "app/board/scenes/failures/case.py",
    "app/board/scenes/failures/scene.py",
}


def ids(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


ENGINE, APP = sources("engine"), sources("app")


def breaking(paths: list[Path], what: Callable[[Path], object]) -> dict[str, object]:
    """The files that break a rule, each with what breaks it. One test a rule: 400 files are read, not tested one by one."""
    return {str(path.relative_to(ROOT)): found for path in paths if (found := what(path))}


def test_the_engine_imports_the_standard_library_numpy_pydantic_and_yaml() -> None:
    def others(path: Path) -> set[str]:
        return {name.partition(".")[0] for name in imports(path)} - sys.stdlib_module_names - ENGINE_MAY_IMPORT

    assert breaking(ENGINE, others) == {}


def test_no_ring_of_imports() -> None:
    for folder in (ENGINE, APP):
        modules = {module_of(path) for path in folder}
        graph = {module_of(path): known(path, modules) for path in folder}
        assert ring_in(graph) == []


def ring_in(graph: dict[str, set[str]]) -> list[str]:
    """A ring of modules, or nothing. A package counts as what its __init__ imports."""
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for other in sorted(graph[name]):
            if found := visit(other, [*path, name]):
                return found
        done.add(name)
        return []

    return next((found for name in sorted(graph) if (found := visit(name, []))), [])


def folder_of(module: str) -> str:
    """The room a module stands in: app.plan, engine.memory; or the module itself where it stands at the top."""
    return ".".join(module.split(".")[:2])


def test_no_ring_of_rooms_not_even_for_the_type_checker() -> None:
    """Folders, not files: what only a type checker reads counts too, since whoever reads the code reads it."""
    modules = {module_of(path) for path in ENGINE + APP}
    graph: dict[str, set[str]] = {folder_of(module): set() for module in modules}
    for path in ENGINE + APP:
        graph[folder_of(module_of(path))] |= {folder_of(name) for name in imports(path, all_nodes=True) & modules}
    assert ring_in({room: others - {room, "app", "engine"} for room, others in graph.items()}) == []


@pytest.mark.parametrize("top", ["app", "engine"])
def test_a_level_of_the_tree_can_be_taken_in_at_a_glance(top: str) -> None:
    for folder in [ROOT / top, *(path for path in (ROOT / top).rglob("*") if path.is_dir())]:
        inside = [path for path in folder.iterdir() if path.is_dir() and path.name != "__pycache__"]
        assert len(inside) <= MOST_FOLDERS, folder
    assert len(list((ROOT / "app").glob("*.py"))) <= MOST_AT_THE_TOP


def test_a_ring_would_be_found() -> None:
    assert ring_in({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == ["a", "b", "c", "a"]
    assert ring_in({"a": {"b"}, "b": {"c"}, "c": set()}) == []


def test_no_import_goes_up_a_floor() -> None:
    def above(path: Path) -> set[str]:
        name = module_of(path).split(".")[1]
        used = {module.split(".")[1] for module in imports(path) if module.startswith("engine.")}
        return {other for other in used if FLOOR[other] > FLOOR[name]}

    assert breaking([path for path in ENGINE if path != ROOT / "engine" / "__init__.py"], above) == {}


def test_no_file_and_no_function_is_too_long() -> None:
    assert breaking(ENGINE + APP, long_parts) == {}


def long_parts(path: Path) -> list[str]:
    """The file, if it is too long, and its functions that are; docstrings do not count."""
    lines = len(path.read_text(encoding="utf-8").splitlines())
    found = [f"{lines} lines"] if lines > LONGEST_FILE else []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            described = node.body[0].end_lineno if ast.get_docstring(node) and len(node.body) > 1 else node.lineno
            if (node.end_lineno or 0) - (described or 0) > LONGEST_FUNCTION:
                found.append(node.name)
    return found


def test_no_script_and_no_style_sheet_is_too_long() -> None:
    for path in files(".js", ".css"):
        limit = LONGEST_ELEMENT if path.parent.name == "elements" else LONGEST_FILE
        assert len(path.read_text(encoding="utf-8").splitlines()) <= limit, path.name


def test_style_sheets_in_a_folder_belong_to_a_room() -> None:
    rooms = {path.name for path in (ROOT / "templates").iterdir() if path.is_dir()}
    folders = {path.parent.name for path in (ROOT / "static" / "css").glob("*/**/*.css")}
    assert folders and folders <= rooms


def test_no_line_of_a_template_is_too_long() -> None:
    for path in (path for path in (ROOT / "templates").rglob("*") if path.is_file()):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert len(line) <= LONGEST_TEMPLATE_LINE, f"{path.relative_to(ROOT)}:{number}"


def test_a_module_says_what_it_is_and_has_a_name_that_does() -> None:
    assert breaking(ENGINE + APP, lambda path: path.stem in VAGUE) == {}
    written = [path for path in ENGINE + APP if path.read_text(encoding="utf-8").strip()]
    assert breaking(written, lambda path: not ast.get_docstring(tree(path))) == {}


def is_page(module: str) -> bool:
    """Whether a module holds routes: app/<room>/page.py, or another of its pages."""
    parts = module.split(".")
    return len(parts) == 3 and parts[0] == "app" and parts[2].endswith("page")


def test_pages_are_imported_by_main_alone_and_nothing_imports_main() -> None:
    assert breaking(APP, lambda path: "app.main" in imports(path)) == {}
    others = [path for path in APP if path != ROOT / "app" / "main.py"]
    assert breaking(others, lambda path: {name for name in imports(path) if is_page(name)}) == {}


def test_only_demo_workers_and_strategies_import_torch() -> None:
    def allowed(path: Path) -> bool:
        inside = path.relative_to(ROOT).parts
        here = inside[:2] in (("app", "runner"), ("app", "demo"))
        return here and (path.stem == "worker" or bool({"strategies", "rank", "fake"} & set(inside)))

    barred = [path for path in APP if not allowed(path)]
    assert len(barred) < len(APP)
    assert breaking(barred, lambda path: "torch" in {name.partition(".")[0] for name in imports(path)}) == {}


def test_figures_know_no_request_clock_or_file() -> None:
    for path in sources("app/board"):
        roots = {name.partition(".")[0] for name in imports(path)}
        assert roots & BOARD_MAY_NOT_IMPORT == set(), path.name
        assert {
            name
            for name in imports(path)
            if name.startswith("app.") and not name.startswith(("app.board", "app.board.charts"))
        } == set()


@pytest.mark.parametrize(("folder", "below"), [("live", set()), ("runner", {"live", "settings"})])
def test_live_and_the_runner_know_no_room(folder: str, below: set[str]) -> None:
    for path in sources(f"app/{folder}"):
        known_rooms = {name.split(".")[1] for name in imports(path) if name.startswith("app.")}
        assert known_rooms - {folder} <= below, path.name


def test_nothing_that_others_wrote_is_kept_here() -> None:
    ours = [
        path
        for path in files(".woff", ".woff2", ".ttf", ".otf", ".js", ".css", ".map")
        if any(path.match(p) for p in OF_OTHERS)
    ]
    assert ours == []


def test_no_important_and_no_inline_style() -> None:
    for path in files(".css"):
        assert "!important" not in path.read_text(encoding="utf-8"), path.name
    for path in files(".html"):
        assert ' style="' not in path.read_text(encoding="utf-8"), path.name


def numbers_in(part: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each number of a catalogue with the entry it stands in."""
    if isinstance(part, dict):
        for name, inner in part.items():
            if isinstance(inner, int | float) and not isinstance(inner, bool):
                yield f"{path}.{name}", part
            yield from numbers_in(inner, f"{path}.{name}")
    elif isinstance(part, list):
        for index, inner in enumerate(part):
            yield from numbers_in(inner, f"{path}[{index}]")


SIDES = {"kernel_scale"}  # a ratio whose note says what it stands for


@pytest.mark.parametrize("name", ["hardware.yaml", "calibration.yaml", "models.yaml"])
def test_every_number_of_a_catalogue_has_a_source(name: str) -> None:
    catalogue = yaml.safe_load((ROOT / "engine" / "catalog" / name).read_text(encoding="utf-8"))
    found = dict(numbers_in(catalogue))
    assert len(found) > 40 or name == "calibration.yaml"
    without = [
        path
        for path, entry in found.items()
        if len(str(entry.get("source", ""))) < 8 and path.rpartition(".")[2] not in SIDES
    ]
    assert without == []


def test_every_table_of_measurements_says_where_it_comes_from() -> None:
    for path in (ROOT / "engine" / "catalog" / "kernels").glob("*.csv"):
        assert path.read_text(encoding="utf-8").startswith("#"), path.name


def texts_in(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict | list):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from texts_in(inner)


@pytest.mark.parametrize("name", ["hardware.yaml", "calibration.yaml", "models.yaml"])
def test_no_number_of_a_catalogue_is_read_as_text(name: str) -> None:
    """YAML reads 1.5e9 as text, and 1.5e+9 as a number."""
    catalogue = yaml.safe_load((ROOT / "engine" / "catalog" / name).read_text(encoding="utf-8"))
    assert [
        text for text in texts_in(catalogue) if text[:1].isdigit() and text.replace("e", "").replace(".", "").isdigit()
    ] == []


def names_in(path: Path) -> set[str]:
    """Every name that a module's code uses, imports or reads off something."""
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        found |= {node.id} if isinstance(node, ast.Name) else {node.attr} if isinstance(node, ast.Attribute) else set()
        found |= {alias.name for alias in node.names} if isinstance(node, ast.ImportFrom) else set()
    return found


def test_the_catalogues_factors_are_read_where_scenarios_are_made_and_where_they_are_shown() -> None:
    readers = {str(path.relative_to(ROOT)) for path in ENGINE + APP if "fitted_calibration" in names_in(path)}
    assert readers == READ_THE_FACTORS
    files = [path for path in ENGINE + APP if "calibration.yaml" in path.read_text(encoding="utf-8")]
    assert ids(files) == ["engine/catalog/calibration.py"]


def test_every_factor_lies_in_the_range_it_was_seen_in() -> None:
    for factor in fitted_calibration().factors.values():
        assert factor.low <= factor.value <= factor.high, factor.name
        assert len(factor.source) > 8
