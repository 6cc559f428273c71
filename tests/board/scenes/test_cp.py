"""The context-parallel scene: its numbers against the storyboard's, exact merging, and a film that is the engine's clock."""

import pytest

from app.board.film.composition import Actor, Composition, words_at
from app.board.film.film import Film
from app.board.scenes.base import Frame
from app.board.scenes.cp.case import Case
from app.board.scenes.cp.places import places
from app.board.scenes.cp.scene import CP
from app.board.scenes.cp.story import Act, Story
from engine.language.refusal import Refusal
from engine.lens.ring_attention import (
    DEALINGS,
    causal_strip_share,
    causal_worst_over_mean,
    dealt_loads,
    dealt_strips,
    merged,
    partial_softmax,
    uneven_waiting_share,
)
from engine.lens.ring_steps import idle_share, pair_work, ring_steps, step_work
from tests.board.films.reading import compositions, film_of
from tests.board.scenes.drawings import each_of

SETTINGS = [
    {},
    {"ranks": "2"},
    {"ranks": "8"},
    {"ranks": "8", "sequence": "8192", "deal": "round-robin"},
    {"sequence": "1048576", "tp": "8"},
    {"ranks": "2", "sequence": "8192", "tp": "8", "deal": "in-order"},
    {"ranks": "3", "sequence": "98304"},
    {"ranks": "8", "sequence": "1048576", "deal": "in-order"},
    {"ranks": "7", "sequence": "114688", "deal": "round-robin"},
]
each_setting = each_of(SETTINGS)


def case(**given: str) -> Case:
    return Case(CP.values(given))


def frames(given: dict[str, str]) -> tuple[Frame, ...]:
    return CP.frames(CP.values(given))


def test_strips_do_odd_numbers_of_parts_and_all_of_them_together() -> None:
    assert [causal_strip_share(i, 4) * 16 for i in range(4)] == [1, 3, 5, 7]
    for ranks in range(2, 9):
        assert sum(causal_strip_share(i, ranks) for i in range(ranks)) == pytest.approx(1)


def test_in_order_the_last_rank_sets_the_pace() -> None:
    assert case().worst.value == 1.75
    assert 100 * case().waiting.value == pytest.approx(43, abs=0.2)
    assert case(ranks="8").worst.value == 1.875


@pytest.mark.parametrize("ranks", range(2, 9))
def test_zig_zag_is_level_and_no_deal_of_ours_beats_it(ranks: int) -> None:
    worst = {deal: max(dealt_loads(dealt_strips(deal, ranks))) for deal in DEALINGS}
    assert worst["zig-zag"] == pytest.approx(1.0)
    assert worst["in-order"] == pytest.approx(causal_worst_over_mean(ranks))
    assert worst["zig-zag"] < worst["round-robin"] < worst["in-order"]


@pytest.mark.parametrize("deal", DEALINGS)
def test_every_half_strip_is_dealt_once(deal: str) -> None:
    assert sorted(strip for mine in dealt_strips(deal, 5) for strip in mine) == list(range(10))


def test_a_hop_and_a_block_take_what_the_storyboard_says() -> None:
    found = case()
    assert found.hop(2, "hop").value / 1e6 == pytest.approx(134, abs=0.5)
    assert found.forward_hop.value * 1e3 == pytest.approx(2.7, abs=0.05)
    assert found.forward_block.value * 1e3 == pytest.approx(59, abs=0.5)
    sliced = case(tp="8")
    assert sliced.forward_hop.value * 1e3 == pytest.approx(0.34, abs=0.005)
    assert sliced.forward_block.value * 1e3 == pytest.approx(7.4, abs=0.05)


def test_attention_passes_the_weights_work_at_long_sequences() -> None:
    assert 100 * case().added(8192).value == pytest.approx(7.6, abs=0.05)
    assert 100 * case().added(131072).value == pytest.approx(122, abs=0.5)


