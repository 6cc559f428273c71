"""What a finding is, and the list of rules. A rule is a small function of an estimate; none ever raises."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from engine.estimate import Estimate

Severity = Literal["error", "warning", "advice", "good"]  # the gravest first
RANK: dict[Severity, int] = {severity: place for place, severity in enumerate(get_args(Severity))}


@dataclass(frozen=True)
class Finding:
    """One thing worth saying about a layout.

    code       stable name of the rule
    title      about five words
    why        the reason, with this case's numbers
    try_this   what to change
    change     the layout fields that would do it, where that is one click
    on_wires   whether it is about who stands where, so that it belongs beside a picture of the wires
    """

    code: str
    severity: Severity
    title: str
    why: str
    try_this: str
    change: dict[str, Any] = field(default_factory=dict, hash=False)
    on_wires: bool = False


Rule = Callable[[Estimate], Iterator[Finding]]
RULES: list[Rule] = []


def rule(function: Rule) -> Rule:
    """List a rule."""
    RULES.append(function)
    return function
