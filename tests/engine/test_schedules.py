"""Orders of operations: typed as triangles for small cases, and complete for every schedule and size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.language.refusal import Refusal
from engine.pipeline.schedules import SCHEDULES, SHOWN_ONLY, Place, Schedule, schedule_named
from engine.pipeline.simulator import run_schedule
from engine.pipeline.timeline import Timeline

EVERY = {**SCHEDULES, **SHOWN_ONLY}
every_schedule = pytest.mark.parametrize("schedule", EVERY.values(), ids=EVERY)


def triangle(timeline: Timeline) -> str:
    """A timeline whose operations all last one slot, a line per stage; small letters are chunk 1."""
    lines = []
    for row in timeline.by_stage:
        cells = ["  "] * round(timeline.makespan / timeline.chunk_share)
        for interval in row:
            letter = interval.kind.lower() if interval.chunk else interval.kind
            cells[round(interval.start / timeline.chunk_share)] = f"{letter}{interval.micro_batch}"
        lines.append(" ".join(cells).rstrip())
    return "\n".join(lines)


TRIANGLES = {
    "gpipe p=2 m=3": (
        "gpipe", 2, 3, 1,
        """
F0 F1 F2       B0 B1 B2
   F0 F1 F2 B0 B1 B2
""",
    ),
    "1f1b p=3 m=4": (
        "1f1b", 3, 4, 1,
        """
F0 F1 F2       B0 F3 B1    B2    B3
   F0 F1    B0 F2 B1 F3 B2    B3
      F0 B0 F1 B1 F2 B2 F3 B3
""",
    ),
    "1f1b with fewer micro-batches than stages": (
        "1f1b", 3, 2, 1,
        """
F0 F1          B0    B1
   F0 F1    B0    B1
      F0 B0 F1 B1
""",
    ),
    "interleaved p=2 m=4 v=2": (
        "interleaved", 2, 4, 2,
        """
F0 F1 f0 f1 F2 b0 F3 b1 f2 B0 f3 B1    b2    b3 B2 B3
   F0 F1 f0 b0 f1 b1 F2 B0 F3 B1 f2 b2 f3 b3 B2 B3
""",
    ),
    "interleaved p=2 m=2 v=2": (
        "interleaved", 2, 2, 2,
        """
F0 F1 f0 f1    b0    b1 B0 B1
   F0 F1 f0 b0 f1 b1 B0 B1
""",
    ),
    "zb-h1 p=3 m=4": (
        "zb-h1", 3, 4, 1,
        """
F0 F1 F2       I0 W0 F3 I1 W1 I2 W2 I3 W3
   F0 F1    I0 F2 I1 W0 F3 I2 W1 I3 W2 W3
      F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3
""",
    ),
    "zb-h2 p=3 m=6": (
        "zb-h2", 3, 6, 1,
        """
F0 F1 F2 F3 F4 I0 W0 F5 I1 W1 I2 W2 I3 W3 I4 W4 I5 W5
   F0 F1 F2 I0 F3 I1 F4 I2 W0 F5 I3 W1 I4 W2 I5 W3 W4 W5
      F0 I0 F1 I1 F2 I2 F3 I3 F4 I4 W0 F5 I5 W1 W2 W3 W4 W5
""",
    ),
    "zb-v p=2 m=4": (
        "zb-v", 2, 4, 1,
        """
F0 F1 F2 f0 i0 w0 f1 i1 w1 F3 I0 W0 f2 i2 w2 I1 W1 f3 i3 w3 I2 W2 I3 W3
   F0 f0 F1 f1 i0 w0 F2 I0 W0 f2 i1 w1 F3 I1 W1 f3 i2 w2 I2 i3 I3 W2 w3 W3
""",
    ),
    "dualpipe p=2 m=4, a full backward takes two slots": (
        "dualpipe", 2, 4, 1,
        """
F0 f2 F1 b2    f3 B0    b3    I1 W1
f2 F0 f3 B0    F1 b2    B1    i3 w3
""",
    ),
    "dualpipev p=2 m=4, a full backward takes two slots": (
        "dualpipev", 2, 4, 1,
        """
F0 F1 F2 f0 i0 w0 f1 F3 b1       f2 B0    b2       f3 B1    b3    I2 W2 I3 W3
   F0 f0 F1 f1 F2 b0    f2 B0    F3 b1    f3 B1    b2    B2       i3 I3 w3 W3
