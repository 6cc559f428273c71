"""What a stage holds by its order alone is what its timeline shows, whatever operations and sends take."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.language.refusal import Refusal
from engine.pipeline.held import held_until_weights
from engine.pipeline.schedules import SCHEDULES
from engine.pipeline.simulator import even_durations, simulate

times = st.floats(0.1, 5)


@pytest.mark.parametrize("name", SCHEDULES)
@given(
    p=st.integers(1, 6),
    m=st.integers(1, 80),
    v=st.integers(1, 3),
    F=times,
    B=times,
    W=times,
    send=st.sampled_from([0.0, 0.3]),
    overlapped=st.booleans(),
)
def test_the_order_says_what_the_timeline_shows(
    name: str, p: int, m: int, v: int, F: float, B: float, W: float, send: float, overlapped: bool
) -> None:
    schedule = SCHEDULES[name]
    try:
        orders = schedule.ops(p, m, v)
    except Refusal:
        return
    placement = schedule.placement(p, v)
    shown = simulate(orders, placement, even_durations(placement, F, B, W), send, overlapped)
    assert held_until_weights(schedule, p, m, v) == pytest.approx(shown.held_until_weights)


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_long_step_holds_what_a_short_one_does(name: str) -> None:
    """Not all micro-batches are walked through: the orders repeat."""
    schedule = SCHEDULES[name]
    for p in (2, 4, 8):
        m = 60 * p
        placement = schedule.placement(p, schedule.chunks_used(2) if schedule.own_chunks is None else 1)
        v = 2 if schedule.own_chunks is None else 1
        shown = simulate(schedule.ops(p, m, v), placement, even_durations(placement, 1.0, 1.0, 1.0))
        assert held_until_weights(schedule, p, m, v) == pytest.approx(shown.held_until_weights), p