@pytest.mark.parametrize("ranks", ["2", "4", "8"])
def test_merging_in_any_blocks_gives_what_all_keys_at_once_give(ranks: str) -> None:
    found = case(ranks=ranks)
    running, whole = found.merging[-1].result, found.at_once
    assert (running.maximum, running.total) == (whole.maximum, pytest.approx(whole.total))
    assert running.output == pytest.approx(whole.output, rel=1e-12)
    assert any(row.scale is not None and row.scale < 1 for row in found.merging), "a larger score must rescale the sum"


def test_merging_holds_where_scores_are_far_apart() -> None:
    far, near = partial_softmax((-800.0,), (1.0,)), partial_softmax((5.0,), (3.0,))
    assert merged(far, near).output == merged(near, far).output == 3.0


def test_hops_hide_behind_blocks_unless_they_last_longer() -> None:
    strips = case().in_order
    assert max(mine[-1].end for mine in ring_steps(strips, 2.0, 0.5)) == 7.0
    assert max(mine[-1].end for mine in ring_steps(strips, 2.0, 3.0)) == 11.0  # three hops, then the last block
    assert not case(ranks="8", sequence="8192").hidden


@pytest.mark.parametrize("deal", DEALINGS)
@pytest.mark.parametrize("ranks", range(2, 9))
def test_a_ring_computes_each_pair_once_and_overwrites_nothing_in_use(ranks: int, deal: str) -> None:
    strips = dealt_strips(deal, ranks)
    for rank, load in enumerate(dealt_loads(strips)):
        work = sum(step_work(strips, rank, step) for step in range(ranks))
        assert work == pytest.approx(load * ranks / 2), "the mean of a rank is half of all pairs of strips"
    for hop_s in (0.1, 0.7, 3.0):
        steps = ring_steps(strips, 1.0, hop_s)
        for rank, mine in enumerate(steps):
            for step in range(2, ranks):
                assert mine[step].sent >= mine[step - 1].start  # the block before is done: its buffer may be filled
                assert mine[step].sent >= steps[(rank + 1) % ranks][step - 1].arrived  # and has been handed on
            for step in range(1, ranks):
                assert mine[step].sent >= steps[rank - 1][step - 1].arrived  # nobody sends what it has not got
                assert mine[step].start >= max(mine[step].arrived, mine[step - 1].end)


def test_idle_time_is_the_formulas_where_hops_are_hidden() -> None:
    for ranks in ("2", "4", "8"):
        found = case(ranks=ranks)
        assert idle_share(found.steps(found.in_order)) == pytest.approx(found.waiting.value)
        assert idle_share(found.steps(dealt_strips("zig-zag", found.ranks))) == 0


# The film


@each_setting
def test_bytes_that_left_are_bytes_that_arrived_are_the_engines(given: dict[str, str]) -> None:
    film, found = film_of("cp", **given), case(**given)
    hops = 2 * found.ranks * (found.ranks - 1)  # two acts; each GPU hands on all but the last block it gets
    for picture in compositions(film):
        flights = [flight for actor in picture.actors for flight in actor.flights]
        assert len(flights) == hops
        assert sum(flight.n_bytes for flight in flights) == pytest.approx(hops * found.hop(2, "hop").value)
        for flight in flights:
            assert film.lens(flight.end) - film.lens(flight.start) == pytest.approx(found.forward_hop.value, rel=1e-6)


@each_setting
def test_the_area_that_is_filled_is_the_work_that_is_done_at_every_moment(given: dict[str, str]) -> None:
    film, story = film_of("cp", **given), Story(case(**given))
    for act in (story.first_act, story.second_act):
        begins = film.lens.begins(act.begins)
        for at in range(1, 20):
            t = begins + (min(act.until, film.lens.length) - begins) * at / 20
            done = sum(
                pair_work(pair.queries, pair.keys) * share(film.lens(t), pair.start, pair.end) for pair in act.pairs
            )
            assert filled(film.wide, act, t) == pytest.approx(done, abs=0.02 * act.ranks)


def share(now: float, start: float, end: float) -> float:
    return min(max((now - start) / (end - start), 0.0), 1.0)


def filled(picture: Composition, act: Act, t: float) -> float:
    """Area of the square that has its hue, a full pair of strips being 1."""
    total = 0.0
    for pair in act.pairs:
        now = actor(picture, f"pair-{act.key}-{pair.queries}-{pair.keys}").track.at(t)
        if now["opacity"] > 0:
            shown = now["shown"]
            total += shown - shown**2 / 2 if pair.queries == pair.keys else shown
    return total


