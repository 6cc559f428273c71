"""`shardboard doctor`: whether what the board needs is in order on this machine, one sentence each."""

import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from app.cli.chromium import chromium
from app.cli.sockets import listening
from app.settings import Settings, settings
from app.web import assets
from app.web.json_text import sentence_of
from engine.language.refusal import Refusal

OLDEST = (3, 11)
# In a process of its own: the server never imports torch, and a torch that is broken may end the process that does.
TRY_TORCH = "import torch; from torch import distributed; print(torch.__version__, distributed.is_gloo_available())"
PATIENCE_S = 120  # importing torch takes 2 to 4 s, and much longer where the disk is cold


@dataclass(frozen=True)
class Check:
    """One thing that was looked at, whether it is in order, and what to do where it is not."""

    name: str
    ok: bool
    sentence: str


def doctor_answer(host: str, port: str) -> dict[str, Any]:
    """All checks, and whether all are in order.

    host, port   where the board is to be served
    """
    place = settings()
    checks = (
        python_check(sys.version_info[:3]),
        torch_check(place),
        chromium_check(),
        fonts_check(place),
        folder_check("cache", place.cache),
        folder_check("data", place.data),
        port_check(host, port),
    )
    return {"ok": all(check.ok for check in checks), "checks": [asdict(check) for check in checks]}


def python_check(version: tuple[int, ...]) -> Check:
    """Whether this Python is new enough.

    >>> python_check((3, 10, 4)).sentence
    'Python 3.10.4 is too old: 3.11 or newer is needed'
    """
    ok = version >= OLDEST
    verdict = "new enough" if ok else "too old"
    return Check("python", ok, f"Python {_dotted(version)} is {verdict}: {_dotted(OLDEST)} or newer is needed")


def torch_check(place: Settings) -> Check:
    """Whether the demos can run as they are meant to here: torch imports and has gloo, or nobody may start any."""
    if not place.live_demos:
        return Check("torch", True, "torch is not needed: SHARDBOARD_DEMOS is off, and the demos show recorded runs")
    way_out = "pip install 'shardboard[demos]', or set SHARDBOARD_DEMOS=off to show recorded runs only"
    if find_spec("torch") is None:
        return Check("torch", False, f"torch is not installed, so that no demo can run: {way_out}")
    try:
        done = subprocess.run([sys.executable, "-c", TRY_TORCH], capture_output=True, text=True, timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        return Check("torch", False, f"torch was not imported within {PATIENCE_S} s; try again, or {way_out}")
    version, _, gloo = done.stdout.strip().partition(" ")
    if done.returncode or gloo != "True":
        last = done.stderr.strip().splitlines()[-1:] or ["it was built without gloo"]
        return Check("torch", False, f"torch is installed but of no use here: {last[0]}; {way_out}")
    return Check("torch", True, f"torch {version} imports, and its gloo carries the demos")


def chromium_check() -> Check:
    """Whether the browser tests have a Chromium; where they are not installed, nobody needs one."""
    if found := chromium():
        return Check("chromium", True, f"{found} is there for the browser tests and screenshots")
    if find_spec("playwright") is None:
        return Check("chromium", True, "Chromium is not needed: only the tests drive it, and they are not installed")
    return Check("chromium", False, "No Chromium was found; make test installs one, or set CHROMIUM_PATH to yours")


def fonts_check(place: Settings) -> Check:
    """Whether fonts and browser libraries are built, or what they are built from is whole."""
    try:
        waiting = assets.unbuilt(place)
        for carried in waiting:
            assets.origin(carried)
    except (assets.ChangedCarrier, metadata.PackageNotFoundError) as error:
        return Check(
            "fonts", False, f"Fonts and scripts cannot be built: {error}. Reinstall Shardboard with what it needs"
        )
    if waiting:
        names = ", ".join(carried.name for carried in waiting)
        return Check("fonts", True, f"The next start builds {len(waiting)} fonts and scripts, in seconds: {names}")
    return Check("fonts", True, f"All {len(assets.CARRIED)} fonts and scripts are built")


def folder_check(name: str, folder: Path) -> Check:
    """Whether a folder can be written to. It is made where it is missing, as a start would.

    name     what it is for: "cache" or "data"
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return Check(name, False, f"{folder} cannot be written to ({reason}): set SHARDBOARD_{name.upper()} to another")
    return Check(name, True, f"{folder} can be written to")


def port_check(host: str, port: str) -> Check:
    """Whether the board can be served there.

    >>> port_check("127.0.0.1", "http").sentence
    'port = http: needs a whole number from 0 to 65,535; the nearest that works: 8000'
    """
    try:
        with listening(host, port) as (_, address):
            return Check("port", True, f"{address} is free to serve on")
    except Refusal as refusal:
        return Check("port", False, sentence_of(refusal))


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
