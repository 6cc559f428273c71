"""Runs, one at a time: queued, started, followed, cancelled, judged. Never imports torch.

runner = Runner()
run = runner.submit(demo_named("ddp"), {"ranks": 4}, client="who asks")     a Refusal says why not
async for event in run.follow(after=0): ...
await runner.cancel(run.id)                                                 any number of times
await runner.close()
"""

import asyncio
import contextlib
import secrets
import shutil
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.runner.catalog import checked
from app.runner.description import Demo, Params
from app.runner.event_log import Event, EventLog
from app.runner.job import Job
from app.runner.link import Gone, Link
from app.runner.predict import Prediction
from app.runner.recordings import can_run, recorded, recording_of
from app.runner.root_cause import root_cause
from app.runner.verdict import verdict
from engine.language.refusal import Refusal

WAITING, KEPT = 5, 20
LIMIT_S, SLACK_S, PATIENCE_S = 30.0, 5.0, 10.0
HELD_BACK = ("rank.error", "rank.exit")


@dataclass
class Run:
    """One run, from the moment it is accepted.

    state   "waiting", "running", "done", "failed" or "cancelled"
    """

    id: str
    demo: Demo
    params: Params
    client: str
    prediction: Prediction
    log: EventLog = field(default_factory=EventLog)
    state: str = "waiting"

    @property
    def events(self) -> list[Event]:
        return self.log.events

    @property
    def over(self) -> bool:
        return self.log.closed

    def follow(self, after: int = 0) -> AsyncIterator[Event]:
        """Every event numbered above `after`, until the run ends."""
        return self.log.follow(after)

    def say(self, event: str, **fields: Any) -> None:
        self.log.add({"event": event, "run": self.id, **fields})

    def end(self, state: str, **fields: Any) -> None:
        """The last event."""
        self.state = state
        self.say(f"run.{state}", **fields)


class Runner:
    """Accepts runs and makes them one after the other in the ranks of one zygote."""

    def __init__(self, limit_s: float = LIMIT_S, waiting: int = WAITING, live: bool = True) -> None:
        self.limit_s, self.most_waiting = limit_s, waiting
        self.live = live and can_run()  # else recorded runs are shown
        self.runs: dict[str, Run] = {}
        self._queue: deque[Run] = deque()
        self._running: Run | None = None
        self._link: Link | None = None
        self._task: asyncio.Task[None] | None = None
        self._closing = False

    def submit(self, demo: Demo, given: Mapping[str, object], client: str) -> Run:
        """Accept a run, or refuse it in a sentence. Called inside the event loop."""
        params = checked(demo, given)
        self._refuse(client)
        if not can_run():
            recording_of(demo.name)
        run = Run(secrets.token_urlsafe(9), demo, params, client, demo.predict(params))
        self._remember(run)
        self._queue.append(run)
        run.say(
            "run.accepted",
            demo=demo.name,
            params=dict(params),
            place=len(self._queue) - 1 + (self._running is not None),
        )
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._serve())
        return run

    def _refuse(self, client: str) -> None:
        if self._closing:
            raise Refusal("demo", None, "the server is going down", code="closing")
        busy = [*self._queue, *([self._running] if self._running else [])]
        if any(run.client == client for run in busy):
            raise Refusal(
                "demo", None, "one run at a time for each visitor; cancel yours, or wait for it", code="one-each"
            )
        if len(self._queue) >= self.most_waiting + (self._running is None):
            raise Refusal(
                "demo", None, f"{self.most_waiting} runs are waiting already; try again in a moment", code="busy"
            )

    def _remember(self, run: Run) -> None:
        self.runs[run.id] = run
        for old in [old for old in self.runs.values() if old.over][: max(0, len(self.runs) - KEPT)]:
            del self.runs[old.id]

    async def cancel(self, run_id: str) -> None:
        """Stop a run wherever it is. Nothing happens where there is nothing to stop."""
        run = self.runs.get(run_id)
        if run in self._queue:
            self._queue.remove(run)
            run.end("cancelled", reason="cancelled while waiting")
        elif run is not None and run is self._running:
            run.state = "cancelling"
            if self._link:
                with contextlib.suppress(Gone):
                    await self._link.cancel(run.id)

    async def close(self) -> None:
        """Cancel everything, end the zygote, leave nothing behind."""
        self._closing = True
        for run in [*self._queue, *([self._running] if self._running else [])]:
            await self.cancel(run.id)
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        await self._drop_link()

    async def _drop_link(self) -> None:
        """End the zygote, if there is one, and remove what it left."""
        link, self._link = self._link, None
        if link:
            await link.close()

    async def _serve(self) -> None:
        """Make the runs that wait, in their order."""
        while self._queue:
            run = self._running = self._queue.popleft()
            try:
                await (self._make(run) if self.live else replay(run))
            except Gone:
                await self._drop_link()
                run.end(
                    "failed",
                    rank=None,
                    message="the process that starts the ranks has died; the next run starts it again",
                    root_cause="launcher",
                )
            except Exception as error:  # whatever it is, the runs that wait must still be made
                await self._drop_link()
                run.end(
                    "failed", rank=None, message=f"could not be made: {type(error).__name__}", root_cause="launcher"
                )
            finally:
                if not run.over:
                    run.end("cancelled", reason="the server goes down")
                self._running = None

    async def _zygote(self) -> tuple[Link, bool]:
        """A zygote that lives, and whether it had to be started."""
        if self._link and self._link.alive:
            return self._link, False
        await self._drop_link()
        self._link = await Link.opened()
        return self._link, True

    async def _make(self, run: Run) -> None:
        began = time.monotonic()
        link, cold = await self._zygote()
        if run.state == "cancelling":
            run.end("cancelled", reason="cancelled before it started")
            return
        folder = link.folder_for(run.id)
        job = Job(
            run.id,
            run.demo.name,
            run.params,
            run.demo.ranks(run.params),
            folder,
            start=time.monotonic(),
            patience=float(run.params.get("patience", PATIENCE_S)),
            agent=run.demo.agent,
        )
        run.state = "running" if run.state == "waiting" else run.state
        run.say(
            "run.started",
            ranks=job.ranks,
            seed=job.seed,
            versions=link.ready["versions"],
            cold=cold,
            start_s=round(job.start - began, 3),
            predicted=run.prediction.document(),
        )
        try:
            await link.start(job, self.limit_s)
            async with asyncio.timeout(self.limit_s + SLACK_S):
                held, ended = await listen(link, run)
        except TimeoutError:
            raise Gone from None  # it does not answer: it is ended, and everything it started with it
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        finish(run, job.ranks, held, ended)


