"""The events of a whole trace: what was asked and predicted, what each role found, and how it ended. Knows no torch."""

import platform
import re
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from app.runner.fake.documents import parts_document, prediction_document
from app.runner.fake.predict import predict
from app.runner.fake.request import FULL, FakeRequest, fake_request
from app.runner.fake.roles import Role, roles_of
from app.runner.fake.verdict import scaled_rows
from engine.language.refusal import Refusal

Event = dict[str, Any]
PATH = re.compile(r"(/[\w.+-]+){2,}/?")  # no machine's paths in what people read
LONGEST_MESSAGE = 300
ROLES = "tensor- and data-parallel ranks do the same, so one rank for each place in the pipeline describes them all"


def accepted(request: FakeRequest) -> Event:
    """The first event: the request, and everything that is said before the run."""
    predictions = [predict(request, role) for role in roles_of(request)]
    return {
        "event": "run.accepted",
        "demo": "fake",
        "params": request.document(),
        "ranks": request.ranks,
        "predicted": {
            "roles": [prediction_document(prediction) for prediction in predictions],
            "layer_parts": parts_document(predictions[0]),
        },
        "notes": [ROLES],
        "command": command_of(request),
        "versions": versions(),
        "date": datetime.now(UTC).date().isoformat(),
    }


def failed(role: Role, complaint: str) -> Event:
    r"""The event of a role that could not be traced: the last line of its complaint, without a machine's paths.

    >>> from app.runner.fake.request import fake_request
    >>> failed(roles_of(fake_request({}))[0], "Traceback\nOSError: no /tmp/some/file")["message"]
    'OSError: no …'
    """
    lines = complaint.strip().splitlines() or ["ended without a word, or ran too long"]
    message = PATH.sub("…", lines[-1])[:LONGEST_MESSAGE]
    return {"event": "rank.error", "role": role.name, "rank": role.rank, "message": message}


def finished(request: FakeRequest, events: Iterable[Event], wall_s: float) -> Iterator[Event]:
    """What follows when every role has given its events: the whole model by scale, and the end."""
    seen = list(events)
    errors = [event for event in seen if event["event"] == "rank.error"]
    if errors:
        yield {"event": "run.failed", "message": errors[0]["message"], "wall_s": round(wall_s, 2)}
        return
    scaled = list(_scaled(request, seen))
    yield from scaled
    checks = [event for event in [*seen, *scaled] if event["event"] == "check"]
    yield {
        "event": "run.done",
        "wall_s": round(wall_s, 2),
        "checks": len(checks),
        "ok": all(event["ok"] for event in checks),
        "traced_s": round(sum(event["seconds"] for event in seen if event["event"] == "mem"), 2),
    }


def _scaled(request: FakeRequest, seen: list[Event]) -> Iterator[Event]:
    """The whole model from a few layers: a middle stage has nothing but layers, so it says what one more layer adds."""
    comm = {event["role"]: event["comm"] for event in seen if event["event"] == "comm"}
    if request.asked.layers_per_stage == FULL or "middle" not in comm:
        return
    try:
        whole = fake_request(request.document() | {"layers_per_stage": FULL})
    except Refusal:  # a depth that its stages cannot share evenly
        return
    for role in roles_of(whole):
        said = predict(whole, role)
        for row in scaled_rows(said, comm[role.name], comm["middle"], request.stages[role.stage].whole.layers):
            yield {"event": "check", "role": role.name, "rank": role.rank, **row}


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
