"""A trace as a person reads it at a terminal."""

from collections.abc import Iterable

from app.board.console import columns
from app.runner.fake.event_kinds import RoleCheck, TraceAccepted, TraceDone, TraceEvent, TraceFailed
from engine.language.units import bytes_text, count_text, seconds_text

SCALED = "whole model"


def trace_text(events: Iterable[TraceEvent]) -> str:
    """What was measured, a column for each role; what disagrees; a word on each difference to the engine; the end."""
    seen = list(events)
    first, last, checks = seen[0], seen[-1], [event for event in seen if isinstance(event, RoleCheck)]
    assert isinstance(first, TraceAccepted)
    parts = [_title(first), _roles(first), _table(first, checks), _wrong(checks), _reasons(checks), _end(last)]
    return "\n\n".join(part for part in parts if part)


def _title(accepted: TraceAccepted) -> str:
    asked = accepted.params
    return (
        f"{asked['model']} on {accepted.ranks:,} fake ranks: tp {asked['tp']} x pp {asked['pp']} x dp {asked['dp']}, "
        f"{asked['layers_per_stage'] or 'all'} layers per stage, {asked['micro_batches']} micro-batches of "
        f"{asked['sequence_tokens']:,} tokens"
    )


def _roles(accepted: TraceAccepted) -> str:
    roles = accepted.predicted.roles
    return "\n".join(f"{each.role} stage: rank {each.rank:,} stands for {each.stands_for:,} ranks" for each in roles)


def _table(accepted: TraceAccepted, checks: list[RoleCheck]) -> str:
    """Measured numbers; ✓ where every role agrees with its prediction. The last column is the engine's, of the middle."""
    roles = [role.role for role in accepted.predicted.roles]
    shown = [row for row in checks if not row.name.startswith(SCALED)]
    middle = "middle" if "middle" in roles else roles[0]
    rows = [("", "measured", *roles, f"engine, {middle}")]
    for name in dict.fromkeys(row.name for row in shown):
        found = {row.role: row for row in shown if row.name == name}
        engine = found[middle].engine if middle in found else None
        rows.append(
            (
                "✓" if all(row.ok for row in found.values()) else "✗",
                name,
                *(amount(found[role].measured, found[role].unit) if role in found else "" for role in roles),
                "" if engine is None else amount(engine, found[middle].unit),
            )
        )
    return columns(rows, left=2)


def amount(value: float, unit: str) -> str:
    """A number of a row with its unit.

    >>> amount(320, "calls"), amount(2**30, "bytes")
    ('320', '1 GiB')
    """
    return bytes_text(value, True) if unit == "bytes" else count_text(value, 4)


def failed_text(message: str, said: str) -> str:
    """Our verdict, and PyTorch's own words beneath.

    >>> failed_text("rank 1 was killed (SIGKILL)", "")
    'failed: rank 1 was killed (SIGKILL)'
    """
    return f"failed: {message}" + (f"\n      in PyTorch's own words: {said}" if said else "")


def _wrong(checks: list[RoleCheck]) -> str:
    return "\n".join(
        f"✗ {row.role}: {row.name}: {row.measured:,} where {row.predicted:,} was predicted"
        for row in checks
        if not row.ok
    )


def _reasons(checks: list[RoleCheck]) -> str:
    """Each reason once, with the rows it belongs to."""
    names: dict[str, list[str]] = {}
    for row in checks:
        if row.why and (row.name != "peak memory" or row.role == "first"):
            name = SCALED if row.name.startswith(SCALED) else row.name.partition(",")[0]
            names.setdefault(row.why, []).append(name)
    return "\n".join(f"{', '.join(dict.fromkeys(rows))}: {why}" for why, rows in names.items())


def _end(last: TraceEvent) -> str:
    if not isinstance(last, TraceDone):
        return failed_text(last.message, last.said) if isinstance(last, TraceFailed) else "failed: no role answered"
    agree = "all agree" if last.ok else "not all agree"
    return f"{last.checks} rows, {agree}; {seconds_text(last.wall_s)}, and {seconds_text(last.traced_s)} of tracing"
