"""What every demo keeps to: a new one is run, and asked for its recording, by being listed."""

import pytest

from app.runner.catalog import DEMOS, checked
from app.runner.description import Demo
from app.runner.knobs import Value
from app.runner.recordings import FOLDER
from engine.language.inputs import Amount
from engine.language.refusal import Refusal
from tests.demo.conftest import Stage, of, wrong

SIZES = ("hidden", "layers", "sequence", "steps")
each = pytest.mark.parametrize("name", DEMOS)


def small(demo: Demo) -> dict[str, Value]:
    """The demo's usual knobs, its model and steps as small as its rules allow."""
    chosen: dict[str, Value] = {}
    for knob in demo.knobs:
        if knob.name in SIZES:
            sizes = range(int(knob.low), int(knob.high) + 1) if isinstance(knob, Amount) else knob.options
            chosen[knob.name] = next(size for size in sizes if runs(demo, {**chosen, knob.name: size}))
    return chosen


def runs(demo: Demo, knobs: dict[str, Value]) -> bool:
    try:
        checked(demo, knobs)
    except Refusal:
        return False
    return True


@each
def test_it_shows_what_it_predicted(stage: Stage, name: str) -> None:
    events = stage.run(name, **small(DEMOS[name]))
    assert wrong(events) == []
    assert events[-1].KIND in ("run.done", "run.failed") and events[-1].ok, events[-1]
    assert of(events, "check")


@each
def test_it_has_a_recorded_run_or_says_why_it_has_none(name: str) -> None:
    assert (FOLDER / f"{name}.jsonl").exists() != bool(DEMOS[name].unrecorded)


def test_no_recording_is_left_of_a_demo_that_is_gone() -> None:
    assert {path.stem for path in FOLDER.glob("*.jsonl")} <= set(DEMOS)