def actor(picture: Composition, key: str) -> Actor:
    return next(actor for actor in picture.actors if actor.key == key)


@each_setting
def test_a_buffer_holds_one_block_at_a_time_from_its_arrival_until_its_work_is_done(given: dict[str, str]) -> None:
    film, story = film_of("cp", **given), Story(case(**given))
    for act in (story.first_act, story.second_act):
        for rank, mine in enumerate(act.steps):
            for step, now in enumerate(mine):
                held = actor(film.wide, f"kv-{act.key}-{rank}-{step}")
                for e in (now.arrived, (now.start + now.end) / 2):
                    assert held.track.at(film.lens.begins(e) + 1e-3)["opacity"] > 0
                assert held.track.at(film.lens.ends(now.arrived) - 0.005)["opacity"] == 0


def test_coins_go_from_each_gpu_to_the_next_and_from_the_last_to_the_first() -> None:
    film = film_of("cp")
    at = places(film.wide)
    for rank in range(4):
        flight = actor(film.wide, f"coin-first-{rank}-0").flights[0]
        x, y = at.buffer((rank + 1) % 4, 4, 1)
        assert flight.wire.at(1) == pytest.approx((x + at.part(4) / 2, y + at.tile / 2))


def test_the_running_numbers_change_once_at_the_end_of_a_block() -> None:
    film, story = film_of("cp"), Story(case())
    maximum = [words.steps for words in film.wide.words if words.key.startswith("max so far")]
    for step, row in zip(story.first_act.steps[3], case().merging, strict=True):
        t = film.lens.ends(step.end)
        for moment in (t + 0.1, t + 1.3):
            assert f"{row.result.maximum:.2f}" in [words_at(steps, moment) for steps in maximum]


def test_in_order_the_first_gpu_is_idle_and_zig_zag_leaves_nobody_so() -> None:
    story = Story(case())
    assert story.first_act.idle(0) == [(story.steps[0][0].end, story.ends)]
    assert not any(story.second_act.idle(rank) for rank in range(4))
    assert stop(film_of("cp"), "finish flags").startswith("D works to the end alone: 42.9 %")


def stop(film: Film, name: str) -> str:
    return next(stop.caption for stop in film.stops if stop.name == name)


def test_the_deal_of_the_knob_is_the_one_drawn_and_judged() -> None:
    assert stop(film_of("cp"), "new deal").startswith("All end together")
    worst = max(dealt_loads(dealt_strips("round-robin", 4)))
    robin = film_of("cp", deal="round-robin")
    assert f"{worst:.3g} times the mean" in stop(robin, "new deal")
    assert f"{uneven_waiting_share(worst) * 100:.3g} %" in robin.wide.at(robin.length)


def test_captions_follow_wires_that_are_slower() -> None:
    assert "long before they are needed" in stop(film_of("cp"), "own square")
    assert "the wires are slower" in stop(film_of("cp", ranks="8", sequence="8192"), "own square")


def test_gradients_double_the_bytes_on_the_way_back() -> None:
    found = case()
    assert found.hop(4, "hop").value == 2 * found.hop(2, "hop").value
    assert "268 MB" in frames({})[-1].description


def test_the_question_knows_the_usual_mistake() -> None:
    asked = CP.question(CP.values({})).answer
    assert asked is not None and asked.value == 1.75
    assert asked.formula.recognise(7, **asked.numbers) is not None


@pytest.mark.parametrize(
    ("given", "field", "nearest"),
    [
        ({"ranks": "3"}, "ranks", "2"),
        ({"ranks": "7"}, "ranks", "8"),
        ({"tp": "3"}, "tp", "2"),
        ({"sequence": "8193"}, "sequence", "8192"),
    ],
)
def test_what_fits_no_picture_is_refused_with_a_way_out(given: dict[str, str], field: str, nearest: str) -> None:
    with pytest.raises(Refusal) as caught:
        frames(given)
    assert (caught.value.field, caught.value.nearest) == (field, nearest)
