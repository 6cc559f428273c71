"""Events of a run from elsewhere: whatever the kinds declare is drawn, whatever they do not is a sentence."""

import html
import json
import re
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.live.bounds import AtMost, OneOf, Within
from app.live.events import MOST_EVENTS, Event, Family
from app.runner.catalog import DEMOS
from app.runner.event_kinds import RUN_EVENTS
from app.runner.fake.event_kinds import TRACE_EVENTS
from app.runner.recordings import recording_of
from engine.language.refusal import Refusal
from tests.app.events_by_chance import disturbed, event_of, leaves

SEED, RUNS, LINES, DISTURBED = 20, 12, 14, 6
FAMILIES: tuple[Family[Any], ...] = (RUN_EVENTS, TRACE_EVENTS)
KINDS = [(family, kind) for family in FAMILIES for kind in family.kinds.values()]
NAMES = [kind.__name__ for _, kind in KINDS]
FOREIGN = re.compile(
    r"Input should|valid |array|dictionary|instance of|pydantic|ensure this|Traceback|something else", re.I
)
NO_NUMBER = re.compile(r'[" ,MLmhv](?:nan|-?inf)[" ,]')  # in a drawing
OF_OTHER_KINDS = ["x", True, "7", 3.7, None, [], {}, [[]], [True], {"a": []}]
WRONG: tuple[Any, ...] = (10**20, -(10**20), 1e300, "x" * 5_000, *OF_OTHER_KINDS)


@pytest.mark.parametrize(("family", "kind"), KINDS, ids=NAMES)
def test_every_number_has_a_range_and_every_text_a_length(family: Family[Any], kind: type[Event]) -> None:
    found = list(leaves(kind, kind.KIND))
    assert found
    for path, held, bounds in found:
        if held in (bool, type(None)):
            continue
        wanted = (AtMost, OneOf) if held is str else Within
        assert any(isinstance(bound, wanted) for bound in bounds), f"{path}: {held} has no bound"


@pytest.mark.parametrize("seed", range(SEED, SEED + 10))
def test_whatever_the_kinds_declare_is_drawn(client: TestClient, seed: int) -> None:
    """In any order, some events missing, some doubled."""
    by = Random(seed)
    kinds = [*RUN_EVENTS.kinds.values()]
    for _ in range(RUNS):
        lines = [event_of(by.choice(kinds), by) for _ in range(by.randint(1, LINES))]
        assert _opened(client, lines + by.choices(lines, k=by.randint(0, 3))) == 200, lines


@pytest.mark.parametrize("name", [name for name in DEMOS if recording_of(name).exists()])
def test_a_run_that_is_disturbed_is_drawn(client: TestClient, name: str) -> None:
    """Only knobs that its demo does not know are refused, in a sentence."""
    by = Random(SEED)
    lines = [json.loads(line) for line in recording_of(name).read_text().splitlines()]
    assert _opened(client, lines) == 200
    assert 200 in [_opened(client, disturbed(lines, RUN_EVENTS.kinds, by)) for _ in range(DISTURBED)]


@pytest.mark.parametrize("steps", ["many", -3, 0, 10**15])
def test_a_run_of_steps_that_no_demo_takes_is_drawn(client: TestClient, steps: object) -> None:
    step = {
        "event": "step",
        "t": 1,
        "rank": 0,
        "step": 1,
        "loss": 6,
        "ms": 1,
        "t0": 0,
        "t1": 1,
        "tokens": 8,
        "phases": {},
    }
    lines = [{"event": "run.accepted", "demo": "ddp", "params": {"steps": steps}, "place": 0}, step]
    assert _opened(client, lines) == 200


@pytest.mark.parametrize("shortest", [0, 5e-324, -1])
def test_a_step_without_any_length_is_passed_over(client: TestClient, shortest: float) -> None:
    at = {"t0": 0, "t1": shortest}
    op, call = {"kind": "F", "stage": 0, "mb": 0, **at}, ["dp", "send", "forward", 8, 0, shortest]
    step = {"event": "step", "t": 1, "rank": 0, "step": 0, "loss": 1e38, "ms": 0, "tokens": 8, "phases": {}, **at}
    comm = {"event": "comm", "t": 1, "rank": 0, "step": 0, "calls": [], "each": [call]}
    pipe = {"event": "pipe", "t": 1, "rank": 0, "step": 0, "ops": [op], "queued_s": 0}
    assert _opened(client, [step, comm, pipe]) == _opened(client, [step, comm]) == 200


