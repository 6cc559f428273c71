"""What is written can be read again: whatever differs then was named in a sentence."""

import re
from typing import Any

import pytest
from hypothesis import given, settings

from engine.export import TARGETS, Export, export
from engine.export.beside import cluster_document
from engine.export.run_length import step_tokens
from engine.importing import read
from engine.language.refusal import Refusal
from engine.scenario import Scenario, scenario_from
from tests.engine.export.cases import SCENARIOS, usual

READABLE = list(TARGETS)
USUAL = usual()


def main_file(made: Export) -> str:
    """The file that holds the layout."""
    return made.files[0].text


def facts(scenario: Scenario) -> dict[str, Any]:
    """Everything that a launch text decides, under the name a sentence would give it."""
    return {
        "model": scenario.model.model_copy(update={"round_parameters": None}),
        "cluster": cluster_document(scenario.cluster),
        "gpus": scenario.gpus,
        "sequence_tokens": scenario.sequence_tokens,
        "precision": scenario.precision,
        "stack": scenario.stack_name,
        **{f"layout.{name}": value for name, value in scenario.layout},
    }


def differing(before: Scenario, after: Scenario) -> set[str]:
    first, second = facts(before), facts(after)
    return {name for name in first if first[name] != second[name]}


def unsaid(names: set[str], made: Export) -> set[str]:
    """Those of the names that no sentence begins with; a model may be named by one of its fields."""
    return {
        name for name in names if not any(re.match(rf"{re.escape(name)}(\.\w+)? = ", said) for said in made.left_out)
    }


@pytest.mark.parametrize("target", READABLE)
@pytest.mark.parametrize("name", USUAL)
def test_a_usual_scenario_comes_back(name: str, target: str) -> None:
    before = USUAL[name]
    made = export(before, target)
    after = scenario_from(read(main_file(made)).document)
    assert unsaid(differing(before, after), made) == set()
    assert after.layout.global_batch == before.layout.global_batch
    assert 0 <= after.training.tokens - before.training.tokens <= step_tokens(before)


def test_the_card_comes_back_whole_from_megatron() -> None:
    before = USUAL["70B on 1,024"]
    assert differing(before, scenario_from(read(main_file(export(before, "megatron"))).document)) == set()


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=200)
@given(before=SCENARIOS)
def test_every_scenario_comes_back_whole(target: str, before: Scenario) -> None:
    made = export(before, target)
    found = read(main_file(made))
    assert found.source == target
    assert differing(before, scenario_from(found.document)) == set()


@settings(max_examples=200)
@given(before=SCENARIOS)
def test_every_export_is_whole_text(before: Scenario) -> None:
    for target in TARGETS:
        made = export(before, target)
        assert made.target == target and len({file.name for file in made.files}) == len(made.files) >= 2
        assert all(file.text.endswith("\n") and "None" not in file.text for file in made.files)
        assert all(sentence.endswith(".") and "\n" not in sentence for sentence in made.left_out)
        assert len(set(made.left_out)) == len(made.left_out)


def test_an_unknown_target_is_refused_with_the_nearest() -> None:
    with pytest.raises(Refusal, match="the nearest that works: megatron"):
        export(USUAL["70B on 1,024"], "megatrn")
