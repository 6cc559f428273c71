"""The tensor parallel film against the engine: bytes on the wires, what is whole where, what is kept, straight lanes."""

from collections import defaultdict

import pytest
from hypothesis import given as over
from hypothesis import settings, strategies

from app.board.film.composition import Actor, Composition, words_at
from app.board.film.film import Film
from app.board.film.pieces import Axis
from app.board.scenes.tp.board import sent_until
from app.board.scenes.tp.case import Case
from app.board.scenes.tp.film import film
from app.board.scenes.tp.halves import METER
from app.board.scenes.tp.places import places
from app.board.scenes.tp.ring import Gesture
from app.board.scenes.tp.scene import TP
from app.board.scenes.tp.story import Story
from engine.language.units import bytes_text, seconds_text
from engine.lens.turns import Turn
from engine.network.collectives import ring_all_gather_sent_bytes, ring_all_reduce_sent_bytes
from tests.board.films.reading import compositions, film_of, moments

KNOBS = strategies.fixed_dictionaries(
    {
        "tp": strategies.sampled_from(["1", "2", "4", "8"]),
        "sequence": strategies.sampled_from(["1024", "8192", "131072"]),
        "width": strategies.sampled_from(["1024", "8192", "16384"]),
        "first": strategies.sampled_from(["columns", "rows"]),
        "second": strategies.sampled_from(["rows", "columns"]),
    }
)
few = settings(max_examples=12, deadline=None)


def told(given: dict[str, str]) -> tuple[Film, Story]:
    values = TP.values(given)
    return film(values), Story(Case(values))


@few
@over(given=KNOBS)
def test_what_a_gpu_sends_arrives_at_the_next_and_is_what_the_engine_counts(given: dict[str, str]) -> None:
    made, story = told(given)
    case = story.case
    sums = 1 + 2 + 1  # attention forward, both backward, over nodes
    counted = sum(each.sent.value for each in case.forced) + sums * case.sent.value + 2 * case.half_sent.value
    for picture in compositions(made):
        at = places(picture, story.n)
        left: defaultdict[tuple[float, float], float] = defaultdict(float)
        arrived: defaultdict[tuple[float, float], float] = defaultdict(float)
        for actor in picture.actors:
            for flight in actor.flights:
                left[flight.wire.points[0]] += flight.n_bytes
                arrived[flight.wire.points[-1]] += flight.n_bytes
        assert left.keys() == arrived.keys()
        for gpu in at.drawn:
            ends = [at.hop(gpu, name)[0] for name in "XYZ"]
            assert sum(left[end] for end in ends) == pytest.approx(counted)
            assert sum(arrived[end] for end in ends) == pytest.approx(counted)


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize(("scatters", "gathers"), [(True, True), (True, False), (False, True)])
def test_a_piece_leaves_only_where_it_is_and_ends_where_it_should(n: int, scatters: bool, gathers: bool) -> None:
    """Parts of a sum walk the ring until their owner has all of them; whole pieces walk it until all have them."""
    gesture = Gesture("Z", Turn("sum", 0.0, 1.0, True), scatters, gathers, 1.0)
    scatter, gather = gesture.halves(n)
    for piece in range(n):
        parts = {gpu: {gpu} for gpu in range(n)} if scatters else {piece: set(range(n))}
        for start, end in (*scatter, *gather):
            senders = [gpu for gpu in range(n) if (start, end) in gesture.rides(gpu, piece, n)]
            assert len(senders) == 1  # of each piece one coin is under way
            there = (senders[0] + 1) % n
            parts[there] = parts.get(there, set()) | parts[senders[0]]
            complete = gesture.whole_at(there, piece, n)
            if complete == end:
                assert parts[there] == set(range(n))
        assert parts[piece] == set(range(n))
        assert not gathers or all(parts[gpu] == set(range(n)) for gpu in range(n))


