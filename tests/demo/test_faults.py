"""When a rank misbehaves the others' complaints arrive first; the run names the one that caused them all the same."""

import re

import pytest

from app.runner.catalog import DEMOS, checked
from tests.demo.conftest import Stage, children, of, wrong

CASES: list[tuple[str, dict[str, object], str]] = [
    ("kill-rank", {}, "SIGKILL"),
    ("hang-rank", {"patience": 1}, "flight recorder"),
    ("hang-rank", {"watch": "barrier", "patience": 1}, "monitoredBarrier"),
    ("mismatch", {"odd": "barrier"}, "Detected mismatch"),
    ("mismatch", {"odd": "size"}, "Detected mismatch"),
    ("mismatch", {"check": "none", "patience": 1}, "flight recorder"),
    ("out-of-memory", {}, "allocate memory"),
]


@pytest.mark.parametrize(
    ("name", "knobs", "words"), CASES, ids=["-".join([c[0], *map(str, c[1].values())]) for c in CASES]
)
def test_the_root_cause_is_the_rank_that_misbehaved(
    stage: Stage, name: str, knobs: dict[str, object], words: str
) -> None:
    events = stage.run(name, victim=2, at=1, **knobs)
    end = events[-1]
    assert (end.KIND, end.rank) == ("run.failed", 2), end
    assert words in f"{end.message} {end.said}"
    assert end.message.startswith("rank 2 ") and not re.search(
        "FingerPrint|monitoredBarrier|Error|enforce", end.message
    )
    assert wrong(events) == []
    assert [event.rank for event in of(events, "rank.error") if event.root_cause] in ([], [2])
    assert children(stage.zygote) == []
    assert stage.run("ddp", ranks=2, steps=1)[-1].KIND == "run.done"


def test_secondary_errors_are_not_the_root_cause(stage: Stage) -> None:
    errors = of(stage.run("kill-rank"), "rank.error")
    assert errors and not any(error.root_cause for error in errors)
    assert all("/" not in error.message for error in errors)


def test_all_wait_for_a_straggler(stage: Stage) -> None:
    events = stage.run("straggler", ranks=2, late_ms=50)
    assert wrong(events) == []
    assert {event.rank for event in of(events, "measure")} == {0, 1}


def test_a_rank_that_hangs_says_where_before_it_does(stage: Stage) -> None:
    stuck = {event.rank: event.last for event in of(stage.run("hang-rank", patience=1), "stuck")}
    numbers = {rank: last[-1].number for rank, last in stuck.items()}
    assert numbers[1] < numbers[0] == numbers[2] == numbers[3]


def test_every_fault_demo_is_tried() -> None:
    faults = {name for name, demo in DEMOS.items() if demo.group == "faults"}
    assert faults - {name for name, _, _ in CASES} <= {"straggler", "restart"}
    for name in faults:
        assert checked(DEMOS[name], {})


@pytest.mark.parametrize(("at", "every"), [(2, 2), (3, 2)])
def test_a_training_that_is_started_again_goes_on_as_if_nothing_had_happened(stage: Stage, at: int, every: int) -> None:
    events = stage.run("restart", ranks=2, at=at, every=every, steps=5)
    assert wrong(events) == [] and events[-1].KIND == "run.done"
    assert {(event.attempt, event.first) for event in of(events, "restart")} == {(1, at - at % every)}
    steps = [event.step for event in of(events, "step") if event.rank == 0]
    assert steps == [*range(at), *range(at - at % every, 5)]
    assert children(stage.zygote) == []
