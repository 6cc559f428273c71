"""Live things of one kind: refused, waiting, under way, ended, remembered. One at a time is made, the others wait."""

import asyncio
import contextlib
import hashlib
import secrets
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from app.live.events import E
from app.live.kept import Kept
from app.live.log import EventLog
from engine.language.refusal import Refusal

WAIT = frozenset({"closing", "one-each", "busy"})  # codes of refusals that say no more than: not now
RETRY_S = 10  # most of what goes on is over by then


def signature(client: str) -> str:
    """Who has started something, as a file may say it: their cookie cannot be made of it."""
    return hashlib.sha256(client.encode()).hexdigest()[:12]


def now() -> str:
    """The moment, in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(eq=False, kw_only=True)
class Live(Generic[E]):
    """Something that is followed while it happens.

    client     who has started it
    log        what it has said
    stopping   whether it was asked to end
    """

    client: str
    log: EventLog[E]
    id: str = field(default_factory=lambda: secrets.token_urlsafe(9))
    stopping: bool = False

    @property
    def events(self) -> list[E]:
        return self.log.events

    @property
    def over(self) -> bool:
        return self.log.closed

    def follow(self, after: int = 0) -> AsyncIterator[E]:
        """Every event numbered above `after`, until it ends."""
        return self.log.follow(after)


@dataclass(frozen=True)
class Limits:
    """How many there may be.

    noun        what a refusal calls one, and the field it is about
    waiting     while another is made
    one_each    whether a visitor may have one at a time only
    remembered  once they have ended
    """

    noun: str
    field: str
    waiting: int
    one_each: bool
    remembered: int


T = TypeVar("T", bound="Live[Any]")


class Registry(ABC, Generic[T]):
    """Makes live things one after the other. What one is made of is for whoever derives from this.

    kept   where what they say is written down, if anywhere
    """

    def __init__(self, limits: Limits, kept: Kept | None = None) -> None:
        self.limits, self.kept = limits, kept
        self.things: dict[str, T] = {}
        self._queue: deque[T] = deque()
        self._under_way: T | None = None
        self._serving: asyncio.Task[None] | None = None
        self._closing = False

    @abstractmethod
    async def make(self, thing: T) -> None:
        """All of it, to its last event."""

    @abstractmethod
    async def stop(self, thing: T) -> None:
        """Have one that is under way end; `stopping` says so already."""

    @abstractmethod
    def cancelled(self, thing: T, reason: str) -> None:
        """Say that it has ended before it was done."""

    @abstractmethod
    async def broken(self, thing: T, error: Exception) -> None:
        """Say that it could not be made, and clear away what was left."""

    def admit(self, client: str) -> None:
        """Refuse, in a sentence, whoever has to wait before another may start."""
        limits, field_ = self.limits, self.limits.field
        if self._closing:
            raise Refusal(field_, None, "the server is going down", code="closing")
        if limits.one_each and any(thing.client == client for thing in self._busy):
            rule = f"one {limits.noun} at a time for each visitor; cancel yours, or wait for it"
            raise Refusal(field_, None, rule, code="one-each")
        if len(self._queue) >= limits.waiting + (self._under_way is None):
            many = f"{limits.waiting} {limits.noun}s are waiting already" if limits.waiting else ""
            rule = f"{many or f'another {limits.noun} is under way'}; try again in a moment"
            raise Refusal(field_, None, rule, code="busy")

    def of_client(self, client: str) -> T | None:
        """What somebody has waiting or under way, if anything."""
        return next((thing for thing in self._busy if thing.client == client), None)

    @property
    def _busy(self) -> list[T]:
        return [*self._queue, *([self._under_way] if self._under_way else [])]

    @property
    def before(self) -> int:
        """How many go before the next that enters."""
        return len(self._busy)

    def enter(self, thing: T) -> None:
        """Take it in, and write down what it has said until now. Called inside the event loop, after `admit`."""
        if self.kept:
            thing.log.keep(self.kept, thing.id)
        self.things[thing.id] = thing
        ended = [old for old in self.things.values() if old.over]
        for old in ended[: max(0, len(self.things) - self.limits.remembered)]:
            del self.things[old.id]
        self._queue.append(thing)
        loop = asyncio.get_running_loop()
        if self._serving is None or self._serving.done():
            self._serving = loop.create_task(self._serve())

    async def cancel(self, name: str) -> None:
        """Stop one wherever it is. Nothing happens where there is nothing to stop."""
        thing = self.things.get(name)
        if thing in self._queue:
            self._queue.remove(thing)
            self.cancelled(thing, "cancelled while waiting")
        elif thing is not None and thing is self._under_way:
            thing.stopping = True
            await self.stop(thing)

    async def close(self) -> None:
        """Cancel everything, and leave nothing behind."""
        self._closing = True
        for thing in self._busy:
            await self.cancel(thing.id)
        if self._serving:
            self._serving.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._serving

    async def _serve(self) -> None:
        """Make those that wait, in their order."""
        while self._queue:
            thing = self._under_way = self._queue.popleft()
            try:
                await self.make(thing)
            except Exception as error:  # whatever it is, those that wait must still be made
                await self.broken(thing, error)
            finally:
                if not thing.over:
                    self.cancelled(thing, "the server goes down")
                self._under_way = None
