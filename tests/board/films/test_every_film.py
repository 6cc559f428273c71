"""What holds for every film; a new one is tested by being listed."""

import hashlib
import json
import os
import zlib
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from app.board.film.data import film_data
from app.board.film.film import MOST_WORDS, Film, Stop
from app.board.legend import SIZES
from engine.language.refusal import Refusal
from tests.board.films.reading import (
    FILMS,
    compositions,
    film_of,
    films,
    kinds_that_move,
    moments,
    picture_of,
    resting,
    words_at,
)

SNAPSHOTS = Path(__file__).parents[1] / "snapshots" / "films"
EACH = pytest.mark.parametrize("name", FILMS)
SMALLEST = {"wide": 16, "tall": 12}  # units: of 400 on a stage, of 360 on a phone
MOST_BYTES = 40_000  # of one composition, compressed
SEEN = 0.02  # s: nobody sees what is over within a frame or two
HAIR = 0.6  # units: places are rounded to a tenth


@EACH
def test_a_film_lasts_as_long_as_one_watches(name: str) -> None:
    for given, film in films(name):
        assert 20 <= film.length + sum(resting(film)) <= 40, given


@EACH
def test_captions_can_be_read_while_something_moves(name: str) -> None:
    for given, film in films(name):
        assert len({stop.name for stop in film.stops}) == len(film.stops)
        for stop in film.stops:
            assert 3 <= len(stop.caption.split()) <= MOST_WORDS, (given, stop.caption)
            assert len(stop.description) > 40, (given, stop.name)
            assert stop.begins <= stop.t <= film.length


@EACH
def test_the_picture_changes_while_time_runs(name: str) -> None:
    film = film_of(name)
    for picture in compositions(film):
        seen = [picture_of(picture, t) for t in moments(film)]
        changes = [before != after for before, after in pairwise(seen)]
        assert sum(changes) >= 0.7 * len(changes), [at / 10 for at, moves in enumerate(changes) if not moves]
        whole = len(changes) + 10 * sum(resting(film))
        assert sum(changes) >= 0.5 * whole


@EACH
def test_the_first_twelve_seconds_are_as_lively(name: str) -> None:
    film = film_of(name)
    clock, rest, changes = 0.0, dict(zip((stop.t for stop in film.stops), resting(film), strict=False)), []
    for before, after in pairwise(moments(film)):
        if clock > 12:
            break
        changes.append(picture_of(film.wide, before) != picture_of(film.wide, after))
        rested = sum(seconds for t, seconds in rest.items() if before < t <= after)
        changes += [False] * round(10 * rested)
        clock += 0.1 + rested
    assert sum(changes) >= 0.5 * len(changes)


@EACH
def test_at_least_six_kinds_of_thing_move(name: str) -> None:
    for picture in compositions(film_of(name)):
        assert len(kinds_that_move(picture)) >= 6, kinds_that_move(picture)


@EACH
def test_what_is_on_its_way_is_on_its_wire_and_only_while_its_bytes_are(name: str) -> None:
    for given, film in films(name):
        for picture in compositions(film):
            for actor in picture.actors:
                for flight in actor.flights:
                    assert flight.end > flight.start - 1e-9, (given, actor.key)
                    if flight.end - flight.start < SEEN:
                        continue  # its moments are rounded to a millisecond: that outweighs its way
                    for at in range(1, 8):
                        t = flight.start + (flight.end - flight.start) * at / 8
                        now = actor.track.at(t)
                        assert flight.wire.distance(now["x"], now["y"]) < HAIR, (given, actor.key, t)
                if actor.flights:
                    flown = [(flight.start, flight.end) for flight in actor.flights]
                    for t in moments(film):
                        flying = any(start + 0.002 < t < end - 0.002 for start, end in flown)
                        near = any(start - 0.002 <= t <= end + 0.002 for start, end in flown)
                        assert near or actor.track.at(t)["opacity"] == 0, (given, actor.key, t)
                        assert not flying or actor.track.at(t)["opacity"] == 1, (given, actor.key, t)


@EACH
def test_both_compositions_have_the_same_actors_at_the_same_times(name: str) -> None:
    film = film_of(name)
    flights = [
        Counter((round(flight.start, 2), round(flight.end, 2)) for actor in picture.actors for flight in actor.flights)
        for picture in compositions(film)
    ]
    assert flights[0] == flights[1]


@EACH
def test_no_words_are_small_overlap_or_leave_the_picture(name: str) -> None:
    for given, film in films(name):
        for picture in compositions(film):
            for stop in film.stops:
                words = words_at(picture, stop.t)
                for each in words:
                    assert SIZES[each.style] >= SMALLEST[picture.form], (given, stop.name, each)
                    assert each.left >= -2 and each.right <= picture.width + 2, (picture.form, given, stop.name, each)
                    assert each.top >= -2 and each.bottom <= picture.height + 2, (picture.form, given, stop.name, each)
                for one, two in combinations(words, 2):
                    lifted = one.text == two.text and abs(one.left - two.left) < HAIR  # a coin leaves its own slice
                    assert lifted or not one.overlaps(two, 2.0), (picture.form, given, stop.name, one, two)


@EACH
def test_a_composition_is_small_at_any_setting(name: str) -> None:
    for given, film in films(name):
        data = json.loads(film_data(film))
        for picture in compositions(film):
            sent = picture.at(0.0) + json.dumps(data[picture.form], separators=(",", ":"))
            assert len(zlib.compress(sent.encode(), 6)) <= MOST_BYTES, (given, picture.form)


@EACH
def test_the_same_setting_gives_the_same_bytes(name: str) -> None:
    scene = FILMS[name]
    assert scene.film
    once, again = (scene.film(scene.values({})) for _ in range(2))
    for t in (0.0, 1.0, once.length / 2, once.length):
        assert once.wide.at(t) == again.wide.at(t) and once.tall.at(t) == again.tall.at(t)
    assert film_data(once) == film_data(again)


@EACH
def test_a_moment_that_is_none_is_a_sentence(name: str) -> None:
    film = film_of(name)
    for said in ("-1", "nan", "inf", "many", "", str(film.length + 1)):
        with pytest.raises(Refusal) as caught:
            film.moment(said)
        assert caught.value.field == "t"
        film.moment(caught.value.nearest or "none")  # what is named works


@EACH
def test_stops_are_as_they_were(name: str) -> None:
    """SHARDBOARD_SNAPSHOTS=write renews them."""
    film = film_of(name)
    text = "\n".join(outline(film, stop) for stop in film.stops) + "\n"
    file = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("SHARDBOARD_SNAPSHOTS") == "write":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def outline(film: Film, stop: Stop) -> str:
    """A stop as text: when it is, what is said and written where, how much is drawn, and a digest of every stroke."""
    lines = [f"# {stop.t:g} s, {stop.name}: {stop.caption}", f"  {stop.description}"]
    for picture in compositions(film):
        svg = picture.at(stop.t)
        shown = sum(actor.track.at(stop.t)["opacity"] > 0 for actor in picture.actors)
        digest = hashlib.sha256(svg.encode()).hexdigest()[:16]
        lines.append(f"  {picture.form}: {shown} of {len(picture.actors)} actors, {digest}")
    lines += [f"  {word.text} @ {word.left:.0f},{word.top:.0f}" for word in words_at(film.wide, stop.t)]
    return "\n".join(lines)


@EACH
def test_the_stop_that_shows_the_answer_exists_at_every_setting(name: str) -> None:
    proof = FILMS[name].proof
    assert proof, "a question that no passage answers"
    for given, film in films(name):
        assert proof in [stop.name for stop in film.stops], given
