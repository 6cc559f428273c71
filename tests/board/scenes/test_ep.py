"""The expert parallel scene: its numbers against the storyboard's, whose tokens go where, and a film on the engine's clock."""

from random import Random

import pytest

from app.board.film.composition import Actor, Composition
from app.board.film.film import Film
from app.board.scenes.base import Frame
from app.board.scenes.ep.case import DRAWN, GPUS, Case
from app.board.scenes.ep.scene import EP
from app.board.scenes.ep.story import Story
from engine.language.refusal import Refusal
from engine.lens.exchange import exchange_length, exchange_slots
from engine.lens.routing import routed
from tests.board.films.reading import compositions, film_of
from tests.board.scenes.drawings import each_of

STORY = {"experts": "16", "top_k": "8", "nodes": "4"}  # eight experts a token, four nodes
SETTINGS = [
    {},
    STORY,
    {**STORY, "skew": "2", "tokens": "16384"},
    {"experts": "4", "nodes": "2"},
    {"experts": "4", "top_k": "1", "skew": "4", "capacity": "1"},
    {"experts": "12", "top_k": "4", "nodes": "2"},
    {"experts": "16", "top_k": "3", "skew": "1", "nodes": "2"},
    {"tokens": "512"},
    {"experts": "8", "top_k": "8", "skew": "1", "nodes": "4"},
    {"capacity": "4"},
    {"top_k": "1"},
    {"experts": "4", "top_k": "4", "skew": "1", "nodes": "4"},
    {"experts": "16", "top_k": "5", "skew": "3", "nodes": "3"},
    {"nodes": "2"},
    {"skew": "4", "capacity": "1"},
]
each_setting = each_of(SETTINGS)


def case(**given: str) -> Case:
    return Case(EP.values(given))


def frames(given: dict[str, str]) -> tuple[Frame, ...]:
    return EP.frames(EP.values(given))


def test_a_dispatch_sends_a_copy_for_each_expert() -> None:
    assert case(**STORY).dispatch.value / 1e6 == pytest.approx(470, abs=0.5)
    assert case(**STORY).exchange_s.value * 1e3 == pytest.approx(9.4, abs=0.05)


def test_four_nodes_a_token_halve_what_eight_experts_cost() -> None:
    assert case(**STORY).limited.value / 1e6 == pytest.approx(235, abs=0.5)
    assert case(**STORY).limited_s.value * 1e3 == pytest.approx(4.7, abs=0.05)


def test_the_busiest_expert_sets_the_pace_where_it_has_a_gpu_of_its_own() -> None:
    alone = case(experts="4", nodes="2")
    assert alone.busiest_gpu.value == alone.skew == 1.5
    assert alone.experts_s.value == pytest.approx(1.5 * alone.even_s.value)


def test_beside_ordinary_experts_a_busy_one_weighs_less() -> None:
    assert case().busiest_gpu.value == pytest.approx((1.5 + case().ordinary.value) / 2)
    assert 1 < case(experts="16").busiest_gpu.value < case().busiest_gpu.value < 1.5
    assert case(skew="1").busiest_gpu.value == 1


def test_what_overflows_is_what_passes_the_capacity() -> None:
    assert case().overflow.value == pytest.approx((1.5 - 1.25) / 8)
    assert case(capacity="1.5").overflow.value == 0
    assert any(actor.kind == "ghost" for actor in film_of("ep").wide.actors)
    assert not any(actor.kind == "ghost" for actor in film_of("ep", capacity="1.5").wide.actors)
    assert "nothing is dropped" in stop(film_of("ep", capacity="1.5"), "overflow")


def stop(film: Film, name: str) -> str:
    return next(stop.caption for stop in film.stops if stop.name == name)


