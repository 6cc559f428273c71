"""The events of one run, numbered and bounded, for any number of followers. No torch, no processes."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import orjson

MOST_EVENTS, MOST_BYTES = 5_000, 2_000_000
LAST = frozenset({"run.done", "run.failed", "run.cancelled"})  # one of them ends every run
ALWAYS = LAST | {"check", "rank.error"}

Event = dict[str, Any]


class EventLog:
    """Events in order; each has its number as `seq`, from 1. When it is full only how the run ends is still written."""

    def __init__(self, events: int = MOST_EVENTS, size_bytes: int = MOST_BYTES) -> None:
        self.events: list[Event] = []
        self._left, self._room = events, size_bytes
        self._full = False
        self._changed = asyncio.Event()

    @property
    def closed(self) -> bool:
        """Whether the run has ended."""
        return bool(self.events) and self.events[-1]["event"] in LAST

    def add(self, event: Mapping[str, Any]) -> None:
        """Write an event. After the last one nothing more is written."""
        if self.closed or not self._fits(event):
            return
        self.events.append({"seq": len(self.events) + 1, **event})
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _fits(self, event: Mapping[str, Any]) -> bool:
        if event["event"] in ALWAYS:
            return True
        if not self._full:
            self._left, self._room = self._left - 1, self._room - len(orjson.dumps(event))
            if self._left > 0 and self._room > 0:
                return True
            self._full = True
            self.add(
                {
                    "event": "rank.error",
                    "rank": None,
                    "type": "Full",
                    "message": "the run said more than is kept; its events end here, the verdict follows",
                    "root_cause": False,
                }
            )
        return False

    async def follow(self, after: int = 0) -> AsyncIterator[Event]:
        """Every event with a number above `after`, as it comes, until the run ends."""
        place = max(0, after)
        while True:
            changed = self._changed
            while place < len(self.events):
                yield self.events[place]
                place += 1
            if self.closed:
                return
            await changed.wait()