async def listen(link: Link, run: Run) -> tuple[list[Event], Event]:
    """Write what the ranks say, until all have ended: what was held back to be judged, and how it ended."""
    held: list[Event] = []
    while True:
        event = await link.heard()
        if event.get("run") != run.id:
            continue
        if event["event"] == "ended":
            return held, event
        if event["event"] in HELD_BACK:
            held.append(event)
        else:
            run.log.add(event)


def finish(run: Run, ranks: int, held: list[Event], ended: Event) -> None:
    """Errors with the cause marked, the verdict, and the last event."""
    errors = [event for event in held if event["event"] == "rank.error"]
    exits = [event for event in held if event["event"] == "rank.exit"]
    reason, wall_s = ended["reason"], ended["wall_s"]
    cause = root_cause([*run.events, *errors], exits, ranks) if reason == "failed" else None
    for event in errors:
        run.log.add({**event, "root_cause": cause is not None and event["rank"] == cause.rank})
    for event in exits:
        run.log.add(event)
    if reason in ("cancelled", "limit"):
        said = "cancelled" if reason == "cancelled" else f"stopped after {wall_s:.0f} s: a run may take no longer"
        run.end("cancelled", reason=said, wall_s=wall_s)
        return
    judged = cause is None or run.prediction.failure is not None
    victim = int(run.params["victim"]) if "victim" in run.params else None
    rows = verdict(run.prediction, run.events, cause, victim) if judged else []
    for row in rows:
        run.say("check", **row)
    ok = bool(rows) and all(row["ok"] for row in rows)
    if cause is None:
        run.end("done", reason="done", wall_s=wall_s, ok=ok)
    else:
        run.end("failed", rank=cause.rank, message=cause.sentence, root_cause=cause.rank, wall_s=wall_s, ok=ok)


async def replay(run: Run) -> None:
    """Where torch is missing: the recorded events of this demo, at the pace at which they were recorded."""
    last = 0.0
    for event in recorded(run.demo.name):
        if run.state == "cancelling":
            run.end("cancelled", reason="cancelled")
            return
        now = float(event.get("t") or last)
        await asyncio.sleep(max(0.0, now - last))
        last = max(last, now)
        if event["event"] != "run.accepted":
            run.log.add({**event, "run": run.id, "recorded": True})
    run.state = run.events[-1]["event"].removeprefix("run.")
