"""The events of a whole trace: what was asked and predicted, what each role found, and how it ended. Knows no torch."""

import platform
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from app.runner.fake.event_kinds import (
    RoleCheck,
    RoleComm,
    RoleError,
    RoleMemory,
    TraceAccepted,
    TraceDone,
    TraceEvent,
    TraceFailed,
)
from app.runner.fake.predict import predict
from app.runner.fake.request import FULL, FakeRequest, fake_request
from app.runner.fake.roles import Role, roles_of
from app.runner.fake.told import Counted, ToldTrace, told_parts, told_role
from app.runner.fake.verdict import scaled_rows
from app.runner.plain_words import last_of
from engine.language.refusal import Refusal

SILENT = "ended without a word, or ran too long"
ROLES = "tensor- and data-parallel ranks do the same, so one rank for each place in the pipeline describes them all"


def accepted(request: FakeRequest) -> TraceAccepted:
    """The first event: the request, and everything that is said before the run."""
    predictions = [predict(request, role) for role in roles_of(request)]
    return TraceAccepted(
        demo="fake",
        params=request.document(),
        ranks=request.ranks,
        predicted=ToldTrace(tuple(map(told_role, predictions)), told_parts(predictions[0])),
        notes=(ROLES,),
        command=command_of(request),
        versions=versions(),
        date=datetime.now(UTC).date().isoformat(),
    )


def failed(role: Role, complaint: str) -> RoleError:
    """The event of a role that could not be traced: the end of its complaint, without a machine's paths.

    >>> from app.runner.fake.request import fake_request
    >>> failed(roles_of(fake_request({}))[0], "OSError: no /tmp/some/file").message
    'OSError: no file'
    """
    return RoleError(role.name, role.rank, last_of(complaint) or SILENT)


def finished(request: FakeRequest, seen: Sequence[TraceEvent], wall_s: float) -> Iterator[TraceEvent]:
    """What follows when every role has given its events: the whole model by scale, and the end."""
    if errors := [event for event in seen if isinstance(event, RoleError)]:
        first = errors[0]
        message = f"rank {first.rank}, of the {first.role} stage, could not be traced; another trace starts anew"
        yield TraceFailed(message=message, said=first.message, wall_s=round(wall_s, 2))
        return
    scaled = list(_scaled(request, seen))
    yield from scaled
    checks = [event for event in [*seen, *scaled] if isinstance(event, RoleCheck)]
    yield TraceDone(
        wall_s=round(wall_s, 2),
        checks=len(checks),
        ok=all(check.ok for check in checks),
        traced_s=round(sum(event.seconds for event in seen if isinstance(event, RoleMemory)), 2),
    )


def _scaled(request: FakeRequest, seen: Sequence[TraceEvent]) -> Iterator[RoleCheck]:
    """The whole model from a few layers: a middle stage has nothing but layers, so it says what one more layer adds."""
    comm: dict[str, tuple[Counted, ...]] = {event.role: event.comm for event in seen if isinstance(event, RoleComm)}
    if request.asked.layers_per_stage == FULL or "middle" not in comm:
        return
    try:
        whole = fake_request(request.document() | {"layers_per_stage": FULL})
    except Refusal:  # a depth that its stages cannot share evenly
        return
    for role in roles_of(whole):
        layers = request.stages[role.stage].whole.layers
        yield from scaled_rows(predict(whole, role), comm[role.name], comm["middle"], layers)


def command_of(request: FakeRequest) -> str:
    """The command that makes this trace.

    >>> command_of(fake_request({"pp": 2}))
    'shardboard demo fake model=llama-3-70b tp=8 pp=2 dp=32 micro_batches=2 layers_per_stage=2 sequence_tokens=8192 --json'
    """
    asked = " ".join(f"{name}={value}" for name, value in request.document().items())
    return f"shardboard demo fake {asked} --json"


def versions() -> dict[str, str]:
    """Of what the numbers depend on. Asks the installed package, not torch itself."""
    try:
        torch = version("torch")
    except PackageNotFoundError:
        torch = "none"
    return {"python": platform.python_version(), "torch": torch, "platform": sys.platform}


def need_torch() -> None:
    """Refuse where torch is not installed."""
    if find_spec("torch") is None:
        raise Refusal(
            "torch", None, "is not installed, and a trace runs the framework itself: pip install 'shardboard[demos]'"
        )
