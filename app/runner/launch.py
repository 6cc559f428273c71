"""Runs, one at a time: queued, started, followed, cancelled, judged. Never imports torch.

runner = Runner()
run = runner.submit(demo_named("ddp"), {"ranks": 4}, client="who asks")     a Refusal says why not
async for event in run.follow(after=0): ...
await runner.cancel(run.id)                                                 any number of times
await runner.close()
"""

import asyncio
import contextlib
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.live.events import of_kind
from app.live.kept import Kept
from app.live.log import EventLog
from app.live.registry import Limits, Live, Registry, now, signature
from app.runner.catalog import checked
from app.runner.description import Demo, Params
from app.runner.event_kinds import (
    RankError,
    RankExit,
    RunAccepted,
    RunCancelled,
    RunDone,
    RunEvent,
    RunFailed,
    RunStarted,
)
from app.runner.job import Job, RunEnded
from app.runner.link import Gone, Link
from app.runner.predict import Prediction
from app.runner.recordings import can_run, recorded, recording_of
from app.runner.root_cause import root_cause
from app.runner.verdict import verdict

LIMITS = Limits(noun="run", field="demo", waiting=5, one_each=True, remembered=20)
LIMIT_S, SLACK_S, PATIENCE_S = 30.0, 5.0, 10.0
LAUNCHER = "launcher"  # the root cause where no rank is
FULL = RankError(
    None, None, "Full", "the run said more than is kept; its events end here, the verdict follows", root_cause=False
)


@dataclass(eq=False, kw_only=True)
class Run(Live[RunEvent]):
    """One run, from the moment it is accepted."""

    demo: Demo
    params: Params
    prediction: Prediction

    @property
    def state(self) -> str:
        """waiting, running, done, failed or cancelled."""
        if self.over:
            return self.events[-1].KIND.removeprefix("run.")
        return "running" if of_kind(self.events, RunStarted) else "waiting"

    def say(self, event: RunEvent) -> None:
        self.log.add(replace(event, run=self.id))


class Runner(Registry[Run]):
    """Accepts runs and makes them one after the other in the ranks of one zygote.

    live   whether processes are started; else recorded runs are shown
    """

    def __init__(self, limit_s: float = LIMIT_S, live: bool = True, kept: Kept | None = None) -> None:
        super().__init__(LIMITS, kept)
        self.limit_s, self.live = limit_s, live and can_run()
        self._link: Link | None = None

    def submit(self, demo: Demo, given: Mapping[str, object], client: str) -> Run:
        """Accept a run, or refuse it in a sentence. Called inside the event loop."""
        params = checked(demo, given)
        self.admit(client)
        if not can_run():
            recording_of(demo.name)
        run = Run(client=client, log=EventLog(FULL), demo=demo, params=params, prediction=demo.predict(params))
        run.say(RunAccepted(demo.name, dict(params), self.before, now(), signature(client)))
        self.enter(run)
        return run

    async def make(self, thing: Run) -> None:
        await (self._make(thing) if self.live else replay(thing))

    async def stop(self, thing: Run) -> None:
        if self._link:
            with contextlib.suppress(Gone):
                await self._link.cancel(thing.id)

    def cancelled(self, thing: Run, reason: str) -> None:
        thing.say(RunCancelled(reason=reason))

    async def broken(self, thing: Run, error: Exception) -> None:
        await self._drop_link()
        message = f"could not be made: {type(error).__name__}"
        if isinstance(error, Gone):
            message = "the process that starts the ranks has died; another run tries to start it again"
        said = error.said if isinstance(error, Gone) else ""
        thing.say(RunFailed(rank=None, message=message, root_cause=LAUNCHER, said=said))

    async def close(self) -> None:
        """Cancel everything, end the zygote, leave nothing behind."""
        await super().close()
        await self._drop_link()

    async def _drop_link(self) -> None:
        """End the zygote, if there is one, and remove what it left."""
        link, self._link = self._link, None
        if link:
            await link.close()

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
        if run.stopping:
            self.cancelled(run, "cancelled before it started")
            return
        folder, patience = link.folder_for(run.id), float(run.params.get("patience", PATIENCE_S))
        ranks, start = run.demo.ranks(run.params), time.monotonic()
        job = Job(
            run.id, run.demo.name, run.params, ranks, folder, start=start, patience=patience, agent=run.demo.agent
        )
        run.say(
            RunStarted(
                ranks=job.ranks,
                seed=job.seed,
                versions=link.versions,
                cold=cold,
                start_s=round(job.start - began, 3),
                predicted=run.prediction.told(),
            )
        )
        try:
            await link.start(job, self.limit_s)
            async with asyncio.timeout(self.limit_s + SLACK_S):
                heard = await listen(link, run)
        except TimeoutError:
            raise Gone from None  # it does not answer: it is ended, and everything it started with it
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        finish(run, job.ranks, heard)


@dataclass(frozen=True)
class Heard:
    """What was held back to be judged, and how a run ended."""

    errors: list[RankError]
    exits: list[RankExit]
    ended: RunEnded


async def listen(link: Link, run: Run) -> Heard:
    """Write what the ranks say, until all have ended."""
    errors: list[RankError] = []
    exits: list[RankExit] = []
    while True:
        event = await link.heard()
        if isinstance(event, RunEnded) and event.run == run.id:
            return Heard(errors, exits, event)
        if not isinstance(event, RunEvent) or event.run != run.id:
            continue
        if isinstance(event, RankError):
            errors.append(event)
        elif isinstance(event, RankExit):
            exits.append(event)
        else:
            run.log.add(event)


def finish(run: Run, ranks: int, heard: Heard) -> None:
    """Errors with the cause marked, the verdict, and the last event."""
    errors, exits, reason, wall_s = heard.errors, heard.exits, heard.ended.reason, heard.ended.wall_s
    cause = root_cause([*run.events, *errors], exits, ranks) if reason == "failed" else None
    for error in errors:
        run.log.add(replace(error, root_cause=cause is not None and error.rank == cause.rank))
    for exit in exits:
        run.log.add(exit)
    if reason in ("cancelled", "limit"):
        said = "cancelled" if reason == "cancelled" else f"stopped after {wall_s:.0f} s: a run may take no longer"
        run.say(RunCancelled(reason=said, wall_s=wall_s))
        return
    judged = cause is None or run.prediction.failure is not None
    victim = int(run.params["victim"]) if "victim" in run.params else None
    rows = verdict(run.prediction, run.events, cause, victim) if judged else []
    for row in rows:
        run.say(row)
    ok = bool(rows) and all(row.ok for row in rows)
    if cause is None:
        run.say(RunDone(reason="done", wall_s=wall_s, ok=ok))
    else:
        ended = RunFailed(rank=cause.rank, message=cause.sentence, root_cause=cause.rank, said=cause.said)
        run.say(replace(ended, wall_s=wall_s, ok=ok))


async def replay(run: Run) -> None:
    """Where torch is missing: the recorded events of this demo, at the pace at which they were recorded."""
    last = 0.0
    for event in recorded(run.demo.name):
        if run.stopping:
            run.say(RunCancelled(reason="cancelled"))
            return
        now = event.moment or last
        await asyncio.sleep(max(0.0, now - last))
        last = max(last, now)
        if not isinstance(event, RunAccepted):
            run.say(replace(event, recorded=True))
