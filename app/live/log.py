"""The events of one live thing, numbered and bounded, for any number of followers. What is kept is on disk before they see it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Generic

from app.live.events import E, line_of, lines_of
from app.live.kept import Kept, Writing

MOST_EVENTS, MOST_BYTES = 5_000, 2_000_000


class EventLog(Generic[E]):
    """Events in order, numbered from 1. When it is full, only what must always be said is still written.

    full     said once when no more is kept, if anything is
    unkept   why it cannot be written down, if it was to be
    """

    unkept = ""
    _writing: Writing | None = None

    def __init__(self, full: E | None = None, events: int = MOST_EVENTS, size_bytes: int = MOST_BYTES) -> None:
        self.events: list[E] = []
        self._complaint, self._left, self._room = full, events, size_bytes
        self._full = False
        self._changed = asyncio.Event()

    @property
    def closed(self) -> bool:
        """Whether the last event has been said."""
        return bool(self.events) and self.events[-1].LAST

    def add(self, event: E) -> None:
        """Write an event. After the last one nothing more is written."""
        if self.closed:
            return
        if not event.ALWAYS and not self._fits(event):
            if self._full or self._complaint is None:
                return
            self._full, event = True, self._complaint
        event = replace(event, seq=len(self.events) + 1)
        self._write(event)
        self.events.append(event)
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def keep(self, kept: Kept, name: str) -> None:
        """Have it written down under this name: what was said until now at once, the rest as it is said."""
        try:
            self._writing = kept.begin(name, lines_of(self.events))
        except OSError as error:
            self._lose(error)

    def _write(self, event: E) -> None:
        """Write an event before anyone sees it; the last one has reached the disk then."""
        if not self._writing:
            return
        try:
            self._writing.add(lines_of([event]))
            if event.LAST:
                self._writing.end()
        except OSError as error:
            self._lose(error)

    def _lose(self, error: OSError) -> None:
        self._writing, self.unkept = None, (error.strerror or type(error).__name__).lower()

    def _fits(self, event: E) -> bool:
        """Whether there is room for it. The first that finds none leaves none for later ones, however short."""
        self._left, self._room = self._left - 1, self._room - len(line_of(event))
        return self._left > 0 and self._room > 0

    async def follow(self, after: int = 0) -> AsyncIterator[E]:
        """Every event with a number above `after`, as it comes, until the last."""
        place = max(0, after)
        while True:
            changed = self._changed
            while place < len(self.events):
                yield self.events[place]
                place += 1
            if self.closed:
                return
            await changed.wait()
