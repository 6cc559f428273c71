"""What the ranks of a run measured under one name: a number each, or a list each."""

from collections.abc import Iterable

from app.live.events import of_kind
from app.runner.event_bounds import Number
from app.runner.event_kinds import Measure, RunEvent


def numbers_of(events: Iterable[RunEvent], name: str) -> list[Number]:
    """The numbers of this name, in the order in which they were said.

    >>> numbers_of([Measure(1.0, 0, "pairs", 6), Measure(1.0, 1, "pairs", 10), Measure(1.0, 0, "experts", (1, 2))], "pairs")
    [6, 10]
    """
    return [value for value in _values(events, name) if not isinstance(value, tuple)]


def lists_of(events: Iterable[RunEvent], name: str) -> list[tuple[int, ...]]:
    """The lists of this name, in the order in which they were said."""
    return [value for value in _values(events, name) if isinstance(value, tuple)]


def _values(events: Iterable[RunEvent], name: str) -> list[Number | tuple[int, ...]]:
    return [measure.value for measure in of_kind(events, Measure) if measure.name == name]
