"""Which Chromium this machine has: the browser tests, the bench and the screenshots drive it, and the doctor asks for it."""

import os
import shutil
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def installed() -> str | None:
    """Path of a Chromium on this machine, Playwright's own aside: CHROMIUM_PATH first, then the search path."""
    found = [os.environ.get("CHROMIUM_PATH"), *map(shutil.which, NAMES)]
    return next((path for path in found if path and Path(path).exists()), None)


def of_playwright() -> str | None:
    """Path of the Chromium that Playwright keeps; none where Playwright, which only the tests need, is not installed."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def chromium() -> str | None:
    """Path of the Chromium that is used, if there is one."""
    return installed() or of_playwright()
