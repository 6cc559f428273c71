"""The nearest that works, works: put into the planner, it takes its refusal away, and its field is not refused again."""

import random
from collections.abc import Iterator, Mapping
from itertools import islice

from app.plan.form import CLUSTERS, FIELDS, MODELS, PASTED, document_of, field_of, state_of
from engine.language.refusal import Refusal
from engine.pipeline.schedules import SCHEDULES
from engine.scenario import scenario_from

GOOD: dict[str, tuple[object, ...]] = {
    "model": tuple(name for name in MODELS if name != PASTED),
    "cluster": tuple(CLUSTERS),
    "gpus": (8, 64, 96, 512, 1000, 1024, 4096, 16384),
    "sequence": (512, 1000, 4096, 8192, 131072),
    "batch": (256, 512, 1000, 1500, 2048, 4096),
    "tp": (1, 2, 4, 8),
    "pp": (1, 2, 3, 4, 8, 16, 64),
    "cp": (1, 1, 1, 2, 4),
    "ep": (1, 1, 1, 2, 8),
    "micro_batch": (1, 1, 2),
    "schedule": tuple(SCHEDULES),
    "vp": (1, 1, 1, 2, 4),
    "zero": (0, 1, 2, 3),
    "hsdp_shard": ("", "", "8"),
}
BAD: dict[str, tuple[object, ...]] = {
    "gpus": (1, 7, 100, 999, 1488),
    "batch": (0, 1, 7, 100, 500, 1490, 1500, 4097),
    "tp": (3, 5, 6, 7, 12, 64, 10**6),
    "pp": (3, 5, 7, 20, 126, 200, 10**6),
    "cp": (3, 5, 7, 6, 10**6),
    "ep": (3, 5, 7, 64, 10**6),
    "micro_batch": (3, 5, 7),
    "vp": (2, 3, 5, 7, 70, 10**6),
    "hsdp_shard": (5, 7, 12),
    "sequence": (777, 1000, 8190),
}
WORDS = {"sequence_tokens": "sequence", "gpus": "gpus"}
State = Mapping[str, str]


def refused(state: State) -> tuple[Refusal, ...]:
    try:
        scenario_from(document_of(state))
    except Refusal as refusal:
        return refusal.all
    return ()


def spoilt(seed: int) -> Iterator[tuple[str, State]]:
    """A field, and a plan with a meaning in which it alone was made bad."""
    chance = random.Random(seed)
    while True:
        state = state_of({name: str(chance.choice(values)) for name, values in GOOD.items()})
        if not refused(state):
            yield from ((name, {**state, name: str(chance.choice(values))}) for name, values in BAD.items())


def ways_out(refusal: Refusal) -> Iterator[tuple[str, str]]:
    """Each field of the form with a value that the refusal names for it."""
    for way in (refusal.nearest or "").split(" or "):
        word, _, value = way.rpartition(" ")
        name = WORDS.get(word, word) or field_of(refusal)
        if name in FIELDS and value.isdecimal():
            yield name, value


def test_the_nearest_that_works_works_in_the_planner() -> None:
    tried = 0
    for name, state in islice(spoilt(10), 600):
        for refusal in refused(state):
            for field, value in ways_out(refusal):
                tried += 1
                after = refused({**state, field: value})
                again = [str(each) for each in after if field_of(each) == field]
                assert not again, f"{refusal}: {field} {value}: {again}, of {dict(state)}"
                assert refusal.rule not in [each.rule for each in after], f"{refusal} stays with {field} {value}"
                if field == name == "batch":
                    assert not after, f"{refusal}: {field} {value}: {after[0]}"
    assert tried > 200


def test_a_batch_is_refused_in_sequences_where_the_schedule_is_what_refuses_it() -> None:
    state = state_of({"gpus": "96", "tp": "2", "pp": "2", "schedule": "dualpipe", "batch": "1512"})  # 63 micro-batches
    [refusal] = refused(state)
    assert refusal.value == "1512" and "even number" in refusal.rule
    assert refusal.nearest == "1488 or 1536"


def test_the_end_of_a_range_is_not_named_where_it_does_not_work() -> None:
    document = {"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024}
    for layout, near in (({"vp": 70, "schedule": "gpipe", "pp": 2}, "1"), ({"pp": 500}, "64")):
        try:
            scenario_from({**document, "layout": layout})
        except Refusal as refusal:
            assert refusal.nearest == near, refusal
        else:
            raise AssertionError(layout)
