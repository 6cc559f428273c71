"""Pipeline demos: PyTorch's own schedules run in the order that the engine simulates, and wait as long as it says."""

import pytest

from app.runner.catalog import checked, demo_named
from app.runner.demos.pp import bubble_rows, expected_timeline
from app.runner.event_kinds import Pipe, RunEvent
from app.runner.event_parts import PipeOp
from app.runner.pipe_timeline import measured_timeline
from app.runner.stage_parts import dealt_layers, numbers, part_tensors
from app.runner.torch_schedules import TORCH_SCHEDULES
from engine.language.refusal import Refusal
from engine.lens.demo_model import TinyGpt
from tests.demo.conftest import Stage, of, wrong

TINY = {"pp": 2, "layers": 4, "sequence": 16, "batch": 4, "micro_batches": 4}
KINDS = {"FORWARD": "F", "FULL_BACKWARD": "B", "BACKWARD_INPUT": "I", "BACKWARD_WEIGHT": "W"}


@pytest.mark.parametrize("name", TORCH_SCHEDULES)
def test_a_schedule_shows_what_was_predicted(stage: Stage, name: str) -> None:
    events = stage.run("pp", schedule=name, **TINY)
    assert wrong(events) == []
    assert events[-1].KIND == "run.done" and events[-1].ok
    checks = {check.name for check in of(events, "check")}
    assert {
        "loss",
        "state.parameters",
        "state.gradients",
        "state.optimizer",
        "bubble",
        "calls.pp.send.later",
        "bytes.pp.recv.later",
    } <= checks
    assert ran(events, name) == said(name, 2, 4)


def ran(events: list[RunEvent], name: str) -> list[list[tuple[str, int, int]]]:
    """Kind, micro-batch and chunk of what each rank ran in the last step, in order."""
    timeline = measured_timeline(events, 2)
    assert timeline is not None and timeline.chunk_share == 1 / TORCH_SCHEDULES[name].chunks
    return [[(op.kind, op.micro_batch, op.chunk) for op in row] for row in timeline.by_stage]


def said(name: str, stages: int, micro_batches: int) -> list[list[tuple[str, int, int]]]:
    schedule = TORCH_SCHEDULES[name]
    return [[op[:3] for op in ops] for ops in schedule.own.ops(stages, micro_batches, schedule.chunks)]


def test_inner_stages_send_twice_as_often(stage: Stage) -> None:
    events = stage.run("pp", **{**TINY, "pp": 4, "slot_ms": 0, "steps": 2})
    assert wrong(events) == []
    checks = {check.name: check.measured for check in of(events, "check")}
    assert (checks["calls.pp.send.later.0-3"], checks["calls.pp.send.later.1-2"]) == (4, 8)
    assert "bubble" not in checks


@pytest.mark.parametrize("name", [name for name in TORCH_SCHEDULES if name != "1F1B"])
@pytest.mark.parametrize(("stages", "micro_batches"), [(2, 4), (3, 6), (4, 8), (4, 16)])
def test_pytorch_orders_as_the_engine_does(name: str, stages: int, micro_batches: int) -> None:
    """Not 1F1B: the order that PyTorch lists for its last rank is not the one that it runs."""
    pytest.importorskip("torch")
    from torch.distributed.pipelining._schedule_visualizer import get_schedule_ops

    schedule = TORCH_SCHEDULES[name]
    placement = schedule.own.placement(stages, schedule.chunks)
    orders = get_schedule_ops(name, stages, micro_batches, schedule.chunks)
    for rank, ops in enumerate(schedule.own.ops(stages, micro_batches, schedule.chunks)):
        listed = [op for action in orders[rank] if action for op in (action.sub_actions or (action,))]
        theirs = [
            (KINDS[op.computation_type.name], op.microbatch_index, op.stage_index)
            for op in listed
            if op.microbatch_index is not None
        ]
        assert theirs == [(op.kind, op.micro_batch, placement.places[rank][op.chunk].position) for op in ops]


@pytest.mark.parametrize(
    ("name", "bubble"),
    [
        ("GPipe", 3 / 11),
        ("1F1B", 3 / 11),
        ("Interleaved1F1B", 3 / 19),
        ("LoopedBFS", 3 / 19),
        ("InterleavedZeroBubble", 3 / 51),
        ("ZBVZeroBubble", 3 / 51),
    ],
)
def test_simulated_bubbles_are_those_of_the_closed_forms(name: str, bubble: float) -> None:
    params = {**checked(demo_named("pp"), {}), "schedule": name}
    assert expected_timeline(params).bubble_of_total == pytest.approx(bubble)


def test_a_disturbed_machine_is_said_to_be_so() -> None:
    def said(rank: int, start: float, end: float, overrun: bool = False, queued_s: float = 0.0) -> Pipe:
        return Pipe(end, rank, step=1, ops=(PipeOp("F", rank, 0, start, end, overrun),), queued_s=queued_s)

    quiet = [said(rank, rank, rank + 1.0) for rank in (0, 1)]
    assert [(row.ok, row.tolerance) for row in bubble_rows(0.5, 50, quiet)] == [(True, 0.04)]
    busy = [said(rank, 3.0 * rank, 3.0 * rank + 1.5, overrun=True, queued_s=0.4) for rank in (0, 1)]
    (row,) = bubble_rows(0.5, 50, busy)
    assert isinstance(row.tolerance, float) and row.tolerance > 0.04
    assert "overrun: 2 of 2" in row.why and "disturbed" in row.why
    assert bubble_rows(0.5, 0, quiet) == [] == bubble_rows(0.5, 50, [])


@pytest.mark.parametrize("parts", [1, 2, 3, 8])
def test_parts_cover_the_model(parts: int) -> None:
    model = TinyGpt(64, 8, 16)
    assert sum(numbers(part_tensors(model, part, parts)) for part in range(parts)) == model.parameters.value
    assert [layer for dealt in dealt_layers(8, parts) for layer in dealt] == list(range(8))


BAD: list[tuple[dict[str, object], str, str]] = [
    ({"layers": 3}, "layers", "needs at least 4"),
    ({"schedule": "ZBVZeroBubble", "layers": 7}, "layers", "cuts the model into 8 parts"),
    ({"schedule": "LoopedBFS", "pp": 8}, "layers", "layers = 8 with pp = 4"),
    ({"micro_batches": 3}, "batch", "only the last stage fails"),
    ({"micro_batches": 16}, "batch", "micro_batches = 16 must divide it"),
    ({"micro_batches": 2}, "micro_batches", "at least as many micro-batches as stages"),
    ({"schedule": "DualPipeV", "micro_batches": 4}, "micro_batches", "8"),
    ({"schedule": "Interleaved1F1B", "micro_batches": 2}, "micro_batches", "multiple"),
    ({"schedule": "InterleavedZeroBubble", "micro_batches": 2}, "micro_batches", "multiple"),
    ({"slot_ms": 100, "micro_batches": 32, "batch": 32, "steps": 5}, "steps", "10.5 s each"),
    ({"schedule": "pickle"}, "schedule", "one of GPipe, 1F1B"),
]


@pytest.mark.parametrize(("given", "field", "words"), BAD)
def test_what_cannot_run_is_refused(given: dict[str, object], field: str, words: str) -> None:
    with pytest.raises(Refusal) as refusal:
        checked(demo_named("pp"), given)
    assert refusal.value.field == field and words in refusal.value.sentence and len(refusal.value.sentence) < 400
