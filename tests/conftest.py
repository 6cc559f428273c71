"""What every test relies on: bounded examples, no deadline, since the machines that run tests differ in speed, and marks."""

import gc
import os
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "shardboard",
    deadline=None,
    max_examples=60,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
settings.load_profile("shardboard")

# what Starlette's client calls the server it asks; read before any application is made, by processes of tests too
os.environ["SHARDBOARD_HOSTS"] = "testserver"

TESTS = Path(__file__).parent
BY_FOLDER = {"browser": "browser", "demo": "demo"}
BY_FIXTURE = {"framework": "frameworks", "titan_folder": "frameworks", "stage": "demo", "served": "demo"}
SLOW = {*BY_FOLDER.values(), *BY_FIXTURE.values(), "soak"}

Framework = Callable[[str], Any]


@pytest.fixture(scope="session")
def framework() -> Framework:
    """Gives a module of torch or of a framework that needs it; where that is not installed, the test is skipped.

    Who asks for this is marked `frameworks`: it imports torch into the tests' own process, which takes seconds.
    """

    def module(name: str) -> Any:
        pytest.importorskip("torch", reason=f"{name} needs torch, which DEMOS= leaves out")
        return pytest.importorskip(name, reason=f"{name} is not installed")

    return module


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test by its folder and its fixtures; what is left is quick.

    Browser tests come last: Playwright keeps an event loop running in the main thread, and others want their own.
    """
    for item in items:
        for name in marks_of(item):
            item.add_marker(name)
        if not SLOW & {mark.name for mark in item.iter_markers()}:
            item.add_marker("quick")
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


def pytest_collection_finish() -> None:
    """Thousands of tests and a catalogue that stay: the collector need not walk them again and again."""
    gc.collect()
    gc.freeze()


def marks_of(item: pytest.Item) -> set[str]:
    """The marks that a test's folder and fixtures give it."""
    inside = item.path.relative_to(TESTS).parts if item.path.is_relative_to(TESTS) else ()
    return {BY_FOLDER[part] for part in inside if part in BY_FOLDER} | {
        BY_FIXTURE[name] for name in getattr(item, "fixturenames", ()) if name in BY_FIXTURE
    }


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """A quick test that is the first to import torch is not quick."""
    before = "torch" in sys.modules
    yield
    if item.get_closest_marker("quick") and not before and "torch" in sys.modules:
        pytest.fail(
            "imports torch, which takes seconds: ask for the fixture `framework`, which marks it", pytrace=False
        )
