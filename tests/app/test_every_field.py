"""What every field of the planner's form keeps to: it is on the page, in the address, and in the scenario."""

import re

import pytest
from fastapi.testclient import TestClient

from app.plan.form import FIELDS, PASTED, Field, document_of, query_of, state_of
from engine.language.domain import number_text
from engine.language.inputs import Amount, Words

CONFIG = '{"model_type": "llama"}'
each = pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)


def another(field: Field) -> str:
    """A text of this field that is not its usual one."""
    each = field.input
    if isinstance(each, Words):
        return {"order": "tp-cp-ep-pp-dp", "text": CONFIG}[each.kind]
    texts = (
        [number_text(end) for end in each.span[::-1]]
        if isinstance(each, Amount)
        else [text for text, _ in each.choices]
    )
    return next(text for text in texts if text != field.usual)


@each
def test_it_has_a_control_on_the_page(client: TestClient, field: Field) -> None:
    page = client.get("/plan").text
    assert re.search(rf'<(input|select|textarea)[^>]* name="{field.name}"', page), field.input.kind
    assert field.label in page


@each
def test_it_stands_in_the_address_and_comes_back(field: Field) -> None:
    state = state_of({field.name: another(field)})
    assert f"{field.name}=" in query_of(state)


@each
def test_it_changes_the_scenario_or_only_how_answers_are_shown(field: Field) -> None:
    beside = {"config": {"model": PASTED}, "gpus": {"batch": "16384"}}.get(field.name, {})
    before, after = (
        document_of(state_of(query))
        for query in (beside if field.name != "config" else {}, {**beside, field.name: another(field)})
    )
    assert (before != after) == bool(field.path)
