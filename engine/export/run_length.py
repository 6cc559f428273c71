"""Tokens of a run as the steps that a framework counts, and back."""

import math
from collections.abc import Iterator

from engine.export.base import gap
from engine.scenario import MOST_TOKENS, Scenario


def step_tokens(scenario: Scenario) -> int:
    """Tokens of one step.   [tokens]"""
    return scenario.layout.global_batch * scenario.sequence_tokens


def steps_of(scenario: Scenario) -> int:
    """Steps that see at least the tokens of the run.   [count]

    >>> from engine.scenario import scenario_from
    >>> steps_of(scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024}))
    3576279
    """
    return max(1, math.ceil(scenario.training.tokens / step_tokens(scenario)))


def length_gaps(scenario: Scenario) -> Iterator[str]:
    """What rounding to whole steps changes."""
    whole = steps_of(scenario) * step_tokens(scenario)
    if whole != scenario.training.tokens:
        yield gap(
            "training.tokens",
            f"{scenario.training.tokens:g}",
            f"{steps_of(scenario):,} whole steps of {step_tokens(scenario):,} tokens are {whole:.10g}",
        )


def training_of(tokens: int) -> dict[str, dict[str, float]]:
    """The part of a scenario document that says so many tokens; nothing for what no run has."""
    return {"training": {"tokens": float(tokens)}} if 0 < tokens <= MOST_TOKENS else {}
