"""Scenarios that many tests of the engine start from."""

from collections.abc import Callable
from typing import Any

import pytest

from engine.estimate import Estimate, estimate
from engine.scenario import scenario_from

Ask = Callable[..., Estimate]


def document(**changes: Any) -> dict[str, Any]:
    """The card's scenario as a document, some of its keys changed; keys of the layout may be given directly."""
    whole: dict[str, Any] = {"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024}
    outside = {key: value for key, value in changes.items() if key in {*whole, *OUTER}}
    layout = {key: value for key, value in changes.items() if key not in outside}
    return {**whole, **outside, **({"layout": layout} if layout else {})}


OUTER = ("sequence_tokens", "precision", "stack", "layout", "training")


@pytest.fixture(scope="session")
def ask() -> Ask:
    """Estimate the card's scenario with some of its keys changed."""
    return lambda **changes: estimate(scenario_from(document(**changes)))


@pytest.fixture(scope="session")
def card(ask: Ask) -> Estimate:
    """70B on 1,024 H100: TP 8, PP 4, DP 32, 16 micro-batches, ZeRO-1."""
    return ask()
