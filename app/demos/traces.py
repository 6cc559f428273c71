"""Traces on fake ranks from the page: one at a time, in processes of their own, as runs like any other. Knows no torch."""

import asyncio
import secrets
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from app.runner.event_log import Event, EventLog
from app.runner.fake.events import accepted
from app.runner.fake.request import FakeRequest
from app.runner.fake.run import run
from engine.language.refusal import Refusal

KEPT = 10
MOST_ROLE_S = 25.0  # of one role: what a page can be asked to wait for


@dataclass
class Trace:
    """One trace, from the moment it is accepted."""

    id: str
    client: str
    request: FakeRequest
    log: EventLog = field(default_factory=EventLog)
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def events(self) -> list[Event]:
        return self.log.events

    def follow(self, after: int = 0) -> AsyncIterator[Event]:
        return self.log.follow(after)


class Traces:
    """Makes traces one after the other."""

    def __init__(self) -> None:
        self.runs: dict[str, Trace] = {}
        self._task: asyncio.Task[None] | None = None

    def submit(self, request: FakeRequest, client: str) -> Trace:
        """Start a trace, or refuse it in a sentence. Called inside the event loop."""
        if request.role_s > MOST_ROLE_S:
            raise Refusal(
                "layers_per_stage",
                request.asked.layers_per_stage,
                f"one role would take about {request.role_s:.0f} s; from the "
                f"page {MOST_ROLE_S:.0f} s are traced at most, from the command line whole models",
                "2",
            )
        if self._task and not self._task.done():
            raise Refusal("demo", None, "another trace is under way; try again in a moment", code="busy")
        made = Trace(secrets.token_urlsafe(9), client, request)
        made.log.add(accepted(request))  # there before anyone looks
        self.runs[made.id] = made
        for old in [old for old in self.runs.values() if old.log.closed][: max(0, len(self.runs) - KEPT)]:
            del self.runs[old.id]
        self._task = asyncio.get_running_loop().create_task(self._make(made))
        return made

    async def _make(self, made: Trace) -> None:
        loop = asyncio.get_running_loop()

        def work() -> None:
            events = run(made.request)
            next(events)  # that it was accepted stands there already
            try:
                for event in events:
                    if made.stop.is_set():
                        return
                    loop.call_soon_threadsafe(made.log.add, event)
            finally:
                events.close()  # ends its processes

        try:
            await asyncio.to_thread(work)
        except (OSError, ValueError) as error:
            made.log.add({"event": "run.failed", "message": f"could not be traced: {error.__class__.__name__}"})
        await asyncio.sleep(0)  # what the thread has sent comes first
        if not made.log.closed:
            made.log.add({"event": "run.cancelled", "reason": "cancelled"})

    def cancel(self, trace_id: str) -> None:
        """Stop a trace at its next event. Nothing happens where there is nothing to stop."""
        if trace_id in self.runs:
            self.runs[trace_id].stop.set()

    async def close(self) -> None:
        """Stop what is under way."""
        for made in self.runs.values():
            made.stop.set()
        if self._task:
            await self._task
