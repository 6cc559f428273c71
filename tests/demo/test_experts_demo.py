"""Expert-parallel demos: spread experts train as they do together, and a skewed routing sends just what was predicted."""

import pytest

from app.runner.catalog import checked, demo_named
from app.runner.expert_routing import ranked_routing
from engine.language.refusal import Refusal
from tests.demo.conftest import Stage, of, wrong

CASES: list[dict[str, object]] = [
    {"ranks": 4, "skew": 100},
    {"ranks": 2, "skew": 400},
    {"ranks": 4, "skew": 150, "experts": 4, "layers": 1},
]


@pytest.mark.parametrize("knobs", CASES, ids=["-".join(map(str, case.values())) for case in CASES])
def test_spread_experts_show_what_was_predicted(stage: Stage, knobs: dict[str, object]) -> None:
    events = stage.run("ep", **knobs)
    assert wrong(events) == []
    assert events[-1].KIND == "run.done" and events[-1].ok
    checks = {check.name: check.measured for check in of(events, "check")}
    assert {"loss", "state.parameters", "state.optimizer", "calls.dp.all_reduce.every", "busiest.rank"} <= checks.keys()
    exchanges = {count for name, count in checks.items() if name.startswith("calls.ep")}
    assert exchanges == {4 * int(str(knobs.get("layers", 2)))}
    assert checks["busiest.expert"] == int(str(knobs["skew"])) / 100


def test_with_a_skew_the_busiest_rank_receives_more(stage: Stage) -> None:
    checks = {check.name: check.measured for check in of(stage.run("ep", ranks=2, skew=300, steps=1), "check")}
    assert checks["bytes.ep.all_to_all.every.0"] > checks["bytes.ep.all_to_all.every.1"]


@pytest.mark.parametrize("skew", [100, 150, 200, 300, 400])
@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_every_visit_is_sent_once_and_received_once(skew: int, ranks: int) -> None:
    routing = ranked_routing({"batch": 8, "sequence": 16, "experts": 8, "skew": skew}, ranks)
    sent, received = ([side(rank) for rank in range(ranks)] for side in (routing.sent, routing.received))
    assert [list(column) for column in zip(*sent, strict=True)] == received
    assert sum(map(sum, sent)) == 2 * 8 * 16 == sum(routing.routing.loads)


BAD: list[tuple[dict[str, object], str, str]] = [
    ({"ranks": 3, "batch": 6}, "experts", "whole experts"),
    ({"ranks": 8, "experts": 4}, "experts", "ranks = 8 must divide it"),
    ({"ranks": 4, "batch": 6}, "batch", "in silence"),
    ({"experts": 4, "skew": 300}, "skew", "at most every token"),
]


@pytest.mark.parametrize(("given", "field", "words"), BAD)
def test_what_cannot_run_is_refused(given: dict[str, object], field: str, words: str) -> None:
    with pytest.raises(Refusal) as refusal:
        checked(demo_named("ep"), given)
    assert refusal.value.field == field and words in refusal.value.sentence and len(refusal.value.sentence) < 400
