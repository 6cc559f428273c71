"""Each red flag has a layout that raises it and one that does not, and the change it offers leads somewhere legal."""

from pathlib import Path
from typing import Any

import pytest

import engine.findings as findings
from engine.estimate import Estimate, estimate
from engine.findings import RANK, SUBJECTS, Finding, findings_of
from engine.language.refusal import Refusal
from engine.pipeline.schedules import SCHEDULES
from engine.pipeline.schedules.placement import loop
from engine.scenario import scenario_from
from tests.engine.conftest import Ask
from tests.test_families import finding_codes

FOLDER = Path(findings.__file__).parent

MOE = {"model": "mixtral-8x7b", "gpus": 64}
UNEVEN = {"layers": 36, "hidden": 4096, "heads": 32, "vocab": 32000}
PRESSED = {"cluster": {"base": "hgx-h100", "oversubscription": 4}}

# code, severity, a scenario that raises it, one that does not
CASES: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("out-of-memory", "error", {"pp": 1, "zero": 0}, {}),
    ("little-headroom", "warning", {"zero": 0, "schedule": "interleaved", "vp": 2}, {}),
    ("tp-leaves-node", "error", {"tp": 16}, {"tp": 8}),
    ("tp-leaves-node", "error", {"rank_order": "dp-tp-cp-ep-pp"}, {}),
    ("tp-in-node", "good", {"tp": 8}, {"tp": 1, "pp": 4, "gpus": 32}),
    ("kv-heads-copied", "warning", {"tp": 16}, {"tp": 8}),
    ("large-bubble", "warning", {}, {"schedule": "interleaved", "vp": 2}),
    ("too-few-micro-batches", "warning", {"pp": 8, "micro_batches": 4}, {"pp": 8, "micro_batches": 8}),
    ("does-not-divide", "warning", {"model": UNEVEN, "gpus": 64, "pp": 8}, {"model": UNEVEN, "gpus": 64, "pp": 4}),
    ("dp-crosses-spine", "advice", {"rank_order": "tp-cp-ep-pp-dp"}, {}),
    ("dp-crosses-spine", "warning", {"rank_order": "tp-cp-ep-pp-dp", **PRESSED}, PRESSED),
    (
        "fsdp-network-bound",
        "warning",
        {"gpus": 256, "tp": 1, "pp": 1, "zero": 3, "sequence_tokens": 512, "micro_batches": 1},
        {"gpus": 256, "tp": 8, "pp": 1, "zero": 3, "micro_batch": 8, "micro_batches": 1},
    ),
    ("simpler-layout-fits", "advice", {"model": "llama-3-8b", "gpus": 32}, {"gpus": 1024}),
    ("experts-imbalanced", "advice", {**MOE, "tp": 1, "pp": 1, "ep": 8}, {**MOE, "tp": 1, "pp": 1, "ep": 1}),
    ("mfu-implausible", "warning", {"training": {"mfu": 0.8}}, {"training": {"mfu": 0.4}}),
    ("no-restart-plan", "warning", {"gpus": 131_072}, {}),
]
NAMES = [f"{code}-{severity}" for code, severity, _, _ in CASES]


def codes(result: Estimate) -> dict[str, str]:
    return {finding.code: finding.severity for finding in findings_of(result)}


@pytest.mark.parametrize(("code", "severity", "raises", "silent"), CASES, ids=NAMES)
def test_a_red_flag_is_raised_where_it_is_due_and_nowhere_else(
    ask: Ask, code: str, severity: str, raises: dict[str, Any], silent: dict[str, Any]
) -> None:
    assert codes(ask(**raises)).get(code) == severity
    assert codes(ask(**silent)).get(code) != severity


def test_every_red_flag_has_a_case() -> None:
    assert finding_codes() == {code for code, *_ in CASES}


def test_every_file_of_rules_is_asked() -> None:
    files = {path.stem for path in FOLDER.glob("*.py") if "@rule" in path.read_text(encoding="utf-8")}
    assert files - {"__init__", "base"} == {subject.__name__.rpartition(".")[2] for subject in SUBJECTS}


@pytest.mark.parametrize(("code", "severity", "raises", "silent"), CASES, ids=NAMES)
def test_findings_are_sorted_and_their_changes_are_legal(
    ask: Ask, code: str, severity: str, raises: dict[str, Any], silent: dict[str, Any]
) -> None:
    result = ask(**raises)
    ranks = [RANK[finding.severity] for finding in findings_of(result)]
    assert ranks == sorted(ranks)
    for finding in findings_of(result):
        assert finding.title
        assert len(finding.title.split()) <= 7
        assert finding.why.endswith(".")
        assert finding.try_this.endswith(".")
        if finding.change:
            taken(result, finding)


def taken(result: Estimate, finding: Finding) -> Estimate:
    """The scenario with a finding's change made, as the planner makes it: dp takes what is left, the global batch stays."""
    scenario = result.scenario
    layout = {**scenario.layout.model_dump(), **finding.change}
    layout["dp"] = scenario.gpus // (layout["tp"] * layout["cp"] * layout["pp"])
    layout["micro_batches"] = max(1, scenario.layout.global_batch // (layout["dp"] * layout["micro_batch"]))
    document = {
        "model": scenario.model.model_dump(),
        "cluster": "hgx-h100",
        "gpus": scenario.gpus,
        "layout": layout,
        "sequence_tokens": scenario.sequence_tokens,
        "precision": scenario.precision,
    }
    return estimate(scenario_from(document))


@pytest.mark.parametrize(
    ("code", "scenario"),
    [
        ("tp-leaves-node", {"tp": 16}),
        ("kv-heads-copied", {"tp": 16}),
        ("large-bubble", {}),
        ("does-not-divide", {"model": UNEVEN, "gpus": 64, "pp": 8}),
        ("simpler-layout-fits", {"model": "llama-3-8b", "gpus": 32}),
    ],
)
def test_the_change_a_finding_offers_makes_it_go_away(ask: Ask, code: str, scenario: dict[str, Any]) -> None:
    before = ask(**scenario)
    finding = next(finding for finding in findings_of(before) if finding.code == code)
    assert finding.change
    assert code not in codes(taken(before, finding))


@pytest.mark.parametrize("schedule", [name for name, known in SCHEDULES.items() if known.arrange is loop])
@pytest.mark.parametrize("micro_batches", [4, 8, 16])
def test_interleaving_is_offered_only_where_it_helps(ask: Ask, schedule: str, micro_batches: int) -> None:
    """ZB-H1 with few micro-batches wastes more than a tenth, yet two chunks a stage may waste more still."""
    result = ask(schedule=schedule, micro_batches=micro_batches)
    for finding in findings_of(result):
        if finding.code == "large-bubble" and finding.change:
            assert taken(result, finding).alone.bubble_of_total < result.alone.bubble_of_total


@pytest.mark.parametrize(
    ("code", "layout"),
    [
        ("degrees-do-not-multiply", {"tp": 8, "pp": 4, "dp": 31}),
        ("does-not-divide", {"tp": 6}),
        ("interleave-illegal", {"vp": 2}),
        ("interleave-illegal", {"schedule": "interleaved", "vp": 3}),
        ("too-few-micro-batches", {"schedule": "dualpipe", "micro_batches": 4}),
    ],
)
def test_refusals_carry_the_same_codes(ask: Ask, code: str, layout: dict[str, Any]) -> None:
    with pytest.raises(Refusal) as refused:
        ask(**layout)
    assert refused.value.code == code
