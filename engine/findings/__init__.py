"""Red flags: what is legal but unwise about a layout. `@rule` lists a rule in its file, and the files are listed here."""

from engine.estimate import Estimate
from engine.findings import data, memory, pipeline, run, tensor
from engine.findings.base import RANK, RULES, Candidate, Finding, Rule, Severity

SUBJECTS = (memory, tensor, pipeline, data, run)  # of findings equally grave, in this order

__all__ = ["RANK", "RULES", "SUBJECTS", "Candidate", "Finding", "Severity", "findings_of"]


def findings_of(estimate: Estimate) -> tuple[Finding, ...]:
    """Everything the rules find about an estimate, the gravest first."""
    found = [finding for check in ordered(RULES) for finding in check(estimate)]
    return tuple(sorted(found, key=lambda finding: RANK[finding.severity]))


def ordered(rules: list[Rule]) -> list[Rule]:
    """The rules subject by subject, and in each as they stand in its file."""
    place = {subject.__name__: place for place, subject in enumerate(SUBJECTS)}
    return sorted(rules, key=lambda rule: place[rule.__module__])
