"""Live things of a kind made up here: what is said is numbered, bounded, followed, kept; who may start and stop is decided."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fastapi import FastAPI, Request
from sse_starlette import EventSourceResponse
from starlette.testclient import TestClient

from app.live.events import Event, Family, line_of, lines_of, of_kind
from app.live.kept import Kept
from app.live.log import EventLog
from app.live.registry import Limits, Live, Registry
from app.live.served import close_all, find, registry_of, stream
from engine.language.refusal import Refusal


@dataclass(frozen=True)
class Note(Event, kind="note"):
    """One sound."""

    pitch: int
    louder: float = 0.0
    parts: tuple[int, ...] = ()


@dataclass(frozen=True)
class Rest(Event, kind="rest", last=True):
    """Nothing more."""

    why: str


SONG = Family[Event](Note, Rest)
LIMITS = Limits(noun="song", field="song", waiting=1, one_each=True, remembered=2)


class Songs(Registry[Live[Event]]):
    """Each song goes on for as many notes as were asked for; 0 for ever; a negative number breaks it."""

    def start(self, notes: int, client: str = "me") -> Live[Event]:
        self.admit(client)
        made = Live[Event](client=client, log=EventLog())
        made.log.add(Note(pitch=notes))
        self.enter(made)
        return made

    async def make(self, thing: Live[Event]) -> None:
        (asked,) = of_kind(thing.events, Note)
        if asked.pitch < 0:
            raise ValueError("flat")
        for number in range(asked.pitch or 10**9):
            if thing.stopping:
                return self.cancelled(thing, "stopped")
            thing.log.add(Note(number))
            await asyncio.sleep(0)
        thing.log.add(Rest("sung"))
        return None

    async def stop(self, thing: Live[Event]) -> None: ...

    def cancelled(self, thing: Live[Event], reason: str) -> None:
        thing.log.add(Rest(reason))

    async def broken(self, thing: Live[Event], error: Exception) -> None:
        thing.log.add(Rest(f"broke: {error}"))


async def ending(song: Live[Event]) -> str:
    last = [event async for event in song.follow()][-1]
    assert isinstance(last, Rest)
    return last.why


# Events


def test_an_event_is_a_line_and_comes_back() -> None:
    note = Note(60, parts=(1, 2), seq=7)
    assert json.loads(line_of(note)) == {"event": "note", "seq": 7, "pitch": 60, "parts": [1, 2]}
    assert SONG.read(line_of(note)) == note


def test_a_number_that_is_none_is_passed_on_and_is_null_in_a_file() -> None:
    note = Note(60, louder=float("nan"))
    (back,) = of_kind([SONG.read(line_of(note))], Note)
    assert back.louder != back.louder and b'"louder":null' in lines_of([note])


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b'{"event": "note", "pitch": "60"}', 'events.pitch = "60": line 3 is no note event as it is written here: needs a whole number; the nearest that works: 60'),
        (b'{"event": "note", "pitch": true}', "events.pitch = true: "),
        (b'{"event": "note"}', "events.pitch: line 3 is no note event as it is written here: it needs this field"),
        (b'{"event": "note", "pitch": 1, "parts": [1, "x"]}', 'events.parts.1 = "x": '),
        (b'{"event": "nota"}', "events.event = nota: line 3 is no event that is known here: note, rest; the nearest that works: note"),
        (b'{"pitch": 1}', "line 3 is no event: it needs an object"),
        (b"[" * 100_000, "line 3 is no JSON"),
        (b'{"event": "rest", "why": "\\ud800"}', "half of a surrogate pair"),
    ],
)  # fmt: skip
def test_what_is_no_event_is_refused_with_its_line_and_field(line: bytes, sentence: str) -> None:
    with pytest.raises(Refusal) as refused:
        SONG.read(line, 3)
    assert sentence in refused.value.sentence and len(refused.value.sentence) < 400


# One at a time


def test_one_is_made_the_next_waits_and_the_third_is_refused() -> None:
    async def sing() -> None:
        songs = Songs(LIMITS)
        first, second = songs.start(0, "a"), songs.start(3, "b")
        with pytest.raises(Refusal, match="1 songs are waiting already") as busy:
            songs.start(1, "c")
        with pytest.raises(Refusal, match="one song at a time for each visitor") as twice:
            songs.start(1, "a")
        assert (busy.value.code, twice.value.code) == ("busy", "one-each")
        await asyncio.sleep(0)
        await songs.cancel(first.id)
        await songs.cancel(first.id)
        assert await ending(first) == "stopped" and await ending(second) == "sung"
        await songs.cancel(second.id)
        await songs.cancel("nobody")
        await songs.close()

    asyncio.run(sing())


def test_one_that_waits_is_cancelled_and_one_that_breaks_holds_nobody_up() -> None:
    async def sing() -> list[str]:
        songs = Songs(Limits(noun="song", field="song", waiting=5, one_each=False, remembered=9))
        broken, waiting, next_one = songs.start(-1), songs.start(0), songs.start(1)
        await songs.cancel(waiting.id)
        ends = [await ending(each) for each in (broken, waiting, next_one)]
        await songs.close()
        return ends

    assert asyncio.run(sing()) == ["broke: flat", "cancelled while waiting", "sung"]


def test_a_registry_that_closes_ends_what_is_under_way_and_takes_no_more() -> None:
    async def sing() -> str:
        songs = Songs(LIMITS)
        endless = songs.start(0)
        await asyncio.sleep(0)
        await songs.close()
        with pytest.raises(Refusal, match="going down"):
            songs.start(1)
        return await ending(endless)

    assert asyncio.run(sing()) in ("stopped", "the server goes down")


def test_only_the_last_that_have_ended_are_remembered() -> None:
    async def sing() -> list[bool]:
        songs, made = Songs(LIMITS), []
        for _ in range(4):
            made.append(songs.start(1))
            await ending(made[-1])
            await asyncio.sleep(0)
        await songs.close()
        return [song.id in songs.things for song in made]

    assert asyncio.run(sing()) == [False, False, True, True]


def test_a_follower_that_comes_back_goes_on_where_it_was() -> None:
    async def follow() -> None:
        songs = Songs(LIMITS)
        song = songs.start(5)
        follower: AsyncIterator[Event] = song.follow()
        seen = [await anext(follower) for _ in range(3)]
        again = [event async for event in song.follow(after=seen[-1].seq)]
        assert seen + again == song.events and [event.seq for event in song.events] == list(range(1, 8))
        await songs.close()

    asyncio.run(follow())


# On disk


def test_what_has_ended_is_kept_and_the_oldest_go(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "songs", most=3)

    async def sing() -> list[Live[Event]]:
        songs, made = Songs(LIMITS, kept), []
        for notes in range(1, 6):
            made.append(songs.start(notes))
            await ending(made[-1])
            await asyncio.sleep(0.01)  # files are told apart by their times
        await songs.close()
        return made

    made = asyncio.run(sing())
    assert [kept.load(song.id) for song in made] == [None, None, *(lines_of(song.events) for song in made[2:])]
    assert len(list(kept.folder.iterdir())) == 3
    assert kept.load(f"../songs/{made[-1].id}") is None and kept.load("") is None


def test_what_ends_because_the_server_goes_down_is_kept_too(tmp_path: Path) -> None:
    async def sing() -> Live[Event]:
        songs = Songs(LIMITS, Kept(tmp_path))
        song = songs.start(0)
        await asyncio.sleep(0)
        await songs.close()
        return song

    song = asyncio.run(sing())
    text = Kept(tmp_path).load(song.id)
    assert text is not None and SONG.read_lines(text)[-1].LAST


# As server-sent events


def test_a_stream_goes_on_after_the_last_event_and_says_when_it_is_over() -> None:
    app = FastAPI()

    @app.post("/{notes}")
    async def start(request: Request, notes: int) -> str:
        return registry_of(request.app, Songs, lambda: Songs(LIMITS)).start(notes).id

    @app.get("/{name}")
    async def events(request: Request, name: str) -> EventSourceResponse:
        return stream(request, find(request.app, name))

    with TestClient(app) as client:
        name = client.post("/3").json()
        whole = client.get(f"/{name}").text
        assert [line for line in whole.split() if line.isdecimal()] == ["1", "2", "3", "4", "5"]
        assert whole.rstrip().endswith("data: over")
        for last, left in (
            ("3", ["4", "5"]),
            ("x", ["1", "2", "3", "4", "5"]),
            ("99", []),
            ("\u00b2", ["1", "2", "3", "4", "5"]),
        ):
            headers = {b"Last-Event-ID": last.encode("latin-1")}
            found = client.get(f"/{name}", headers=headers).text
            assert [line for line in found.split() if line.isdecimal()] == left
        assert client.get("/nobody").text.count("event:") == 1
        assert client.portal is not None
        client.portal.call(close_all, app)
