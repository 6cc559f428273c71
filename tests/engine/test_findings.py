"""Each red flag has a layout that raises it and one that does not, and the change it offers leads somewhere legal."""

from pathlib import Path
from typing import Any

import pytest

import engine.findings as findings
from engine.advice import advised
from engine.advice.neighbours import neighbours
from engine.estimate import Estimate
from engine.findings import RANK, SUBJECTS, findings_of
from engine.language.refusal import Refusal
from engine.pipeline.schedules import SCHEDULES
from engine.pipeline.schedules.placement import loop
from tests.engine.conftest import Ask
from tests.test_families import finding_codes

FOLDER = Path(findings.__file__).parent

NEIGHBOUR = "better-neighbour"  # no rule finds it: it is tried
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
    (
        "experts-need-sequence-parallel",
        "warning",
        {**MOE, "sequence_parallel": False},
        {**MOE, "sequence_parallel": False, "tp": 1},
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
    assert finding_codes() - {NEIGHBOUR} == {code for code, *_ in CASES}


def test_every_file_of_rules_is_asked() -> None:
    files = {path.stem for path in FOLDER.glob("*.py") if "\n@rule" in path.read_text(encoding="utf-8")}
    assert files - {"__init__", "base"} == {subject.__name__.rpartition(".")[2] for subject in SUBJECTS}


@pytest.mark.parametrize(("code", "severity", "raises", "silent"), CASES, ids=NAMES)
def test_findings_are_sorted_and_say_what_they_are(
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


@pytest.mark.parametrize(
    ("code", "scenario"),
    [
        ("tp-leaves-node", {"tp": 16}),
        ("kv-heads-copied", {"tp": 16}),
        ("large-bubble", {}),
        ("does-not-divide", {"model": UNEVEN, "gpus": 64, "pp": 8, "micro_batches": 64}),
        ("experts-need-sequence-parallel", {**MOE, "sequence_parallel": False}),
        ("simpler-layout-fits", {"model": "mixtral-8x7b", "gpus": 64, "tp": 4, "ep": 8}),
    ],
)
def test_the_change_that_is_offered_makes_a_finding_go_away(ask: Ask, code: str, scenario: dict[str, Any]) -> None:
    offered = next(advice for advice in advised(ask(**scenario)) if advice.finding.code == code)
    assert offered.trial and offered.trial.after
    assert code not in codes(offered.trial.after)


@pytest.mark.parametrize("schedule", [name for name, known in SCHEDULES.items() if known.arrange is loop])
@pytest.mark.parametrize("micro_batches", [4, 8, 16])
def test_interleaving_is_offered_only_where_it_helps(ask: Ask, schedule: str, micro_batches: int) -> None:
    """ZB-H1 with few micro-batches wastes more than a tenth, yet two chunks a stage may waste more still."""
    result = ask(schedule=schedule, micro_batches=micro_batches)
    for advice in advised(result):
        if advice.finding.code == "large-bubble" and advice.trial and advice.trial.after:
            assert advice.trial.after.alone.bubble_of_total < result.alone.bubble_of_total


def test_a_degree_that_a_node_holds_is_named_with_its_reason(ask: Ask) -> None:
    """72 GPUs and 64 heads: neither alone says that TP 8 is the most a rack takes."""
    found = ask(cluster="gb200-nvl72", gpus=1152, tp=64, pp=2)
    why = next(finding.why for finding in findings_of(found) if finding.code == "tp-leaves-node")
    assert "1, 2, 4 and 8 divide the 72 GPUs of a node and the 64 heads, and suit the 8 KV heads" in why


@pytest.mark.parametrize(("stack", "refused"), [("fsdp2", True), ("fsdp2-compiled", True), ("megatron", False)])
def test_torchtitan_refuses_more_ranks_than_kv_heads(ask: Ask, stack: str, refused: bool) -> None:
    found = ask(tp=16, stack=stack)
    why = next(finding.why for finding in findings_of(found) if finding.code == "kv-heads-copied")
    assert ("torchtitan" in why) == refused


def test_uneven_stages_are_named_where_no_other_degree_would_do(ask: Ask) -> None:
    """23 layers, which only 23 stages divide, and 8 GPUs: there is no better pp, and the stages are uneven all the same."""
    model = {"layers": 23, "hidden": 4096, "heads": 32, "vocab": 32000}
    found = next(f for f in findings_of(ask(model=model, gpus=8, tp=1, pp=8)) if f.code == "does-not-divide")
    assert found.candidates == ()
    assert "2 to 3 each" in found.why


def test_only_schedules_are_offered_that_the_software_runs(ask: Ask) -> None:
    names = {
        stack: {change["schedule"] for change in neighbours(ask(stack=stack).scenario) if "schedule" in change}
        for stack in ("megatron", "fsdp2")
    }
    here = {
        "megatron": {name for name, schedule in SCHEDULES.items() if schedule.megatron},
        "fsdp2": {name for name, schedule in SCHEDULES.items() if schedule.torch_name},
    }
    assert names == {stack: runs - {"1f1b"} for stack, runs in here.items()}
    assert all(runs < {*SCHEDULES} for runs in names.values())


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
