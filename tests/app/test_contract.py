"""The Estimate document: exactly the contract's keys, every number with its working, sums that add up."""

import json
import math
import sys
from dataclasses import replace
from io import BytesIO, TextIOWrapper
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.api.answer_schema import EstimateDocument
from app.cli import main as cli
from engine.answer import answer
from engine.catalog.scenarios import preset_document
from engine.estimate import Estimate
from engine.scenario import scenario_from

CARD = preset_document()
SCENARIOS = {
    "card": CARD,
    "interleaved": CARD | {"layout": {"vp": 5, "schedule": "interleaved", "recompute": "selective"}},
    "zero-bubble": CARD | {"layout": {"schedule": "zb-h1"}},
    "dualpipe": CARD | {"layout": {"schedule": "dualpipe", "zero": 0}},
    "fsdp": CARD | {"layout": {"tp": 1, "pp": 1, "zero": 3, "hsdp_shard": 64, "micro_batches": 1, "recompute": "full"}},
    "context": CARD | {"sequence_tokens": 131072, "layout": {"cp": 8, "micro_batches": 4}, "precision": "fp8"},
    "experts": {"model": "deepseek-v3", "cluster": "gb200-nvl72", "gpus": 2304, "layout": {"tp": 1, "pp": 16, "ep": 16, "micro_batches": 32}},
    "one-gpu": {"model": "llama-3-8b", "cluster": "mi300x", "gpus": 1, "layout": {"tp": 1, "pp": 1}, "training": {"mfu": 0.4}},
    "own-shape": {"model": {"layers": 2, "hidden": 512, "heads": 8, "vocab": 1000}, "cluster": {"base": "hgx-h100", "nic_gbit_per_s": 200},
                  "gpus": 16, "layout": {"tp": 2, "pp": 2}},
}  # fmt: skip

# the keys of every object, by the path that leads to it
CONTRACT = {
    "": ["parameters", "memory", "communication", "pipeline", "step", "mfu", "training", "findings", "terms"],
    "parameters": ["total", "active", "per_gpu"],
    "memory": ["stages", "peak_bytes", "capacity_bytes", "fits"],
    "memory.stages": ["stage", "weights_bytes", "gradients_bytes", "optimizer_bytes", "activations_bytes", "buffers_bytes", "total_bytes"],
    "communication": ["axis", "op", "payload_bytes", "sent_bytes_per_gpu", "count", "link", "seconds", "exposed_seconds"],
    "pipeline": ["bubble_of_total", "bubble_of_ideal", "in_flight", "may_exceed"],
    "step": ["seconds", "low_seconds", "high_seconds", "compute_seconds", "recompute_seconds", "exposed_communication_seconds",
             "bubble_seconds", "optimizer_seconds", "tokens_per_second", "tokens_per_second_per_gpu"],
    "mfu": ["six_n", "causal", "full_attention", "hfu"],
    "training": ["flop", "gpu_hours", "days", "usd", "goodput_share"],
    "findings": ["code", "severity", "title", "why", "try_this", "change", "gain"],
    "terms": ["label", "formula", "substituted", "unit", "source", "value"],
}  # fmt: skip


Answered = tuple[dict[str, Any], dict[str, Any]]


@pytest.fixture(params=list(SCENARIOS))
def answered(request: pytest.FixtureRequest, client: TestClient) -> Answered:
    """A scenario of each kind and its answer."""
    answer = client.post("/api/estimate", json=SCENARIOS[request.param])
    assert answer.status_code == 200, answer.text
    return SCENARIOS[request.param], answer.json()


def numbers(part: object, path: str = "") -> dict[str, object]:
    """Every number of a document, under its dotted path."""
    if isinstance(part, dict):
        return {key: value for name, inner in part.items() for key, value in numbers(inner, f"{path}.{name}").items()}
    if isinstance(part, list):
        return {
            key: value for index, inner in enumerate(part) for key, value in numbers(inner, f"{path}.{index}").items()
        }
    return {path[1:]: part} if isinstance(part, int | float) else {}


