"""Fake ranks: the framework on 1,024 ranks does what the engine says, or says why not; and each trick is still needed."""

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from app.cli import main as cli
from app.cli.trace_text import trace_text
from app.live.events import line_of, of_kind
from app.runner.fake.event_kinds import (
    RoleCheck,
    RoleComm,
    RoleEvent,
    TraceAccepted,
    TraceDone,
    TraceEvent,
    TraceFailed,
)
from app.runner.fake.events import accepted, command_of, failed, finished
from app.runner.fake.kept import fused_layer, layer_bytes, layer_parts
from app.runner.fake.peak import PEAK_SHARE
from app.runner.fake.predict import predict
from app.runner.fake.record import recorded, recorded_names
from app.runner.fake.request import FakeRequest, dp_of, fake_request, llamas
from app.runner.fake.roles import role_named, roles_of
from app.runner.fake.run import run
from app.runner.fake.shapes import units_of
from engine.catalog.model import model_named
from engine.language.refusal import Refusal
from engine.layout.layout import Layout
from engine.layout.stages import Chunk
from engine.memory.parameters import count

ROOT = Path(__file__).parent.parent.parent
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed: pip install '.[demos]'")
Event = dict[str, Any]


# What is asked


@pytest.mark.parametrize(
    ("given", "field", "words"),
    [
        ({"model": "mixtral-8x7b"}, "model", "no dense Llama"),
        ({"model": "llama-3-7b"}, "model", "the nearest that works: llama-3-70b"),
        ({"tp": 16}, "tp", "must divide the 8 key-value heads"),
        ({"tp": 3}, "tp", "the nearest that works: 2 or 4"),
        ({"dp": 1}, "dp", "from 2 to 4096; the nearest that works: 2"),
        ({"micro_batches": 3}, "micro_batches", "the nearest that works: 4"),
        ({"sequence_tokens": 100}, "sequence_tokens", "must divide the sequence"),
        ({"layers_per_stage": 200, "micro_batches": 200}, "micro_batches", "40000 passes"),
        ({"pp": 6, "layers_per_stage": 0, "model": "llama-3-8b"}, "pp", "unevenly"),
        ({"code": "import os"}, "code", "unknown key"),
        ({"tp": "8; rm"}, "tp", "needs a whole number"),
    ],
)
def test_what_has_no_meaning_is_refused_in_a_sentence(given: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(Refusal) as refused:
        fake_request(given)
    assert refused.value.field == field
    assert words in refused.value.sentence


def test_ranks_give_the_data_parallel_width() -> None:
    assert dp_of(16_384, {"tp": 8, "pp": 16}) == 128
    with pytest.raises(Refusal, match="the nearest that works: 992"):
        dp_of(1000, {"tp": 8, "pp": 4})
    with pytest.raises(Refusal, match="tp = x: needs a whole number"):
        dp_of(1024, {"tp": "x"})


@pytest.mark.parametrize("pp", [1, 2, 3, 16])
def test_roles_stand_for_every_rank(pp: int) -> None:
    request = fake_request({"pp": pp})
    assert sum(role.stands_for for role in roles_of(request)) == request.ranks == 256 * pp


# What is said before a run


@pytest.mark.parametrize("name", llamas())
def test_the_traced_model_has_the_parameters_that_the_engine_counts(name: str) -> None:
    model = model_named(name)
    units = units_of(model, Chunk(model.layers, 0, True, True))
    assert sum(unit.parameters for unit in units) == count(model).total


def test_the_prediction_of_a_whole_70b_stage() -> None:
    request = fake_request({"layers_per_stage": 0})
    said = predict(request, role_named(request, "middle"))
    found = {(c.axis, c.op): (c.count, c.bytes) for c in said.comm}
    assert found["tp", "all_gather"] == (320, 320 * 134_217_728)  # 4 a layer and micro-batch, of b s h 2 bytes
    assert found["tp", "reduce_scatter"] == (320, 320 * 134_217_728)
    assert found["dp", "all_gather"] == (20, 4_278_845_440)
    assert found["dp", "reduce_scatter"] == (20, 8_557_690_880)
    assert found["pp", "send"] == found["pp", "recv"] == (8, 8 * 16_777_216)


@pytest.mark.parametrize("tp", [1, 2, 8])
@pytest.mark.parametrize("name", llamas())
def test_the_parts_that_fused_software_keeps_add_to_the_engines_formula(name: str, tp: int) -> None:
    model, layout = model_named(name), Layout(tp=tp)
    parts = layer_parts(model, layout, 8192)
    assert sum(part.fused for part in parts) == pytest.approx(fused_layer(model, layout, 8192).value)
    assert all(part.why for part in parts if part.bytes > part.fused)


def test_eager_pytorch_keeps_two_and_a_half_times_what_fused_software_does() -> None:
    model, channels = model_named("llama-3-70b"), 8192 * 8192
    assert layer_bytes(model, Layout(), 8192) / channels == pytest.approx(10.32, abs=0.01)
    assert fused_layer(model, Layout(), 8192).value / channels == pytest.approx(4.19, abs=0.01)


def test_nothing_but_the_traced_process_imports_torch() -> None:
    code = "import app.runner.fake.run, app.runner.fake.record, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_an_error_names_no_path_of_the_machine() -> None:
    role = roles_of(fake_request({}))[0]
    assert failed(role, 'File "/home/someone/x.py"\nOSError: /home/someone/x').message == 'File "x.py" OSError: x'


def test_a_role_that_fails_fails_the_run() -> None:
    request = fake_request({})
    (end,) = finished(request, [failed(roles_of(request)[1], "was killed (SIGKILL)")], 1.0)
    assert isinstance(end, TraceFailed) and "the middle stage, could not be traced" in end.message
    assert end.said == "was killed (SIGKILL)"


def test_without_torch_a_run_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.runner.fake.events.find_spec", lambda name: None)
    with pytest.raises(Refusal, match="pip install"):
        next(run(fake_request({})))


# Kept traces


@pytest.mark.parametrize("name", recorded_names())
def test_a_kept_trace_agrees_and_says_how_it_was_made(name: str) -> None:
    events = recorded(name)
    first, last = events[0], events[-1]
    assert isinstance(first, TraceAccepted) and isinstance(last, TraceDone) and last.ok
    request = fake_request(first.params)
    assert first.command == command_of(request) and first.date and first.versions["torch"].startswith("2.")
    assert first.predicted == accepted(request).predicted, "predictions changed: record it again"
    assert f"on {request.ranks:,} fake ranks" in trace_text(events)


@pytest.mark.parametrize("name", recorded_names())
def test_the_command_of_a_kept_trace_asks_for_that_trace(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    events, asked = recorded(name), []
    (first,) = of_kind(events, TraceAccepted)

    def instead(request: FakeRequest) -> Iterator[TraceEvent]:
        asked.append(request)
        return iter(events)

    monkeypatch.setattr("app.runner.fake.run.run", instead)
    program, *words = shlex.split(first.command)
    assert program == "shardboard" and cli.main(words) == 0
    assert asked == [fake_request(first.params)]


@pytest.mark.parametrize("name", recorded_names())
def test_a_kept_trace_holds_nothing_of_the_machine(name: str) -> None:
    text = (ROOT / "app" / "runner" / "fake" / "recorded" / f"{name}.jsonl").read_text(encoding="utf-8")
    assert len(text) < 60_000 and "/home/" not in text and "/work/" not in text


# Runs


@cache
def live() -> list[TraceEvent]:
    """Llama 3 70B on 1,024 ranks, two layers a stage."""
    return list(run(fake_request({"tp": 8, "pp": 4, "dp": 32})))


@needs_torch
def test_1024_ranks_do_what_was_said() -> None:
    checks = of_kind(live(), RoleCheck)
    assert [row for row in checks if not row.ok] == []
    assert {row.role for row in checks} == {"first", "middle", "last"}
    assert {row.tolerance for row in checks} == {0.0, PEAK_SHARE}
    assert [row.name for row in checks if row.tolerance] == ["peak memory"] * 3
    assert live()[-1].KIND == "run.done"


@needs_torch
def test_events_come_in_order_and_fit_into_a_pipe() -> None:
    names = [event.KIND for event in live()]
    assert names[0] == "run.accepted" and names[-1] == "run.done"
    for role in ("first", "middle", "last"):
        own = [event.KIND for event in of_kind(live(), RoleEvent) if event.role == role]
        assert own[:4] == ["rank.ready", "state", "comm", "mem"]
    assert max(len(line_of(event)) for event in of_kind(live(), RoleEvent)) < 4096


@needs_torch
def test_two_layers_scaled_are_the_whole_model_as_recorded() -> None:
    scaled = {
        (row.role, row.name): row.measured for row in of_kind(live(), RoleCheck) if row.name.startswith("whole model")
    }
    for event in of_kind(recorded("llama-3-70b-1024"), RoleComm):
        for calls in event.comm:
            name = f"whole model: {calls.axis} {calls.op.replace('_', '-')}"
            assert scaled[event.role, f"{name}, calls"] == calls.n
            assert scaled[event.role, f"{name}, bytes"] == calls.bytes


@needs_torch
def test_leaving_a_run_early_ends_its_processes() -> None:
    events = run(fake_request({}))
    assert next(events).KIND == "run.accepted"
    assert next(events).KIND == "rank.ready"
    events.close()  # waits for the process it ends


@needs_torch
def test_a_real_run_of_eight_processes_measures_the_same() -> None:
    found = {(line["run"], line["rank"]): line for line in printed("tests.demo.fake.real")}
    for rank in (0, 7):
        real, fake = (found[kind, rank] for kind in ("real", "fake"))
        # equal, unless a send ends late: its buffer then counts as kept
        for part, share in (("peak_bytes", 0.02), ("kept_bytes", 0.03)):
            assert real.pop(part) == pytest.approx(fake.pop(part), rel=share)
        assert {**real, "run": ""} == {**fake, "run": ""}


# The seven tricks


def printed(module: str) -> Iterator[Event]:
    """The lines that a process of the framework prints."""
    done = subprocess.run([sys.executable, "-m", module], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return map(json.loads, done.stdout.splitlines())


@cache
def tricks() -> dict[str, Event]:
    return {line["trick"]: line for line in printed("tests.demo.fake.tricks")}


@needs_torch
def test_trick_1_stages_do_not_vote_on_their_shapes_and_ask_for_gradients() -> None:
    assert "DataDependentOutput" in tricks()["voting"]["error"]
    assert tricks()["as_it_is"]["sends"] == 2
    assert tricks()["gradients_not_asked_for"]["sends"] == 0


@needs_torch
def test_trick_2_a_stage_is_cut_before_fake_mode() -> None:
    assert "nonzero" in tricks()["cut_in_fake_mode"]["error"]


@needs_torch
def test_trick_3_what_dtensor_runs_on_whole_shapes_is_not_memory() -> None:
    assert tricks()["whole_shapes_seen"]["peak"] > 1.5 * tricks()["as_it_is"]["peak"]


@needs_torch
def test_trick_4_the_optimizer_goes_one_parameter_at_a_time() -> None:
    found = tricks()["optimizer_peaks"]
    assert found["each"] <= 4 * found["parameter"] < 16 * found["parameter"] <= found["foreach"]


@needs_torch
def test_trick_5_loss_parallel_is_made_anew_and_no_module_is_cast() -> None:
    assert tricks()["loss_parallel_twice"]["error"]
    assert "Couldn't swap" in tricks()["cast_in_fake_mode"]["error"]


@needs_torch
def test_trick_6_a_process_traces_one_role() -> None:
    assert "start another process" in tricks()["two_roles_in_a_process"]["error"]


@needs_torch
def test_trick_7_what_reads_values_cannot_be_faked() -> None:
    assert tricks()["data_parallel_wrapper"]["error"]
    assert "DataDependentOutput" in tricks()["routing_by_values"]["error"]


@needs_torch
@pytest.mark.parametrize(
    "shape",
    [
        "one stage",
        "no tensor parallelism",
        "rows that dp does not divide",
        "more dp ranks than rows",
        "more micro-batches than stages",
    ],
)
def test_small_traces_of_other_shapes_agree_to_the_byte(shape: str) -> None:
    assert tricks()[shape]["wrong"] == []
    assert tricks()[shape]["rows"] >= 16


def test_the_command_line_refuses_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["demo", "fake", "--ranks", "1000"]) == 2
    assert "must be a multiple of tp 8 x pp 4" in capsys.readouterr().err
