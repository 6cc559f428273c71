"""What `pip install` brings: built, installed beside the dependencies but away from the checkout, and served from there."""

import os
import re
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from app import __version__
from app.settings import ROOT, settings

if os.name != "posix":
    pytest.skip("looks for the commands of an environment where POSIX has them", allow_module_level=True)
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
WHERE = "from app.settings import *; import app, engine; print(app.__file__, engine.__file__, *vars(settings()).values(), sep='\\n')"
PAGES = (
    *("/", "/lessons", "/lessons/four-strategies", "/lessons/exercises", "/glossary", "/sources"),
    *("/scenes", "/scenes/zero", "/present/zero", "/plan", "/topology", "/demos", "/demos/ddp", "/demos/fake", "/docs"),
)


@dataclass(frozen=True)
class Installed:
    """An environment that holds the wheel, and a home of its own."""

    folder: Path
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("SHARDBOARD_", "XDG_", "PYTHON"))
        }
        return kept | {"HOME": str(self.home)}

    def command(self, name: str) -> str:
        return str(self.folder / "bin" / name)

    def says(self, *command: str, **changes: str) -> str:
        done = subprocess.run(
            command, cwd=self.home, env=self.environment | changes, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def places(self, **changes: str) -> list[str]:
        """Where it found itself: app, engine, templates, static, cache and data."""
        return self.says(self.command("python"), "-c", WHERE, **changes).splitlines()[:6]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    made = Installed(tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("home"))
    wheels = tmp_path_factory.mktemp("wheels")
    subprocess.run(
        [*PIP, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", wheels, ROOT], check=True, timeout=120
    )
    venv.create(made.folder, with_pip=False, symlinks=True)
    [wheel] = wheels.glob("*.whl")
    subprocess.run(
        [*PIP, "--python", made.command("python"), "install", "-q", "--no-deps", "--no-index", wheel],
        check=True,
        timeout=120,
    )
    [packages] = made.folder.glob("lib/python*/site-packages")
    beside = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (packages / "dependencies.pth").write_text(
        "\n".join(beside)
    )  # a .pth in there, as of an editable install, is not read
    return made


@pytest.fixture(scope="module")
def address(installed: Installed) -> Iterator[str]:
    """The installed server. What was made of fonts and libraries here lies in its cache already: it takes seconds."""
    cache = Path(installed.places()[4])
    cache.mkdir(parents=True)
    if (made := settings().cache / "assets").exists():
        (cache / "assets").symlink_to(made)
    with subprocess.Popen(
        [installed.command("shardboard"), "serve", "--port", "0"],
        cwd=installed.home,
        env=installed.environment,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stderr
        said = server.stderr.readline()
        found = re.search(r"http://\S+(?=/)", said)
        assert found, said + server.stderr.read()
        yield found[0]
        server.terminate()


def test_nothing_comes_from_the_checkout_and_nothing_is_written_beside_the_code(installed: Installed) -> None:
    app, engine, templates, static, cache, data = map(Path, installed.places())
    for path in (app, engine, templates, static):
        assert path.is_relative_to(installed.folder) and path.exists()
    for path in (cache, data):
        assert path.is_relative_to(installed.home) and "shardboard" in path.parts
    assert cache != data


def test_the_environment_may_name_other_places(installed: Installed) -> None:
    assert installed.places(SHARDBOARD_CACHE="/somewhere/c", SHARDBOARD_DATA="/somewhere/d")[4:] == [
        "/somewhere/c",
        "/somewhere/d",
    ]


def test_the_command_says_its_version(installed: Installed) -> None:
    assert installed.says(installed.command("shardboard"), "--version") == f"shardboard {__version__}"


@pytest.mark.parametrize("path", PAGES)
def test_an_installed_board_serves_its_pages(address: str, path: str) -> None:
    with urlopen(address + path, timeout=60) as answer:
        assert answer.status == 200
        assert re.search(r'href="/assets/board\.\w+\.css"', answer.read().decode())


def test_an_installed_board_serves_its_style_sheet_scripts_and_fonts(address: str) -> None:
    with urlopen(address + "/", timeout=60) as answer:
        named = set(re.findall(r'"(/assets/[^"]+)"', answer.read().decode()))
    assert {name.rpartition(".")[2] for name in named} >= {"css", "js", "svg"}
    for name in named:
        with urlopen(address + name, timeout=60) as answer:
            assert answer.status == 200 and len(answer.read()) > 100, name


def test_an_installed_board_has_its_recorded_runs(installed: Installed) -> None:
    code = (
        "from app.runner.catalog import DEMOS; from app.runner.recordings import recorded; "
        "from app.runner.fake.record import recorded_names; print(sum(bool(list(recorded(d))) for d in DEMOS) - len(DEMOS), len(recorded_names()))"
    )
    assert installed.says(installed.command("python"), "-c", code) == "0 2"


def test_an_installed_board_answers_an_unknown_page_with_its_own(address: str) -> None:
    with pytest.raises(HTTPError) as refused:
        urlopen(address + "/nothing-is-here", timeout=60)
    assert refused.value.code == 404 and "/assets/board." in refused.value.read().decode()
