"""Traces on fake ranks from the page: one at a time, in processes of their own. Knows no torch."""

import asyncio
from dataclasses import dataclass, replace

from app.live.kept import Kept
from app.live.log import EventLog
from app.live.registry import Limits, Live, Registry, now, signature
from app.runner.fake.event_kinds import TraceCancelled, TraceEvent, TraceFailed
from app.runner.fake.events import accepted
from app.runner.fake.request import FakeRequest
from app.runner.fake.run import Tracing
from engine.language.refusal import Refusal

LIMITS = Limits(noun="trace", field="demo", waiting=0, one_each=False, remembered=10)
MOST_ROLE_S = 25.0  # of one role: what a page can be asked to wait for


@dataclass(eq=False, kw_only=True)
class Trace(Live[TraceEvent]):
    """One trace, from the moment it is accepted."""

    request: FakeRequest
    tracing: Tracing


class Traces(Registry[Trace]):
    """Makes traces one after the other."""

    def __init__(self, kept: Kept | None = None) -> None:
        super().__init__(LIMITS, kept)

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
        self.admit(client)
        made = Trace(client=client, log=EventLog(), request=request, tracing=Tracing(request))
        made.log.add(replace(accepted(request), at=now(), by=signature(client)))  # there before anyone looks
        self.enter(made)
        return made

    async def make(self, thing: Trace) -> None:
        """In a thread, which reads until its processes have ended: by themselves, or since they were asked to."""
        loop = asyncio.get_running_loop()

        def work() -> None:
            events = thing.tracing.events()
            next(events)  # that it was accepted stands there already
            try:
                for event in events:
                    if thing.stopping:
                        return
                    loop.call_soon_threadsafe(thing.log.add, event)
            finally:
                events.close()  # ends its processes

        thread = asyncio.ensure_future(asyncio.to_thread(work))
        try:
            await asyncio.shield(thread)
        finally:
            thing.stopping = True
            thing.tracing.end()
            await thread
        await asyncio.sleep(0)  # what the thread has sent comes first
        if not thing.over:
            self.cancelled(thing, "cancelled")

    async def stop(self, thing: Trace) -> None:
        """At once: whatever it is doing, its processes are killed."""
        thing.tracing.end()

    def cancelled(self, thing: Trace, reason: str) -> None:
        thing.log.add(TraceCancelled(reason=reason))

    async def broken(self, thing: Trace, error: Exception) -> None:
        thing.log.add(TraceFailed(message=f"could not be traced: {type(error).__name__}"))
