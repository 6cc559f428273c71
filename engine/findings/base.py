"""What a finding is, and the list of rules. A rule is a small function of an estimate; none ever raises."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from engine.estimate import Estimate

Severity = Literal["error", "warning", "advice", "good"]  # the gravest first
RANK: dict[Severity, int] = {severity: place for place, severity in enumerate(get_args(Severity))}


@dataclass(frozen=True)
class Candidate:
    """A change that may help. Whether it does is known once it is tried: see engine.advice.

    change   fields by their names in the contract: those of the layout, `stack`, `precision`. What else has to move, so
             that GPUs and global batch stay, is found when it is tried
    words    what is done, and why it should help
    """

    change: Mapping[str, Any] = field(hash=False)
    words: str = ""


@dataclass(frozen=True)
class Finding:
    """One thing worth saying about a layout.

    code         stable name of the rule
    title        about five words
    why          the reason, with this case's numbers
    try_this     what to change, before anything is tried
    candidates   changes that may do it, those to try first before the others; none where nothing can be changed
    on_wires     whether it is about who stands where, so that it belongs beside a picture of the wires
    """

    code: str
    severity: Severity
    title: str
    why: str
    try_this: str
    candidates: tuple[Candidate, ...] = ()
    on_wires: bool = False


Rule = Callable[[Estimate], Iterator[Finding]]
RULES: list[Rule] = []


def rule(function: Rule) -> Rule:
    """List a rule."""
    RULES.append(function)
    return function


def changes(*options: Mapping[str, Any]) -> tuple[Candidate, ...]:
    """Candidates that need no words of their own."""
    return tuple(Candidate(option) for option in options)