def test_what_is_too_large_is_said_to_be(client: TestClient) -> None:
    line = json.dumps({"event": "fault", "t": 1, "rank": 0, "what": "sleeps"})
    opened = client.post("/demos/open", data={"events": "\n".join([line] * (MOST_EVENTS + 1))})
    assert opened.status_code == 413 and f"more than {MOST_EVENTS:,} lines" in _said(opened.text)
    assert client.post("/demos/open", data={"events": "x" * 3_000_000}).status_code == 413


def _opened(client: TestClient, lines: list[dict[str, Any]]) -> int:
    """The status of a page that draws these lines, or refuses them in words of ours."""
    opened = client.post("/demos/open", data={"events": "\n".join(map(json.dumps, lines))})
    said = _said(opened.text)
    assert opened.status_code == (422 if said else 200), lines
    assert not FOREIGN.search(said) and not NO_NUMBER.search(opened.text.partition("<main")[2]), lines
    return opened.status_code


@pytest.mark.parametrize(("family", "kind"), KINDS, ids=NAMES)
def test_what_is_refused_is_told_with_a_value_that_works(family: Family[Any], kind: type[Event]) -> None:
    by = Random(SEED)
    refused = 0
    for line in [event_of(kind, by) for _ in range(4)]:
        family.read(json.dumps(line).encode())
        for path in places(line):
            for changed in [_without(line, path), *(_with(line, path, wrong) for wrong in WRONG)]:
                try:
                    family.read(json.dumps(changed).encode(), 3)
                except Refusal as refusal:
                    refused += 1
                    _told_well(family, changed, refusal)
    assert refused > 10


def _told_well(family: Family[Any], line: Any, refusal: Refusal) -> None:
    said = refusal.sentence
    assert said.startswith("events.") and "line 3 is no" in said and not FOREIGN.search(refusal.rule), said
    if refusal.nearest is None or refusal.nearest.startswith("its first"):
        assert refusal.nearest or "object" in said or "needs this field" in said or "entries" in said, said
        return
    path = _path(line, refusal.field)
    mended = _with(line, path, json.loads(refusal.nearest))
    try:
        family.read(json.dumps(mended).encode(), 3)
    except Refusal as other:
        assert other.field != refusal.field, (said, other.sentence)


def _path(line: Any, field: str) -> tuple[Any, ...]:
    """A dotted place as keys and numbers; a key may hold dots itself."""
    for path in places(line):
        if ".".join(map(str, ("events", *path))) == field:
            return path
    *within, last = field.removeprefix("events.").split(".")
    return (*_path(line, ".".join(("events", *within))), last) if within else (last,)


def places(line: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a line holds anything, but for the name of its kind."""
    entries = line.items() if isinstance(line, dict) else enumerate(line) if isinstance(line, list) else ()
    for key, value in entries:
        if (*path, key) != ("event",):
            yield (*path, key)
            yield from places(value, (*path, key))


def _with(line: Any, path: tuple[Any, ...], value: Any) -> Any:
    changed = inside = deepcopy(line)
    for part in path[:-1]:
        inside = inside[part]
    if isinstance(inside, list) and path[-1] not in range(len(inside)):
        inside.append(value)
    else:
        inside[path[-1]] = value
    return changed


def _without(line: Any, path: tuple[Any, ...]) -> Any:
    changed = inside = deepcopy(line)
    for part in path[:-1]:
        inside = inside[part]
    del inside[path[-1]]
    return changed


def _said(page: str) -> str:
    """The sentence of a refusal on the page."""
    found = re.search(r'<p class="refusal" role="alert">(.*?)</p>', page, re.S)
    return html.unescape(found[1]) if found else ""