""",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "p", "m", "v", "drawing"), TRIANGLES.values(), ids=TRIANGLES)
def test_a_small_case_looks_as_drawn(name: str, p: int, m: int, v: int, drawing: str) -> None:
    schedule = EVERY[name]
    half = 1.0 if schedule.splits_backward else 0.5  # a whole backward is drawn as long as a forward
    assert triangle(run_schedule(schedule, p, m, v, 1.0, half, half)) == drawing.strip("\n")


@every_schedule
@given(p=st.integers(1, 8), m=st.integers(1, 24), v=st.integers(1, 4))
def test_every_operation_runs_exactly_once_or_the_shape_is_refused(schedule: Schedule, p: int, m: int, v: int) -> None:
    try:
        timeline = run_schedule(schedule, p, m, v, 1.0, 1.3, 0.7, 0.1)
    except Refusal as refusal:
        assert refusal.field in ("layout.pp", "layout.micro_batches", "layout.vp")
        return
    placement = schedule.placement(p, v)
    done = {
        (i.stage, i.micro_batch, i.chunk, kind)
        for i in timeline.intervals
        for kind in ("IW" if i.kind == "B" else i.kind)
    }
    assert len(done) == sum(2 if i.kind == "B" else 1 for i in timeline.intervals)
    per_pipe = m // placement.pipes
    owed = {
        (stage, place.pipe * per_pipe + n, chunk, kind)
        for stage, places in enumerate(placement.places)
        for chunk, place in enumerate(places)
        for n in range(per_pipe)
        for kind in "FIW"
    }
    assert done == owed


@every_schedule
@pytest.mark.parametrize("p", [2, 4, 6])
def test_each_part_of_each_pipe_is_held_by_one_stage(schedule: Schedule, p: int) -> None:
    placement = schedule.placement(p, 3)
    places = [place for stage in placement.places for place in stage]
    assert len(set(places)) == len(places) == placement.pipes * placement.positions
    assert all(place.position < placement.positions for place in places)


def test_the_v_puts_first_and_last_part_on_stage_0() -> None:
    assert SCHEDULES["zb-v"].placement(4).places[0] == (Place(0, 0), Place(0, 7))


def test_dualpipe_keeps_each_part_twice() -> None:
    dualpipe = SCHEDULES["dualpipe"]
    assert dualpipe.placement(4).places[1] == (Place(0, 1), Place(1, 2))
    assert dualpipe.parameter_copies == 2


@pytest.mark.parametrize("name", ["gpipe", "1f1b", "interleaved", "zb-h1"])
def test_one_stage_never_idles(name: str) -> None:
    assert run_schedule(SCHEDULES[name], 1, 5).bubble_of_total == pytest.approx(0)


def test_interleaved_with_one_chunk_is_1f1b() -> None:
    assert SCHEDULES["interleaved"].ops(4, 6, 1) == SCHEDULES["1f1b"].ops(4, 6)


REFUSED = [
    ("interleaved", 4, 6, 2, "layout.micro_batches", "4 or 8", "interleave-illegal"),
    ("interleaved", 4, 3, 2, "layout.micro_batches", "4", "interleave-illegal"),
    ("interleaved", 1, 4, 2, "layout.pp", "2", "interleave-illegal"),
    ("1f1b", 4, 8, 2, "layout.vp", "1", "interleave-illegal"),
    ("zb-v", 4, 8, 3, "layout.vp", "1", "interleave-illegal"),
    ("dualpipe", 3, 8, 1, "layout.pp", "2 or 4", "invalid"),
    ("dualpipe", 4, 9, 1, "layout.micro_batches", "10", "invalid"),
    ("dualpipe", 4, 6, 1, "layout.micro_batches", "8", "too-few-micro-batches"),
    ("dualpipev", 4, 7, 1, "layout.micro_batches", "8", "too-few-micro-batches"),
    ("gpipe", 0, 8, 1, "layout.pp", "1", "invalid"),
    ("gpipe", 4, 0, 1, "layout.micro_batches", "1", "invalid"),
]


@pytest.mark.parametrize(("name", "p", "m", "v", "field", "near", "code"), REFUSED)
def test_what_a_schedule_cannot_run_is_refused_with_a_way_out(
    name: str, p: int, m: int, v: int, field: str, near: str, code: str
) -> None:
    with pytest.raises(Refusal) as caught:
        SCHEDULES[name].check(p, m, v)
    assert (caught.value.field, caught.value.code) == (field, code)
    assert (caught.value.nearest or "").startswith(near)


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(Refusal) as caught:
        schedule_named("dualpip")
    assert (caught.value.field, caught.value.nearest) == ("layout.schedule", "dualpipe")