def test_an_answer_has_the_keys_of_the_contract(answered: Answered) -> None:
    _, document = answered
    assert sorted(document) == sorted(CONTRACT[""])
    for name, keys in CONTRACT.items():
        part = document
        for step in filter(None, name.split(".")):
            part = part[step]
        objects = part if isinstance(part, list) else list(part.values()) if name == "terms" else [part]
        assert all(sorted(one) == sorted(keys) for one in objects), name


def test_an_answer_is_what_the_schema_says(answered: Answered) -> None:
    EstimateDocument.model_validate(answered[1], strict=True)


GIVEN = {"memory.capacity_bytes", "pipeline.may_exceed"}  # no formula gives them


def test_every_number_has_a_term_with_the_same_value_and_a_working(answered: Answered) -> None:
    """All but a stage's place, which is no quantity, and what was tried, whose numbers are those of another scenario."""
    _, document = answered
    terms = document.pop("terms")
    del document["findings"]
    found = {path: value for path, value in numbers(document).items() if not path.endswith(".stage")}
    assert found == {path: term["value"] for path, term in terms.items()}
    for path, term in terms.items():
        assert term["label"] and term["unit"] and term["source"], path
        assert bool(term["formula"]) == bool(term["substituted"]) == (path not in GIVEN), path


@pytest.mark.parametrize(("most", "said"), [(0.0, 0.0), (0.02, 0.02), (math.inf, None)])
def test_what_a_timeline_may_be_longer_by_is_said(most: float, said: float | None) -> None:
    """Proven to be all of it, bounded, and neither."""
    found = Estimate(scenario_from(CARD))
    found.__dict__["step"] = replace(found.step, outline=replace(found.step.outline, may_exceed=most))
    told = answer(found)
    assert told["pipeline"]["may_exceed"] == said
    EstimateDocument.model_validate(told, strict=True)


def test_a_units_suffix_is_its_terms_unit(answered: Answered) -> None:
    for path, term in answered[1]["terms"].items():
        name = path.split(".")[-1]
        if name.endswith("_bytes"):
            assert term["unit"] == "bytes", path
        if name.endswith("seconds"):
            assert term["unit"] == "s", path


def test_the_parts_of_a_step_add_up(answered: Answered) -> None:
    step = answered[1]["step"]
    parts = ("compute", "recompute", "exposed_communication", "bubble", "optimizer")
    assert sum(step[f"{part}_seconds"] for part in parts) == pytest.approx(step["seconds"], rel=1e-12)
    assert step["low_seconds"] < step["seconds"] < step["high_seconds"]


def test_the_parts_of_a_stage_add_up_and_the_fullest_is_the_peak(answered: Answered) -> None:
    memory = answered[1]["memory"]
    for stage in memory["stages"]:
        kinds = ("weights", "gradients", "optimizer", "activations", "buffers")
        assert sum(stage[f"{kind}_bytes"] for kind in kinds) == pytest.approx(stage["total_bytes"])
    assert memory["peak_bytes"] == max(stage["total_bytes"] for stage in memory["stages"])


def test_communication_adds_up_to_what_the_step_shows(answered: Answered) -> None:
    document = answered[1]
    exposed = sum(one["exposed_seconds"] for one in document["communication"])
    assert exposed == pytest.approx(document["step"]["exposed_communication_seconds"])


def test_the_card_is_answered_as_on_the_card(client: TestClient) -> None:
    document = client.post("/api/estimate", json=CARD).json()
    assert document["parameters"]["total"] == pytest.approx(70.554e9, rel=1e-5)
    assert document["pipeline"]["bubble_of_total"] == pytest.approx(3 / 19)
    assert document["pipeline"]["bubble_of_ideal"] == pytest.approx(3 / 16)
    assert document["pipeline"]["in_flight"] == [4, 3, 2, 1]
    assert document["memory"]["fits"] is True
    assert document["communication"][0]["link"] == "nvlink"
    assert "large-bubble" in [finding["code"] for finding in document["findings"]]


def test_the_command_line_gives_the_same_document(
    answered: Answered, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario, document = answered
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(json.dumps(scenario).encode())))
    assert cli.main(["estimate", "-"]) == 0
    assert json.loads(capsysbinary.readouterr().out) == document
