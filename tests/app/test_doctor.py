"""The doctor: what is in order is said so, what is not is named with the way out, and the exit code tells which."""

import json
import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli import doctor as cli_doctor
from app.cli.doctor import chromium_check, folder_check, fonts_check, port_check, python_check, torch_check
from app.settings import settings
from app.web import assets
from tests.app.conftest import Shardboard

HERE = settings()


@pytest.fixture
def healthy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine on which nothing is amiss, whatever this one has."""
    monkeypatch.setattr(cli_doctor, "settings", lambda: replace(HERE, data=tmp_path / "data", live_demos=False))
    monkeypatch.setattr(cli_doctor, "chromium", lambda: "/usr/bin/chromium")


def without(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    real = cli_doctor.find_spec
    monkeypatch.setattr(cli_doctor, "find_spec", lambda name: None if name == package else real(name))


def test_where_all_is_in_order_each_thing_is_said_so_and_the_exit_code_is_0(
    shardboard: Shardboard, healthy: None
) -> None:
    code, out, err = shardboard("doctor", "--port", "0")
    document = json.loads(out)
    assert (code, err, document["ok"]) == (0, "", True)
    assert [check["name"] for check in document["checks"]] == [
        "python",
        "torch",
        "chromium",
        "fonts",
        "cache",
        "data",
        "port",
    ]
    code, out, _ = shardboard("doctor", "--port", "0", "--text")
    lines = out.decode().splitlines()
    assert code == 0 and len(lines) == 8 and lines[-1] == "All is in order"
    assert all(line.startswith("✓ ") for line in lines[:-1])


def test_a_port_that_is_taken_is_named_and_the_exit_code_is_1(shardboard: Shardboard, healthy: None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code, out, _ = shardboard("doctor", "--port", port)
        document = json.loads(out)
        assert (code, document["ok"]) == (1, False)
        [amiss] = [check for check in document["checks"] if not check["ok"]]
        assert amiss["name"] == "port" and f"127.0.0.1:{port}: cannot be served on" in amiss["sentence"]
        code, out, _ = shardboard("doctor", "--text", "--port", port)
        assert code == 1 and out.decode().splitlines()[-1] == "1 of 7 not in order"
    assert port_check("127.0.0.1", port).ok


@pytest.mark.parametrize(
    ("host", "port", "named"), [("127.0.0.1", "99999", "65,535"), ("192.0.2.1", "8000", "192.0.2.1:8000")]
)
def test_a_place_that_cannot_be_served_from_is_named(host: str, port: str, named: str) -> None:
    check = port_check(host, port)
    assert not check.ok and named in check.sentence


def test_a_folder_in_whose_place_a_file_stands_is_named_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    check = folder_check("data", tmp_path / "taken")
    assert (
        not check.ok
        and f"{tmp_path}/taken cannot be written to" in check.sentence
        and "SHARDBOARD_DATA" in check.sentence
    )


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write where it is forbidden")
def test_a_folder_that_is_read_only_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    check = folder_check("cache", tmp_path)
    tmp_path.chmod(0o700)
    assert not check.ok and "permission denied" in check.sentence and "SHARDBOARD_CACHE" in check.sentence


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="/proc is read-only for root too")
def test_a_folder_on_a_file_system_that_takes_nothing_is_named() -> None:
    assert not folder_check("cache", Path("/proc/shardboard")).ok


def test_a_folder_that_is_missing_is_made(tmp_path: Path) -> None:
    assert folder_check("data", tmp_path / "a" / "b").ok
    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_a_python_that_is_too_old_is_named() -> None:
    assert not python_check((3, 10, 14)).ok
    assert python_check((3, 11, 0)).ok and python_check((3, 14, 1)).ok


def test_the_oldest_python_is_the_one_that_pip_asks_for() -> None:
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert f'requires-python = ">={".".join(map(str, cli_doctor.OLDEST))}"' in project


def test_torch_that_is_missing_is_named_unless_nobody_may_start_a_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "torch")
    check = torch_check(replace(HERE, live_demos=True))
    assert (
        not check.ok
        and "pip install 'shardboard[demos]'" in check.sentence
        and "SHARDBOARD_DEMOS=off" in check.sentence
    )
    assert torch_check(replace(HERE, live_demos=False)).ok


@pytest.mark.parametrize(
    ("program", "ok", "named"),
    [
        ("print('2.13.0', True)", True, "torch 2.13.0 imports"),
        ("print('2.13.0', False)", False, "built without gloo"),
        ("raise ImportError('libgomp.so.1: cannot open shared object file')", False, "libgomp.so.1"),
        ("import os; os.abort()", False, "of no use here"),
        ("import time; time.sleep(60)", False, "not imported within"),
    ],
)
def test_torch_is_tried_in_a_process_of_its_own(
    monkeypatch: pytest.MonkeyPatch, program: str, ok: bool, named: str
) -> None:
    monkeypatch.setattr(cli_doctor, "find_spec", lambda name: True)
    monkeypatch.setattr(cli_doctor, "TRY_TORCH", program)
    monkeypatch.setattr(cli_doctor, "PATIENCE_S", 1 if "sleep" in program else 60)
    check = torch_check(replace(HERE, live_demos=True))
    assert check.ok is ok and named in check.sentence


def test_chromium_is_asked_for_only_where_the_tests_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli_doctor, "chromium", lambda: None)
    monkeypatch.setattr(cli_doctor, "find_spec", lambda name: True)
    check = chromium_check()
    assert not check.ok and "CHROMIUM_PATH" in check.sentence
    without(monkeypatch, "playwright")
    assert chromium_check().ok


def test_fonts_that_are_not_built_yet_are_no_fault_but_a_package_that_lacks_them_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = replace(HERE, cache=tmp_path)
    check = fonts_check(place)
    assert check.ok and "The next start builds 10" in check.sentence and "kalam.woff2" in check.sentence
    monkeypatch.setattr(assets, "CARRIED", (replace(assets.CARRIED[0], file="htmx-9.js"),))
    check = fonts_check(place)
    assert not check.ok and "django-htmx carries no htmx-9.js" in check.sentence
    monkeypatch.setattr(assets, "CARRIED", (replace(assets.CARRIED[0], distribution="no-such-package"),))
    check = fonts_check(place)
    assert not check.ok and "no-such-package" in check.sentence


def test_fonts_that_are_built_are_said_to_be() -> None:
    assets.build(HERE)
    assert fonts_check(HERE).sentence == f"All {len(assets.CARRIED)} fonts and scripts are built"
