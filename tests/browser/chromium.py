"""Finds a Chromium for the browser tests, or installs one: python -m tests.browser.chromium

Looked for in this order: CHROMIUM_PATH, a chromium or chrome on the PATH, the one Playwright keeps. If there is none,
Debian's package is installed where this runs as root on Debian, Playwright's own build elsewhere.
"""

import os
import shutil
import subprocess
import sys
from typing import Any

from app.cli.chromium import chromium, installed

FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def launch_options() -> dict[str, Any]:
    """How Playwright should start it; without a path it takes its own. Chromium refuses its sandbox to root."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    path = installed()
    return {"args": [*FLAGS, *(["--no-sandbox"] if root else [])], **({"executable_path": path} if path else {})}


def install() -> None:
    """Install a Chromium with what this machine offers."""
    if shutil.which("apt-get") and os.geteuid() == 0:
        print("Installing Debian's chromium for the browser tests", flush=True)
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        subprocess.run(
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"],
            check=True,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            stdout=subprocess.DEVNULL,
        )
    else:
        print("Installing Playwright's chromium for the browser tests", flush=True)
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True)


if __name__ == "__main__":
    if not chromium():
        install()
    sys.exit(None if chromium() else "No Chromium was found or could be installed; set CHROMIUM_PATH to one.")
