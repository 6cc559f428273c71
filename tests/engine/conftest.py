"""Scenarios that many tests of the engine start from."""

from collections.abc import Callable
from typing import Any

import pytest

from engine.catalog.scenarios import preset_document
from engine.estimate import Estimate, estimate
from engine.language.refusal import Refusal
from engine.scenario import scenario_from

Document = Callable[..., dict[str, Any]]
Ask = Callable[..., Estimate]
RefusalOf = Callable[..., Refusal]
OUTER = ("sequence_tokens", "precision", "stack", "layout", "training")


def changed(**changes: Any) -> dict[str, Any]:
    """The card's scenario as a document, some of its keys changed; keys of the layout may be given directly."""
    whole = preset_document()
    outside = {key: value for key, value in changes.items() if key in {*whole, *OUTER}}
    layout = {key: value for key, value in changes.items() if key not in outside}
    return {**whole, **outside, **({"layout": layout} if layout else {})}


@pytest.fixture(scope="session")
def document() -> Document:
    """Write the card's scenario with some of its keys changed; keys of the layout may be given directly."""
    return changed


@pytest.fixture(scope="session")
def ask() -> Ask:
    """Estimate that scenario."""
    return lambda **changes: estimate(scenario_from(changed(**changes)))


@pytest.fixture(scope="session")
def refusal_of() -> RefusalOf:
    """The Refusal that it ends in."""

    def refused(**changes: Any) -> Refusal:
        with pytest.raises(Refusal) as found:
            scenario_from(changed(**changes))
        assert "\n" not in found.value.sentence
        return found.value

    return refused


@pytest.fixture(scope="session")
def card(ask: Ask) -> Estimate:
    """70B on 1,024 H100: TP 8, PP 4, DP 32, 16 micro-batches, ZeRO-1."""
    return ask()
