"""Makes the recorded runs that are shown where torch is missing: one real run of each demo, as it happens here.

    python -m app.runner.record            every demo, with its default knobs
    python -m app.runner.record ddp tp     these

Wants a machine with torch and little else to do. The files say with which versions and when they were made.
"""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from app.live.events import lines_of
from app.runner.catalog import DEMOS, demo_named
from app.runner.event_kinds import RunAccepted, RunDone, RunEvent, RunFailed, RunStarted
from app.runner.launch import Runner
from app.runner.recordings import FOLDER


async def record(names: Sequence[str]) -> bool:
    """Run each, write its file, say how it went."""
    runner, well = Runner(), True
    try:
        for name in names:
            run = runner.submit(demo_named(name), {}, client="record")
            events = [event async for event in run.follow()]
            (FOLDER / f"{name}.jsonl").write_bytes(lines_of(map(_shown, events)))
            ok = isinstance(last := events[-1], RunDone | RunFailed) and bool(last.ok)
            well = well and ok
            print(name, last.KIND, "ok" if ok else "NOT as predicted")
    finally:
        await runner.close()
    return well


def _shown(event: RunEvent) -> RunEvent:
    """The event as it is kept: the run's name means nothing later, nor who asked for it; its start says when it was made."""
    if isinstance(event, RunAccepted):
        return replace(event, run="", at="", by="")
    if isinstance(event, RunStarted):
        return replace(event, run="", date=datetime.now(UTC).date().isoformat())
    return replace(event, run="")


if __name__ == "__main__":
    sys.exit(not asyncio.run(record(sys.argv[1:] or list(DEMOS))))
