"""The DDP film against the engine: when buckets travel, what leaves and arrives, what sticks out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.board.scenes.ddp.case import Case
from app.board.scenes.ddp.scene import DDP
from app.board.scenes.ddp.story import LAYERS, Story
from engine.language.refusal import Refusal
from tests.board.films.reading import film_of

knobs = st.fixed_dictionaries(
    {
        "gpus": st.sampled_from(["4", "8", "64", "1024"]),
        "billions": st.sampled_from(["1", "7", "70"]),
        "bucket": st.sampled_from(["1", "25", "200", "1024"]),
        "tokens": st.sampled_from(["256", "2048", "65536"]),
    }
)


@given(knobs)
def test_the_last_bucket_sticks_out_as_far_as_the_formula_says(values: dict[str, str]) -> None:
    """And all buckets together travel as long as the engine's sum takes."""
    case = Case(DDP.values(values))
    story = Story(case)
    assert story.sums[0].end - story.passes_end == pytest.approx(case.tail.value, rel=1e-6)
    assert sum(each.end - each.start for each in story.sums) == pytest.approx(case.traffic.value)
    assert all(later.end <= sooner.start + 1e-9 for sooner, later in zip(story.sums, story.sums[1:], strict=False))


def test_what_leaves_in_the_bucket_that_is_looked_into_is_what_the_ring_sends() -> None:
    """Four GPUs drawn of four: each sends 2(n-1)/n of the gradients, a layer's share of it in its bucket."""
    film, case = film_of("ddp"), Case(DDP.values({}))
    for picture in (film.wide, film.tall):
        sent = [flight.n_bytes for actor in picture.actors if actor.key.startswith("coin-") for flight in actor.flights]
        assert sum(sent) / 4 == pytest.approx(case.sent.value / LAYERS)


def test_at_the_end_of_both_laps_every_gpu_holds_every_tint() -> None:
    film = film_of("ddp")
    t = next(stop.t for stop in film.stops if stop.name == "a lap of copies") - 0.001
    tints = [actor for actor in film.wide.actors if actor.kind == "tint"]
    assert len(tints) == 4 * 4 * 4
    assert all(actor.track.at(t + 0.001)["opacity"] == 1 for actor in tints)


def test_part_of_a_node_is_refused_with_the_nearest_that_works() -> None:
    with pytest.raises(Refusal) as caught:
        film_of("ddp", gpus="21")
    assert (caught.value.field, caught.value.nearest) == ("gpus", "24")
    film_of("ddp", gpus="24")