@pytest.mark.parametrize("experts", [4, 8, 12, 16])
@pytest.mark.parametrize("k", range(1, 9))
def test_tokens_are_routed_with_the_skew_asked_for(experts: int, k: int) -> None:
    if k > experts:
        return
    skew = 1.0
    while skew <= min(4, experts / k):
        routing = routed(16, experts, k, skew, experts // 2)
        assert all(len(set(chosen)) == k for chosen in routing.choices)
        others = [load for expert, load in enumerate(routing.loads) if expert != experts // 2]
        assert abs(routing.loads[experts // 2] - skew * 16 * k / experts) <= 0.5
        assert max(others) - min(others) <= 1
        skew += 0.25


def test_the_chosen_experts_have_the_highest_scores_and_their_gates_add_up_to_one() -> None:
    routing = case().routing
    for token, chosen in enumerate(routing.choices):
        scores = routing.scores(token)
        assert sum(scores) == pytest.approx(1)
        assert {*sorted(range(8), key=lambda expert: -scores[expert])[:2]} == set(chosen)
        assert sum(routing.gates(token)) == pytest.approx(1)


def test_no_copy_is_lost_between_gpus() -> None:
    found = case()
    flows = [[found.flow(i, j) for j in range(GPUS)] for i in range(GPUS)]
    assert [sum(row) for row in flows] == [4 * 2] * GPUS
    assert sum(map(sum, flows)) == sum(found.routing.loads)


@pytest.mark.parametrize("seed", range(40))
def test_an_exchange_takes_no_longer_than_its_busiest_port_and_no_port_does_two_things_at_once(seed: int) -> None:
    chance = Random(seed)
    ports = chance.randint(2, 6)
    pairs = [(chance.randrange(ports), chance.randrange(ports)) for _ in range(chance.randint(1, 80))]
    slots = exchange_slots(pairs)
    travels = [(pair, slot) for pair, slot in zip(pairs, slots, strict=True) if slot is not None]
    assert [pair for pair, _ in travels] == [pair for pair in pairs if pair[0] != pair[1]]
    assert all(0 <= slot < exchange_length(pairs) for _, slot in travels)
    for side in (0, 1):
        assert len({(pair[side], slot) for pair, slot in travels}) == len(travels)


# The film


@each_setting
def test_bytes_that_left_are_bytes_that_came_back_are_the_engines(given: dict[str, str]) -> None:
    film, found = film_of("ep", **given), case(**given)
    away = sum(found.flow(i, j) for i in range(GPUS) for j in range(GPUS) if i != j)
    each = found.dispatch.value / (DRAWN * found.top_k)
    for picture in compositions(film):
        trips = [actor for actor in picture.actors if actor.kind == "coin" and actor.key.startswith("coin-")]
        assert len(trips) == away
        for at in (0, 1):
            assert sum(actor.flights[at].n_bytes for actor in trips) == pytest.approx(away * each)
        for actor in trips:
            out, back = actor.flights
            assert out.wire.points == back.wire.points[::-1]
            assert film.lens(out.end) - film.lens(out.start) == pytest.approx(found.slot_s, rel=1e-6)


@each_setting
def test_the_two_ways_to_choose_send_what_the_formulas_say(given: dict[str, str]) -> None:
    film, found = film_of("ep", **given), case(**given)
    for limited, size in ((False, found.dispatch), (True, found.limited)):
        flights = [f for a in film.wide.actors if a.key.startswith(f"net-{limited}") for f in a.flights]
        assert sum(flight.n_bytes for flight in flights) == pytest.approx(size.value)
    both = [f for a in film.wide.actors if a.key.startswith("both-copies") for f in a.flights]
    assert sum(flight.n_bytes for flight in both) == pytest.approx(2 * GPUS * found.dispatch.value)


@each_setting
def test_every_copy_is_in_one_place_at_a_time(given: dict[str, str]) -> None:
    film, found = film_of("ep", **given), case(**given)
    story = Story(found)
    start, end = story.ticketed[-1][0], story.return_[0][0]
    actors = {actor.key: actor for actor in film.wide.actors}
    for trip in story.trips[:: max(1, len(story.trips) // 12)]:
        name = f"{trip.copy.token}-{trip.copy.expert}"
        places = [actors[f"{kind}-{name}"] for kind in ("ticket", "coin" if trip.out else "stay", "queued")]
        for at in range(60):
            t = start + (end - start) * (at + 0.5) / 60
            there = sum(actor.track.at(t)["opacity"] == 1 for actor in places)
            assert there <= 1, (name, t)
            gone_home = t > film.lens.ends(trip.back[1]) - 0.01 if trip.back else t > story.settle[0][0]
            assert there == 1 or gone_home, (name, t)


def test_a_token_is_whole_again_when_all_its_weighted_results_are_there() -> None:
    film, story = film_of("ep"), Story(case())
    for token in range(GPUS * DRAWN):
        track = actor(film.wide, f"sum-{token}").track
        steps = [key.value for key in track.shown]
        gates = case().routing.gates(token)
        assert track.at(film.lens.begins(story.computed))["shown"] == 0
        assert any(value == pytest.approx(gate, abs=1e-3) for value in steps for gate in gates)
        assert track.at(story.settle[-1][0])["shown"] == pytest.approx(1)


def actor(picture: Composition, key: str) -> Actor:
    return next(actor for actor in picture.actors if actor.key == key)


@each_setting
def test_the_last_expert_ends_when_the_formula_says(given: dict[str, str]) -> None:
    found = case(**given)
    story = Story(found)
    ends = [story.done(gpu, story.sent) for gpu in range(GPUS)]
    assert max(ends) == pytest.approx(story.computed) and ends[story.hot] == max(ends)
    assert story.capped - story.again <= found.experts_s.value * (1 + 1e-9)
    assert max(trip.place for trip in story.trips if not trip.dropped) < found.places


def test_captions_follow_the_router_and_the_limit() -> None:
    assert "E4 gets a queue" in stop(film_of("ep"), "dispatch")
    assert "All have their share" in stop(film_of("ep", skew="1"), "experts compute")
    assert "3 nodes" in stop(film_of("ep", nodes="3"), "few nodes")


@pytest.mark.parametrize(
    ("given", "field", "nearest"),
    [
        ({"experts": "6"}, "experts", "8"),
        ({"experts": "4", "top_k": "6"}, "top_k", "4"),
        ({"skew": "4", "top_k": "4", "nodes": "4"}, "skew", "2"),
        ({"top_k": "8"}, "nodes", "4"),
        ({"experts": "16", "top_k": "5"}, "nodes", "2"),
    ],
)
def test_what_fits_no_picture_is_refused_in_a_sentence(given: dict[str, str], field: str, nearest: str) -> None:
    with pytest.raises(Refusal) as caught:
        frames(given)
    assert (caught.value.field, caught.value.nearest) == (field, nearest)


def test_the_question_has_the_engines_answer_and_knows_the_usual_mistake() -> None:
    asked = EP.question(EP.values({})).answer
    assert asked is not None and asked.value == 2 * 4096 * 2 * 7168
    wrong = asked.formula.recognise(2 * 4096 * 7168, **asked.numbers)
    assert wrong is not None and wrong.title == "one copy a token"


def test_what_people_say_is_put_right_with_numbers() -> None:
    said = {each.said: each.instead for each in EP.misconceptions(EP.values({}))}
    assert "671 B parameters" in said["Experts are free: a token uses only a few of them."]
    assert "7,168 by 2,048" in said["Expert parallel is tensor parallel for the MLP."]
