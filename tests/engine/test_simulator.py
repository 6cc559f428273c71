"""The simulator against published numbers, against properties that every timeline has, and against itself."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.language.refusal import Refusal
from engine.pipeline.schedules import SCHEDULES, SHOWN_ONLY, Op, Schedule
from engine.pipeline.schedules.dependencies import Stuck, dependency
from engine.pipeline.simulator import Durations, even_durations, run, run_schedule, simulate
from engine.pipeline.steady import simulate_long
from engine.pipeline.timeline import Interval, Timeline

EVERY = {**SCHEDULES, **SHOWN_ONLY}
every_schedule = pytest.mark.parametrize("schedule", EVERY.values(), ids=EVERY)
TIMES = st.floats(0.1, 3)


def uneven(schedule: Schedule, p: int, v: int, seed: list[float]) -> Durations:
    """Durations that differ from stage to stage and chunk to chunk."""
    chunks = schedule.chunks_used(v)
    table = [[seed[(s * chunks + c) % len(seed)] for c in range(chunks)] for s in range(p)]
    return Durations(
        table, [[1.2 * time for time in row] for row in table], [[0.7 * time for time in row] for row in table]
    )


def legal(schedule: Schedule, p: int, m: int, v: int) -> tuple[int, int, int]:
    """This shape if the schedule runs it, else one that every schedule runs."""
    try:
        schedule.check(p, m, v)
    except Refusal:
        p, v = 2 * min(p, 3), v if schedule.own_chunks is None else 1
        m = 2 * p * (1 + m % 2)
    return p, m, v


# Bubble over ideal and over total, in percent, F = B = W: a simulation made before this one, and the papers' formulas.
EXACT = [
    ("gpipe", 4, 16, 1, 18.75, 15.79),
    ("1f1b", 4, 16, 1, 18.75, 15.79),
    ("interleaved", 4, 16, 2, 9.38, 8.57),
    ("interleaved", 4, 16, 4, 4.69, 4.48),
    ("zb-h1", 4, 16, 1, 6.25, 5.88),
    ("dualpipe", 4, 16, 1, 4.17, 4.00),
    ("dualpipev", 4, 16, 1, 6.25, 5.88),
    ("gpipe", 8, 32, 1, 21.88, 17.95),
    ("1f1b", 8, 32, 1, 21.88, 17.95),
    ("interleaved", 8, 32, 2, 10.94, 9.86),
    ("interleaved", 8, 32, 4, 5.47, 5.19),
    ("zb-h1", 8, 32, 1, 7.29, 6.80),
    ("dualpipe", 8, 32, 1, 6.25, 5.88),
    ("dualpipev", 8, 32, 1, 7.29, 6.80),
]


@pytest.mark.parametrize(("name", "p", "m", "v", "of_ideal", "of_total"), EXACT)
def test_the_bubble_is_the_known_one(name: str, p: int, m: int, v: int, of_ideal: float, of_total: float) -> None:
    timeline = run(name, p, m, v)
    assert 100 * timeline.bubble_of_ideal == pytest.approx(of_ideal, abs=0.006)
    assert 100 * timeline.bubble_of_total == pytest.approx(of_total, abs=0.006)


# Four stages, eight micro-batches, F = 1, a whole backward 2: slots, bubble of the step in percent, held per stage.
SCENE = [
    ("gpipe", 1, 33, 27.3, (8, 8, 8, 8)),
    ("1f1b", 1, 33, 27.3, (4, 3, 2, 1)),
    ("interleaved", 2, 28.5, 15.8, (5.5, 4.5, 3.5, 2.5)),
]


@pytest.mark.parametrize(("name", "v", "slots", "percent", "held"), SCENE)
def test_the_pipeline_scene_shows_these_slots(name: str, v: int, slots: float, percent: float, held: tuple) -> None:
    timeline = run(name, 4, 8, v)
    assert timeline.makespan == slots
    assert 100 * timeline.bubble_of_total == pytest.approx(percent, abs=0.05)
    assert timeline.in_flight == held


def test_zb_h1_needs_27_slots_and_no_more_memory_than_1f1b() -> None:
    timeline = run("zb-h1", 4, 8)
    assert timeline.makespan == 27
    assert 100 * timeline.bubble_of_total == pytest.approx(11.1, abs=0.05)
    assert timeline.in_flight == (4, 3, 2, 1)
    assert timeline.held_until_weights == (4, 4, 4, 4)


def test_zb_h2_idles_only_outside_a_stages_first_and_last_operation() -> None:
    timeline = run_schedule(SHOWN_ONLY["zb-h2"], 4, 8)
    assert timeline.makespan == 27
    for row in timeline.by_stage:
        assert row[-1].end - row[0].start == sum(i.end - i.start for i in row)
    assert timeline.held_until_weights == (7, 7, 7, 7)  # 2p - 1, Qi et al. 2023, table 2


def test_more_micro_batches_shrink_the_bubble() -> None:
    assert 100 * run("1f1b", 4, 32).bubble_of_total == pytest.approx(8.6, abs=0.05)
    assert 100 * run("interleaved", 4, 32, 2).bubble_of_total == pytest.approx(4.5, abs=0.05)


def test_a_last_stage_slower_by_a_tenth_holds_up_every_micro_batch() -> None:
    schedule = SCHEDULES["1f1b"]
    forward = [[1.0], [1.0], [1.0], [1.1]]
    durations = Durations(forward, forward, forward)
    assert simulate(schedule.ops(4, 32), schedule.placement(4), durations).makespan == pytest.approx(114.6)
    assert run("1f1b", 4, 32).makespan == 105


def test_zb_h1_of_eight_stages_and_micro_batches_idles_far_more_than_five_percent() -> None:
    assert 100 * run("zb-h1", 8, 8).bubble_of_total == pytest.approx(22.6, abs=0.05)


@pytest.mark.parametrize(("name", "v", "share"), [("1f1b", 1, 0.273), ("interleaved", 2, 0.158), ("zb-v", 1, 0.059)])
def test_the_ideal_beside_the_measured_gloo_runs_is_met(name: str, v: int, share: float) -> None:
    assert run(name, 4, 8, v).bubble_of_total == pytest.approx(share, abs=0.0005)


@pytest.mark.parametrize(("p", "m"), [(4, 8), (4, 16), (8, 32)])
def test_v_and_dualpipe_hold_the_same_on_every_stage(p: int, m: int) -> None:
    assert run("zb-v", p, m).in_flight == (p,) * p
    assert run("dualpipe", p, m).in_flight == (p + 1,) * p
    assert run("dualpipev", p, m).in_flight == (p + 0.5,) * p


@every_schedule
@given(
    p=st.integers(1, 6),
    m=st.integers(1, 16),
    v=st.integers(1, 3),
    seed=st.lists(TIMES, min_size=1, max_size=7),
    send_s=st.floats(0, 1),
    overlapped=st.booleans(),
)
def test_a_timeline_keeps_every_rule(
    schedule: Schedule, p: int, m: int, v: int, seed: list[float], send_s: float, overlapped: bool
) -> None:
    p, m, v = legal(schedule, p, m, v)
    ops = schedule.ops(p, m, v)
    placement, durations = schedule.placement(p, v), uneven(schedule, p, v, seed)
    timeline = simulate(ops, placement, durations, send_s, overlapped)
    ends = {i[:4]: i.end for i in timeline.intervals}
    for stage, row in enumerate(timeline.by_stage):
        assert [(i.kind, i.micro_batch, i.chunk) for i in row] == [op[:3] for op in ops[stage]]
        assert all(one.end <= two.start + 1e-9 for one, two in pairwise(row))
        for i in row:
            assert i.end - i.start == pytest.approx(durations.of(i.kind, stage, i.chunk))
            if i.kind == "F" and placement.places[stage][i.chunk].position == 0:
                continue
            owner, needed = dependency(ops, placement, stage, Op(i.kind, i.micro_batch, i.chunk))
            travel = send_s if owner != stage else 0.0
            assert i.start >= ends[(owner, *needed[:3])] + travel - 1e-9
    assert timeline.makespan >= max(timeline.busy) - 1e-9
    assert 0 <= timeline.bubble_of_total + 1e-12 <= 1
    idle = sum(end - start for start, end in timeline.idle_gaps(0))
    assert idle == pytest.approx(timeline.makespan - timeline.busy[0], abs=1e-6)
    assert timeline.memory_over_time(0)[-1][1] == 0


@every_schedule
def test_slower_sends_never_shorten_a_step(schedule: Schedule) -> None:
    makespans = [run_schedule(schedule, 4, 8, send_s=send).makespan for send in (0.0, 0.1, 0.5)]
    assert makespans == sorted(makespans)


def test_a_send_delays_each_hop_of_the_ramp() -> None:
    assert run("gpipe", 4, 8, send_s=0.5).makespan == pytest.approx(33 + 6 * 0.5)


def test_a_send_that_overlaps_nothing_costs_more() -> None:
    schedule = SCHEDULES["1f1b"]
    placement = schedule.placement(2)
    times = even_durations(placement, 1, 1, 1)
    shown = simulate(schedule.ops(2, 2), placement, times, 0.5, overlapped=False)
    assert shown.makespan > simulate(schedule.ops(2, 2), placement, times, 0.5).makespan


LONG = [(name, v) for name in SCHEDULES for v in ((2, 3) if name == "interleaved" else (1,))]


@pytest.mark.parametrize(("name", "v"), LONG)
@given(
    p=st.sampled_from([2, 4]),
    rounds=st.integers(20, 40),
    seed=st.lists(TIMES, min_size=1, max_size=5),
    send_s=st.floats(0, 0.5),
)
def test_a_long_step_extended_is_the_long_step_simulated(
    name: str, v: int, p: int, rounds: int, seed: list[float], send_s: float
) -> None:
    schedule, m = SCHEDULES[name], p * rounds
    durations = uneven(schedule, p, v, seed)
    full = simulate(schedule.ops(p, m, v), schedule.placement(p, v), durations, send_s)
    outline = simulate_long(schedule, p, m, v, durations, send_s, long_ops=0)
    assert outline.makespan == pytest.approx(full.makespan, rel=1e-9)
    assert outline.busy == pytest.approx(full.busy, rel=1e-9)
    assert outline.in_flight == full.in_flight
    assert outline.bubble_of_ideal == pytest.approx(full.bubble_of_ideal, abs=1e-8)


@pytest.mark.parametrize(("name", "v"), LONG)
def test_a_long_step_with_equal_stages_is_not_simulated_in_full(name: str, v: int) -> None:
    schedule = SCHEDULES[name]
    outline = simulate_long(schedule, 4, 40_000, v, even_durations(schedule.placement(4, v), 1, 1, 1))
    assert outline.simulated < 200


def without_a_forward(orders: list[list[Op]]) -> list[list[Op]]:
    return [[op for op in orders[0] if op != Op("F", 1, 0)], orders[1]]


def test_an_order_that_forgets_a_forward_names_what_is_missing() -> None:
    schedule = SCHEDULES["1f1b"]
    placement = schedule.placement(2)
    with pytest.raises(Stuck) as caught:
        simulate(without_a_forward(schedule.ops(2, 2)), placement, even_durations(placement, 1, 1, 1))
    assert (caught.value.stage, caught.value.op, caught.value.owner) == (1, Op("F", 1, 0), 0)
    assert (
        "stage 1 cannot run the forward of micro-batch 1: it needs the forward of micro-batch 1 on stage 0 first"
        in str(caught.value)
    )


def test_an_order_that_waits_for_itself_says_so() -> None:
    placement = SCHEDULES["1f1b"].placement(1)
    with pytest.raises(Stuck, match="needs the forward of micro-batch 0 itself first, and that comes later"):
        simulate([[Op("B", 0, 0), Op("F", 0, 0)]], placement, even_durations(placement, 1, 1, 1))


def test_two_stages_that_wait_for_each_other_are_found() -> None:
    placement = SCHEDULES["1f1b"].placement(2)
    orders = [
        [Op("F", 0, 0), Op("B", 0, 0), Op("F", 1, 0), Op("B", 1, 0)],
        [Op("F", 0, 0), Op("F", 1, 0), Op("B", 0, 0)],
    ]
    with pytest.raises(Stuck) as caught:
        simulate(orders, placement, even_durations(placement, 1, 1, 1))
    assert caught.value.missing in (Op("F", 1, 0), Op("B", 0, 0))


@pytest.mark.parametrize(
    "order",
    [
        [Op("F", 0, 0), Op("F", 0, 0)],
        [Op("F", 0, 0), Op("B", 0, 0), Op("W", 0, 0)],
        [Op("F", 0, 0), Op("B", 0, 0), Op("I", 0, 0)],
        [Op("F", 0, 1)],
        [Op("F", -1, 0)],
        [Op("X", 0, 0)],
    ],
)
def test_an_order_without_a_meaning_is_refused(order: list[Op]) -> None:
    placement = SCHEDULES["1f1b"].placement(1)
    with pytest.raises(Refusal):
        simulate([order], placement, even_durations(placement, 1, 1, 1))


def test_a_part_of_an_order_is_simulated_as_far_as_it_goes() -> None:
    placement = SCHEDULES["1f1b"].placement(2)
    timeline = simulate([[Op("F", 0, 0)], []], placement, even_durations(placement, 1, 1, 1))
    assert timeline.intervals == (Interval(0, "F", 0, 0, 0.0, 1.0),)


@pytest.mark.parametrize("time", [-1.0, float("nan"), float("inf")])
def test_a_time_without_a_meaning_is_refused(time: float) -> None:
    with pytest.raises(Refusal, match="forward"):
        run("1f1b", 2, 2, forward=time)


def test_what_a_stage_holds_is_drawn_as_steps() -> None:
    timeline = run("1f1b", 2, 2)
    assert timeline.memory_over_time(1) == [(1.0, 1), (4.0, 0), (4.0, 1), (7.0, 0)]
    assert timeline.idle_gaps(1) == ((0.0, 1.0), (7.0, 9.0))


def test_a_measured_timeline_needs_no_schedule() -> None:
    measured = Timeline(2, (Interval(0, "F", 0, 0, 0.0, 1.0), Interval(1, "F", 0, 0, 1.5, 2.0)), 2.0)
    assert measured.bubble_of_total == pytest.approx(1 - 1.5 / 4)
