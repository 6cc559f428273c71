"""Mixes of parallel dimensions: each axis sends what it sends alone, and every rank holds its share of a share."""

import pytest

from app.runner.catalog import checked, demo_named
from app.runner.demos.mixes import mesh_of
from engine.language.refusal import Refusal
from tests.demo.conftest import Stage, of, wrong

TINY: dict[str, object] = {"layers": 2, "sequence": 16, "batch": 4, "micro_batches": 2}
CASES: list[tuple[str, dict[str, object], set[str]]] = [
    (
        "tp-fsdp",
        {"batch": 4, "sequence": 16},
        {"tp.all_reduce.every", "tp.all_gather.every", "dp.all_gather.every", "dp.reduce_scatter.every"},
    ),
    ("tp-fsdp", {"dp": 3, "batch": 3, "sequence": 17, "layers": 1}, {"dp.reduce_scatter.every"}),
    ("pp-fsdp", TINY, {"pp.send.later", "dp.all_gather.later.0-1", "dp.reduce_scatter.later.2-3"}),
    ("pp-tp", TINY, {"pp.send.later", "pp.recv.later", "tp.all_reduce.later.0-1", "tp.all_gather.later.2-3"}),
    ("3d", {**TINY, "steps": 2}, {"pp.send.later", "tp.all_reduce.later.0-1-2-3", "dp.reduce_scatter.later.4-5-6-7"}),
]
NAMES = ["-".join([name, *(f"{key}{value}" for key, value in knobs.items())]) for name, knobs, _ in CASES]


@pytest.mark.parametrize(("name", "knobs", "calls"), CASES, ids=NAMES)
def test_a_mix_shows_what_was_predicted(stage: Stage, name: str, knobs: dict[str, object], calls: set[str]) -> None:
    events = stage.run(name, **knobs)
    assert wrong(events) == []
    assert events[-1].KIND == "run.done" and events[-1].ok
    checks = {check.name for check in of(events, "check")}
    assert {"loss", "state.parameters", "state.gradients", "state.optimizer"} <= checks
    assert {f"{kind}.{call}" for kind in ("calls", "bytes") for call in calls} <= checks


@pytest.mark.parametrize("name", ["tp-fsdp", "pp-fsdp", "pp-tp", "3d"])
def test_shares_cover_the_model(name: str) -> None:
    mesh = mesh_of(checked(demo_named(name), {}))
    held, whole = sum(mesh.held_numbers), mesh.model.parameters.value
    uncut = (mesh.tp - 1) * mesh.model.uncut_parameters.value  # tensor parallelism keeps copies of embeddings and norms
    assert held == whole + uncut
    assert len(mesh.held_numbers) == mesh.ranks == demo_named(name).ranks(checked(demo_named(name), {}))


BAD: list[tuple[str, dict[str, object], str, str]] = [
    ("tp-fsdp", {"dp": 4, "tp": 4}, "dp", "needs 16 ranks"),
    ("tp-fsdp", {"tp": 3}, "heads", "cryptic shape error"),
    ("tp-fsdp", {"batch": 7}, "batch", "in silence"),
    ("pp-fsdp", {"layers": 1}, "layers", "a stage without a layer"),
    ("pp-fsdp", {"micro_batches": 1}, "micro_batches", "as many micro-batches as stages"),
    ("pp-fsdp", {"micro_batches": 8}, "batch", "must divide it"),
    ("pp-tp", {"micro_batches": 3}, "batch", "must divide it"),
    ("pp-tp", {"tp": 3}, "heads", "cryptic shape error"),
    ("3d", {"tp": 4}, "tp", "one of 2"),
]


@pytest.mark.parametrize(("name", "given", "field", "words"), BAD)
def test_what_cannot_run_is_refused(name: str, given: dict[str, object], field: str, words: str) -> None:
    with pytest.raises(Refusal) as refusal:
        checked(demo_named(name), given)
    assert refusal.value.field == field and words in refusal.value.sentence and len(refusal.value.sentence) < 400
