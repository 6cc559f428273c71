"""A long step from a short one: the same answer as all of it simulated, for a number of operations that has a bound."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from engine.language.refusal import Refusal
from engine.pipeline import steady
from engine.pipeline.orders import FILLS, Orders, orders_in_full, orders_of
from engine.pipeline.schedules import SCHEDULES, SHOWN_ONLY, Schedule
from engine.pipeline.simulator import Durations, even_durations, simulate
from engine.pipeline.steady import MOST_WORK, simulate_long
from engine.pipeline.waves import simulate_waves

EVERY = {**SCHEDULES, **SHOWN_ONLY}
every_schedule = pytest.mark.parametrize("schedule", EVERY.values(), ids=EVERY)
repeating = pytest.mark.parametrize(
    "schedule", [one for one in EVERY.values() if not one.phased], ids=[n for n, one in EVERY.items() if not one.phased]
)
seeds = st.integers(0, 10**6)


def drawn(schedule: Schedule, chance: Random, stages: int, rounds: tuple[int, int]) -> tuple[int, int, Durations]:
    """Micro-batches, chunks and durations: even, with heavier ends as models have them, or each stage one of a few."""
    chunks = chance.choice([1, 2, 3]) if schedule.own_chunks is None and stages > 1 else 1
    each = schedule.round_length(stages, chunks)
    placement = schedule.placement(stages, chunks)
    parts = len(placement.places[0])
    ends, kind = chance.uniform(1, 1.4), chance.choice(["even", "ends", "layers"])
    weight = {
        "even": [1.0] * stages,
        "ends": [ends if stage in (0, stages - 1) else 1.0 for stage in range(stages)],
        "layers": [chance.choice([1.0, 1.0, 1.125]) for _ in range(stages)],
    }[kind]
    of = (1.0, chance.choice([1.0, 1.3, 2.0]), chance.choice([1.0, 0.6]))
    rows = [tuple((time * weight[stage] / parts,) * parts for stage in range(stages)) for time in of]
    m = chance.randint(*rounds) * stages // each * each or each
    try:
        schedule.check(stages, m, chunks)
    except Refusal:
        reject()
    return m, chunks, Durations(*rows)


@every_schedule
@given(seed=seeds, stages=st.integers(1, 6), overlapped=st.booleans())
def test_wave_by_wave_every_operation_starts_when_the_simulator_says(
    schedule: Schedule, seed: int, stages: int, overlapped: bool
) -> None:
    chance = Random(seed)
    m, chunks, durations = drawn(schedule, chance, stages, (1, 8))
    ops = schedule.ops(stages, m, chunks)
    send_s = chance.choice([0.0, 0.3])
    shown = simulate(ops, schedule.placement(stages, chunks), durations, send_s, overlapped)
    waves = simulate_waves(orders_of(schedule, stages, m, chunks), durations, send_s, overlapped)
    assert waves.timeline == shown
    assert waves.orders.most_held("BI") == shown.held


@repeating
@given(stages=st.integers(1, 9), chunks=st.integers(1, 4), rounds=st.integers(0, 30))
def test_a_longer_order_runs_more_rounds_and_nothing_else(
    schedule: Schedule, stages: int, chunks: int, rounds: int
) -> None:
    """What steady.py rests on: a schedule that says too short a round, or fills its pipe later, fails here."""
    each = schedule.round_length(stages, chunks if schedule.own_chunks is None else 1)
    m = (FILLS * stages // each + rounds) * each
    try:
        told = orders_in_full(schedule, stages, m, chunks)
    except Refusal:
        reject()
    made = orders_of(schedule, stages, m, chunks)
    for asked, given_by_rounds in zip(arrays(told), arrays(made), strict=True):
        assert (asked == given_by_rounds).all()


def arrays(orders: Orders) -> tuple[np.ndarray, ...]:
    return orders.code, orders.micro_batch, orders.joined


@every_schedule
@given(seed=seeds, stages=st.sampled_from([1, 2, 3, 4, 6, 8, 12, 16]), overlapped=st.booleans())
def test_a_long_step_extended_is_the_long_step_simulated(
    schedule: Schedule, seed: int, stages: int, overlapped: bool
) -> None:
    chance = Random(seed)
    m, chunks, durations = drawn(schedule, chance, stages, (4, 40))
    send_s = chance.choice([0.0, 0.05, 0.3])
    full = simulate_waves(orders_of(schedule, stages, m, chunks), durations, send_s, overlapped)
    outline = simulate_long(schedule, stages, m, chunks, durations, send_s, overlapped, long_ops=0)
    assert outline.exact
    assert outline.makespan == pytest.approx(full.makespan, rel=1e-9)
    assert outline.busy == pytest.approx(full.timeline.busy, rel=1e-9)
    assert outline.held == full.orders.most_held("BI")


@repeating
@given(seed=seeds, stages=st.sampled_from([4, 8, 12]))
def test_a_pace_that_is_not_proven_says_how_far_off_it_may_be(schedule: Schedule, seed: int, stages: int) -> None:
    chance = Random(seed)
    m, chunks, _ = drawn(schedule, chance, stages, (30, 60))
    parts = len(schedule.placement(stages, chunks).places[0])
    weight = tuple((chance.uniform(0.8, 1.2) / parts,) * parts for _ in range(stages))
    durations = Durations(weight, weight, weight)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steady, "MOST_WORK", 0)  # only the first, shortest step is tried
        outline = simulate_long(schedule, stages, m, chunks, durations, 0.1, long_ops=0)
    full = simulate_waves(orders_of(schedule, stages, m, chunks), durations, 0.1).makespan
    assert outline.simulated < m
    assert outline.makespan * (1 - 1e-9) <= full <= outline.makespan * (1 + outline.may_exceed) * (1 + 1e-9)


@pytest.mark.parametrize("m", [1_024, 100_096])
@pytest.mark.parametrize("stages", [64, 128])
@every_schedule
def test_the_operations_of_a_long_pipeline_do_not_grow_with_its_step(schedule: Schedule, stages: int, m: int) -> None:
    durations = even_durations(schedule.placement(stages, 2 if schedule.own_chunks is None else 1), 1.0, 1.2, 0.8)
    chunks = 2 if schedule.own_chunks is None else 1
    outline = simulate_long(schedule, stages, m, chunks, durations, 0.01)
    each = (3 if schedule.splits_backward else 2) * schedule.placement(stages, chunks).positions
    assert outline.exact
    assert outline.operations <= max(MOST_WORK, 7 * stages * each)


def test_orders_are_kept_by_their_bytes() -> None:
    held = orders_of(SCHEDULES["zb-v"], 64, 130).held_bytes
    assert held < 5e6
    for m in range(130, 154):
        orders_of(SCHEDULES["zb-v"], 96, 64 + m)
        assert orders_of.held_bytes <= orders_of.most_bytes
    assert len(orders_of) < 24  # not all of them


def test_the_path_that_sets_a_step_goes_back_to_its_start() -> None:
    schedule = SCHEDULES["zb-v"]
    waves = simulate_waves(orders_of(schedule, 6, 40), even_durations(schedule.placement(6), 1.0, 1.5, 0.5), 0.1)
    path = waves.critical_path()
    assert waves.start[path[-1]] == 0
    assert (np.diff(waves.start[path]) <= 0).all()
