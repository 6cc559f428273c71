"""Every strategy trains as one process alone does, and moves and holds exactly what was predicted."""

from typing import Any

import pytest

from app.runner.catalog import DEMOS, checked
from engine.lens.demo_model import TinyGpt
from tests.demo.conftest import Stage, of, wrong

CASES: list[tuple[str, dict[str, object]]] = [
    ("ddp", {"ranks": 4, "bucket_kib": 256}),
    ("ddp", {"ranks": 3, "batch": 6, "link_mb_per_s": 80}),
    ("zero1", {"ranks": 4}),
    ("zero1", {"ranks": 2, "broadcasts": "rank"}),
    ("fsdp2", {"ranks": 4}),
    ("fsdp2", {"ranks": 3, "batch": 6, "reshard": "all"}),
    ("fsdp2", {"ranks": 2, "reshard": "none", "precision": "bf16"}),
    ("hsdp", {}),
    ("tp", {"ranks": 4}),
    ("tp", {"ranks": 2, "inputs": "own"}),
    ("tp-sp", {"ranks": 2}),
    ("tp-sp", {"ranks": 2, "loss": "parallel"}),
]
NAMES = ["-".join([name, *map(str, knobs.values())]) for name, knobs in CASES]


@pytest.mark.parametrize(("name", "knobs"), CASES, ids=NAMES)
def test_a_strategy_shows_what_was_predicted(stage: Stage, name: str, knobs: dict[str, object]) -> None:
    events = stage.run(name, **knobs)
    assert wrong(events) == []
    assert events[-1].KIND == "run.done" and events[-1].ok
    checks = {check.name for check in of(events, "check")}
    assert {"loss", "state.parameters", "state.gradients", "state.optimizer", "wire"} <= checks
    assert any(check.startswith("calls.") for check in checks)


def test_the_events_of_a_run_stand_in_their_order(stage: Stage) -> None:
    events = stage.run("ddp", ranks=2)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [event.KIND for event in events[:2]] == ["run.accepted", "run.started"]
    assert events[1].predicted.state[0].formula
    for rank in (0, 1, "ref"):
        kinds = [event.KIND for event in events if getattr(event, "rank", None) == rank]
        assert (
            kinds[0] == "rank.ready"
            and kinds[-1] == "rank.exit"
            and kinds.count("step") == 3
            and kinds.count("state") == 1
        )
        times = [event.t for event in events if getattr(event, "rank", None) == rank]
        assert times == sorted(times)
    assert {"forward", "backward", "optimizer"} == set(of(events, "step")[0].phases)
    assert of(events, "comm")[-1].each


def test_no_event_tells_a_path(stage: Stage) -> None:
    for event in stage.run("kill-rank", ranks=2) + stage.run("fsdp2", ranks=2, steps=1):
        assert "/" not in str(event).replace("and/or", "") or event.KIND in ("run.started", "check")


def test_a_training_learns(stage: Stage) -> None:
    losses = [step.loss for step in of(stage.run("ddp", ranks=2, steps=8), "step") if step.rank == "ref"]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize(("hidden", "layers", "sequence"), [(64, 1, 8), (128, 4, 64), (256, 8, 256)])
def test_the_engine_knows_every_tensor_of_the_model(hidden: int, layers: int, sequence: int) -> None:
    pytest.importorskip("torch")
    from app.runner.rank.gpt import seeded_gpt

    shape = TinyGpt(hidden, layers, sequence)
    real: Any = seeded_gpt(shape, 8, seed=1)
    assert [(name, tuple(p.shape)) for name, p in real.named_parameters()] == list(shape.tensors)
    assert sum(p.numel() for p in real.parameters()) == shape.parameters.value == sum(shape.ready_order)


def test_every_demo_predicts_before_it_runs() -> None:
    for demo in DEMOS.values():
        prediction = demo.predict(checked(demo, {}))
        assert prediction.held or prediction.failure or prediction.more, demo.name
        assert prediction.told().notes
