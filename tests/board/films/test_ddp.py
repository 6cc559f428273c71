"""The DDP film against the engine: bytes that travel, gradients that are summed, letters that a slice has gained."""

import math
import re
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.board.film.composition import Actor, Composition
from app.board.film.ring import DRAWN
from app.board.scenes.ddp.case import LAYERS, Case
from app.board.scenes.ddp.film import film
from app.board.scenes.ddp.scene import DDP
from app.board.scenes.ddp.story import HOPS, LAPS, Story
from engine.lens.buckets import Buckets
from engine.network.collectives import ring_all_reduce_sent_bytes
from engine.step.overlap import exposed_tail_s
from tests.board.films.reading import compositions, films

KNOBS = st.fixed_dictionaries(
    {
        "gpus": st.sampled_from([4, 5, 8, 16, 24, 256, 1024]),
        "billions": st.integers(1, 70),
        "bucket": st.integers(1, 1024),
        "tokens": st.sampled_from([256, 1024, 8192, 65536]),
    }
)
PASSES = st.tuples(st.integers(1, 3000), st.floats(0.01, 10), st.floats(0.001, 50))


def story(**given: float) -> Story:
    return Story(Case({**DDP.values({}), **given}))


@cache
def drawn() -> tuple[Composition, Story]:
    return film(DDP.values({})).wide, story()


def actor(picture: Composition, key: str) -> Actor:
    return next(actor for actor in picture.actors if actor.key == key)


@given(PASSES)
def test_buckets_end_when_the_closed_form_says(given: tuple[int, float, float]) -> None:
    k, backward, traffic = given
    buckets = Buckets(k, backward, traffic)
    assert buckets.end == pytest.approx(backward + exposed_tail_s(traffic, backward, k))


@given(PASSES)
def test_no_two_buckets_share_the_wires_and_none_leaves_before_it_is_full(given: tuple[int, float, float]) -> None:
    buckets = Buckets(*given)
    for at in {0, buckets.k // 2, max(buckets.k - 2, 0)}:
        assert buckets.wire(at).start >= buckets.filling(at).end - 1e-9
        assert at + 1 >= buckets.k or buckets.wire(at + 1).start >= buckets.wire(at).end - 1e-9


@given(PASSES, st.floats(0, 1))
def test_what_is_summed_at_a_moment_is_what_the_wires_have_had_time_for(
    given: tuple[int, float, float], share: float
) -> None:
    buckets = Buckets(*given)
    at = min(int(share * buckets.k), buckets.k - 1)
    span = buckets.wire(at)
    middle = span.start + (span.end - span.start) / 2
    assert buckets.summed(middle) == pytest.approx(at + 0.5, abs=1e-3)
    assert buckets.summed(buckets.end) == pytest.approx(buckets.k, abs=1e-6)


@given(PASSES, st.integers(1, 80))
def test_bursts_are_as_long_as_all_traffic_and_end_with_it(given: tuple[int, float, float], most: int) -> None:
    buckets = Buckets(*given)
    bursts = buckets.bursts(most)
    assert len(bursts) == min(most, buckets.k)
    assert sum(burst.end - burst.start for burst in bursts) == pytest.approx(buckets.traffic)
    assert bursts[-1].end == pytest.approx(buckets.end)
    assert all(later.start >= burst.end - 1e-9 for burst, later in pairwise(bursts))


@given(KNOBS)
def test_what_each_gpu_has_sent_grows_to_the_engine_s_count(given: dict[str, float]) -> None:
    told = story(**given)
    seen = [told.sent(told.lens.length * at / 60) for at in range(61)]
    assert seen == sorted(seen)
    assert seen[0] == 0 and seen[-1] == pytest.approx(
        ring_all_reduce_sent_bytes(told.case.gradients.value, told.case.gpus)
    )


@pytest.mark.parametrize("gpus", [4, 8, 64, 1024])
def test_bytes_that_leave_arrive_and_are_what_the_engine_counts(gpus: int) -> None:
    case = Case({**DDP.values({}), "gpus": gpus})
    for picture in compositions(film({**DDP.values({}), "gpus": gpus})):
        left, arrived = dict.fromkeys(range(DRAWN), 0.0), dict.fromkeys(range(DRAWN), 0.0)
        for coin in picture.actors:
            if coin.kind == "coin":
                row, hop = map(int, re.findall(r"\d+", coin.key))
                left[(row + hop) % DRAWN] += coin.flights[0].n_bytes
                arrived[(row + hop + 1) % DRAWN] += coin.flights[0].n_bytes
        assert left == pytest.approx(arrived)
        assert left[0] == pytest.approx(ring_all_reduce_sent_bytes(case.bucket_bytes, gpus))


def test_a_slice_has_the_letters_of_the_gpus_it_has_been_to() -> None:
    picture, told = drawn()
    first = told.rounds[0]
    for hop in range(LAPS * HOPS):
        t = told.lens.ends(first.hop(hop)[1]) + 0.004  # keys are rounded to a thousandth
        for row in range(DRAWN):
            gpu = (row + hop + 1) % DRAWN
            held = {
                owner
                for owner in range(DRAWN)
                if actor(picture, f"part-{gpu}-{row}-{owner}").track.at(t)["opacity"] > 0.9
            }
            been = {(row + step) % DRAWN for step in range(min(hop + 2, DRAWN))}
            assert held == been, (hop, row)
            coin = actor(picture, f"coin-{row}-{hop}").drawing
            assert len(re.findall(r">[A-D]</text>", coin)) == min(hop + 1, DRAWN)


def test_gradients_stand_beside_a_layer_as_far_as_backward_and_the_sums_have_come() -> None:
    for turned, made in films("ddp"):
        told = Story(Case(DDP.values(turned)))
        moments = [told.fill[0] + (told.own[0][0] - told.fill[0]) * at / 40 for at in range(41)]
        loose = 1.01 / told.buckets.k if told.buckets.k > 1 else 0.0
        for t in moments:
            e = told.lens(t) - told.forward
            for kind, share, room in (
                ("own", told.buckets.full(e) / told.buckets.k, 0.0),
                ("sum", told.buckets.summed(e) / told.buckets.k, loose if told.buckets.k > 40 else 0.0),
            ):
                seen = (
                    sum(actor(made.wide, f"{kind}-0-{layer}").track.at(t)["shown"] for layer in range(LAYERS)) / LAYERS
                )
                assert seen == pytest.approx(share, abs=room + 2e-3), (turned, kind, t)


def test_the_step_in_the_picture_lasts_as_long_as_the_engine_says() -> None:
    told = story()
    case = told.case
    assert told.step_ends == pytest.approx(case.forward.value + case.backward.value + case.tail.value)
    assert math.isclose(told.race_ends - told.step_ends, case.forward.value + case.backward.value + case.traffic.value)
    assert told.late == pytest.approx(case.traffic.value - case.tail.value)


def test_more_gpus_than_are_drawn_are_said_in_both_pictures() -> None:
    for picture in compositions(film({**DDP.values({}), "gpus": 64})):
        assert "4 of 64 GPUs drawn" in actor(picture, "drawn").drawing
