"""The plans one step away: one degree halved or doubled, one switch turned. Those that help most plans come first."""

from collections.abc import Iterator
from typing import Any

from engine.findings.offered import runs_here
from engine.layout.layout import Layout
from engine.pipeline.schedules import SCHEDULES
from engine.pipeline.schedules.interleaved import INTERLEAVED
from engine.scenario import Scenario


def neighbours(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """The changes of one step, those that are most often worth it before the others.

    >>> from engine.scenario import scenario_from
    >>> card = scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024})
    >>> list(neighbours(card))[:3]
    [{'pp': 2}, {'micro_batch': 2}, {'tp': 4}]
    """
    layout = scenario.layout
    yield from _undone(layout)
    yield from _halved(layout, "pp")
    yield {"micro_batch": 2 * layout.micro_batch}
    yield from _halved(layout, "tp")
    if layout.pp > 1:
        yield {"schedule": INTERLEAVED.name, "vp": 2 * layout.vp}
        yield from _schedules(scenario)
    yield from _halved(layout, "cp")
    yield from ({"zero": zero} for zero in (1, 2, 3) if zero != layout.zero)
    yield from _halved(layout, "ep")
    if scenario.model.experts:
        yield {"ep": 2 * layout.ep}
    yield {"tp": 2 * layout.tp}
    yield {"pp": 2 * layout.pp}
    yield from _halved(layout, "micro_batch")
    yield {"cp": 2 * layout.cp}
    yield from _halved(layout, "vp")
    yield from _turned(layout)


def _undone(layout: Layout) -> Iterator[dict[str, Any]]:
    """What costs time for memory, or saves none, taken back."""
    if layout.recompute != "none":
        yield {"recompute": "none"}
    if layout.recompute == "full":
        yield {"recompute": "selective"}
    if not layout.sequence_parallel and layout.tp > 1:
        yield {"sequence_parallel": True}
    if layout.zero == 0 and layout.shard_width > 1:
        yield {"zero": 1}
    if layout.zero > 1:
        yield {"zero": layout.zero - 1}


def _halved(layout: Layout, name: str) -> Iterator[dict[str, Any]]:
    degree = getattr(layout, name)
    if degree % 2 == 0:
        yield {name: degree // 2}


def _schedules(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """The other orders that this software runs, with as many chunks as they always have."""
    for name, schedule in SCHEDULES.items():
        if name != scenario.layout.schedule and not schedule.takes_chunks and runs_here(schedule, scenario):
            yield {"schedule": name, "vp": 1}


def _turned(layout: Layout) -> Iterator[dict[str, Any]]:
    """The switches that save memory for time, and those that seldom help."""
    if layout.recompute != "full":
        yield {"recompute": "full"}
    if layout.recompute == "none":
        yield {"recompute": "selective"}
    if layout.zero:
        yield {"zero": 0}
    if layout.hsdp_shard:
        yield {"hsdp_shard": None}
