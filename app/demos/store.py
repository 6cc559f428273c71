"""Runs that have ended, kept on disk: one file of JSON lines each, so that an address still works after a restart."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import orjson

from app.settings import settings
from engine.language.refusal import Refusal

Event = Mapping[str, Any]
GONE = "This run is not kept here any more. The address of a demo makes another one like it."
BOM = b"\xef\xbb\xbf"
KEPT = 500  # runs; the oldest go first
ID = re.compile(r"\A[A-Za-z0-9_-]{8,24}\Z")  # what a run is called: nothing in it can name another place
MOST_BYTES, MOST_EVENTS = 2_500_000, 6_000


def folder() -> Path:
    return settings().data / "runs"


def save_run(run_id: str, events: Iterable[Event]) -> None:
    """Write a run that has ended; make room where there are many."""
    assert ID.match(run_id)
    place = folder()
    place.mkdir(parents=True, exist_ok=True)
    part = place / f"{run_id}.part"
    part.write_bytes(lines_of(events))
    part.replace(place / f"{run_id}.jsonl")
    for old in sorted(place.glob("*.jsonl"), key=lambda path: path.stat().st_mtime)[:-KEPT]:
        old.unlink(missing_ok=True)


def load_run(run_id: str) -> list[dict[str, Any]] | None:
    """The events of a run that is kept, or None."""
    path = folder() / f"{run_id}.jsonl"
    return events_of(path.read_bytes()) if ID.match(run_id) and path.exists() else None


def lines_of(events: Iterable[Event]) -> bytes:
    """Events as JSON lines."""
    return b"".join(orjson.dumps(event) + b"\n" for event in events)


def events_of(text: bytes) -> list[dict[str, Any]]:
    """The events of JSON lines, from this program or from a cluster. What is no event is refused with its line.

    >>> events_of(b'{"event": "step", "rank": 0, "step": 0, "loss": 6.2}')[0]["loss"]
    6.2
    """
    if len(text) > MOST_BYTES:
        raise Refusal("events", None, f"has {len(text):,} bytes; at most {MOST_BYTES:,} are read")
    found: list[dict[str, Any]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        if len(found) == MOST_EVENTS:
            raise Refusal("events", None, f"has more than {MOST_EVENTS:,} lines")
        try:
            event = json.loads(line.removeprefix(BOM), parse_constant=lambda _: None)  # a loss may have become NaN
        except (ValueError, RecursionError):
            raise Refusal("events", line[:40].decode("utf-8", "replace"), f"line {number} is no JSON") from None
        if not isinstance(event, dict) or not isinstance(event.get("event"), str):
            raise Refusal("events", None, f'line {number} is no event: it needs an object with a field "event"')
        found.append(event)
    if not found:
        raise Refusal("events", None, "is empty; paste the JSON lines that a run has written")
    return found


def well_formed(events: Sequence[Event]) -> None:
    """Refuses events whose fields are not what a run writes, before anything is drawn of them."""
    for number, event in enumerate(events, 1):
        for name, kinds in SHAPES.get(event["event"], {}).items():
            if not isinstance(event.get(name), kinds) or isinstance(event.get(name), bool):
                raise Refusal(
                    f"events.{name}", event.get(name), f"line {number} is no {event['event']} event as a run writes it"
                )


REAL = (int, float)
SHAPES: dict[str, dict[str, tuple[type, ...]]] = {
    "step": {"step": (int,), "rank": (int, str), "t0": REAL, "t1": REAL},
    "state": {"rank": (int, str), "param_bytes": REAL, "grad_bytes": REAL, "opt_bytes": REAL},
    "comm": {"rank": (int, str), "step": (int,), "calls": (list,)},
    "pipe": {"rank": (int, str), "step": (int,), "ops": (list,)},
}


class Followed(Protocol):
    """A run or a trace: what it has said, and what it will still say."""

    id: str

    @property
    def events(self) -> list[dict[str, Any]]: ...

    def follow(self, after: int = 0) -> AsyncIterator[dict[str, Any]]: ...


async def keep(made: Followed) -> None:
    """Write a run down once it has ended."""
    async for _ in made.follow():
        pass
    await asyncio.to_thread(save_run, made.id, list(made.events))