@few
@over(given=KNOBS)
def test_what_is_kept_is_the_engine_s_at_every_moment(given: dict[str, str]) -> None:
    made, story = told(given)
    case, passage = story.case, story.halves
    before, after = case.kept(case.tp, False), case.kept(case.tp, case.tp > 1)
    turns = max(made.lens.ends(passage.act.turns[0].end), passage.since)
    for picture in compositions(made):
        strip = next(actor for actor in picture.actors if actor.key == "kept")
        steps = next(words.steps for words in picture.words if words.key == "kept")
        for t in moments(made):
            if passage.since + 0.1 < t < turns - 0.1:
                assert strip.track.at(t)["wide"] == pytest.approx(METER, abs=0.01)
                assert words_at(steps, t) == before.text
            if turns + 0.4 < t < passage.until - 0.1:
                assert strip.track.at(t)["wide"] == pytest.approx(METER * after.value / before.value, abs=0.01)
                assert words_at(steps, t) == after.text


@few
@over(given=KNOBS)
def test_work_on_the_lanes_ends_at_the_playhead_at_every_moment(given: dict[str, str]) -> None:
    made, story = told(given)
    for picture in compositions(made):
        at = places(picture, story.n)
        for number, passage in enumerate(story.passages):
            if passage.act.end == passage.act.start:
                continue
            axis = Axis(*at.lanes, passage.act.start, passage.act.end)
            now = actor_of(picture, f"act-{number}-now")
            compute = [turn for turn in passage.act.work if turn.end > turn.start]
            for t in (t for t in moments(made) if passage.since < t < passage.until):
                e = made.lens(t)
                assert now.track.at(t)["x"] == pytest.approx(axis.x(min(max(e, axis.start), axis.end)), abs=0.3)
                for place, turn in enumerate(compute):
                    done = min(max((e - turn.start) / (turn.end - turn.start), 0.0), 1.0)
                    cell = actor_of(picture, f"act-{number}-compute-{place}").track.at(t)
                    assert cell["wide"] == pytest.approx(done, abs=0.002)


def actor_of(picture: Composition, key: str) -> Actor:
    return next(actor for actor in picture.actors if actor.key == key)


def test_over_nodes_a_coin_takes_as_much_longer_as_its_wire_is_slower() -> None:
    story = told({})[1]
    near, far = story.mlp.act.turns[-1], story.far.act.turns[-1]
    assert (far.end - far.start) / (near.end - near.start) == pytest.approx(450 / 50)
    assert sent_until(story.far.act, far.end) == pytest.approx(sent_until(story.mlp.act, near.end))


def test_sequence_parallel_is_the_sum_in_two_halves() -> None:
    story = told({})[1]
    (scatter, gather), case = story.halves.act.gestures, story.case
    assert scatter.scatters and not scatter.gathers and gather.gathers and not gather.scatters
    both = story.halves.act.end - story.halves.act.start
    assert both == pytest.approx(case.sum_s.value)
    assert 2 * ring_all_gather_sent_bytes(1.0, 8) == ring_all_reduce_sent_bytes(1.0, 8)


def test_by_rows_every_gpu_is_crossed_out_before_the_sum_and_by_columns_none() -> None:
    broken = [actor for actor in film_of("tp", first="rows").wide.actors if actor.key.startswith("broken")]
    assert len(broken) == 4
    assert not [actor for actor in film_of("tp").wide.actors if actor.key.startswith("broken")]


def test_captions_follow_the_engine() -> None:
    def captions(**given: str) -> str:
        return " ".join(stop.caption for stop in film_of("tp", **given).stops)

    assert "take 4.7 ms" in captions() and "62.5 % less kept" in captions()
    assert "an all-reduce must come first" in captions(first="rows")
    assert "Z is gathered" in captions(second="columns")
    assert "nothing travels" in captions(tp="1") and "less kept" not in captions(tp="1")


def test_at_a_stop_the_running_numbers_are_those_of_its_moment() -> None:
    """A film rests there, so what was looked at a little earlier would be read as wrong."""
    for given in ({}, {"tp": "2"}, {"first": "rows"}):
        made, story = film_of("tp", **given), Story(Case(TP.values(given)))
        stop, case = made.stops[3], story.case
        sent = next(words.steps for words in made.wide.words if words.key == "sent")
        assert words_at(sent, stop.t) == f"each sent {bytes_text(sum(each.sent.value for each in case.forced))}"
        assert words_at(made.clock, stop.t) == seconds_text(story.mlp.act.end)
        assert words_at(made.clock, story.attention.since + 0.5) == ""  # the next act begins at nothing
        took = story.far.act.end - story.far.act.start
        assert words_at(made.clock, made.length) == seconds_text(took)
