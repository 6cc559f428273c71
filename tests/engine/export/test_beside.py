"""What a framework's options cannot say stands in comments of the file, and comes back with them."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.catalog.scenarios import preset_document
from engine.export import TARGETS, export
from engine.export.beside import KEY, MARK
from engine.importing import read
from engine.language.refusal import Refusal
from engine.scenario import scenario_from

CARD = preset_document()
UNUSUAL = [
    {},
    {"schedule": "zb-h1"},
    {"schedule": "gpipe"},
    {"zero": 2, "pp": 1},
    {"zero": 3, "pp": 1, "hsdp_shard": 32, "gradient_bytes": 2},
    {"rank_order": "dp-tp-cp-ep-pp"},
    {"gradient_bytes": 2},
    {"sequence_parallel": False},
    {"recompute": "selective"},
    {"schedule": "dualpipev"},
    {"schedule": "zb-v"},
    {"zero": 0},
    {"schedule": "interleaved", "vp": 5, "rank_order": "pp-tp-cp-ep-dp"},
]


@pytest.mark.parametrize("target", ["megatron", "torchtitan"])
@pytest.mark.parametrize("layout", UNUSUAL, ids=str)
def test_a_layout_comes_back_whole_whatever_the_target_can_say(layout: dict[str, object], target: str) -> None:
    scenario = scenario_from({**CARD, "layout": layout})
    made = export(scenario, target)
    back = scenario_from(read(made.files[0].text).document)
    assert back.layout == scenario.layout
    assert back.training.tokens == scenario.training.tokens


def test_what_stands_in_a_comment_is_told() -> None:
    made = export(scenario_from(CARD), "torchtitan")
    assert f"{MARK}layout.zero = 1\n" in made.files[0].text
    taken = {each.said: each for each in read(made.files[0].text).taken}
    assert taken["layout.zero = 1"].place == "layout.zero, said beside the options"
    assert taken["layout.zero = 1"].line == 1 + made.files[0].text.splitlines().index(f"{MARK}layout.zero = 1")


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_says_beside_its_options_what_they_cannot(target: str) -> None:
    text = export(scenario_from(CARD), target).files[0].text
    assert (MARK in text) or json.loads(text)[KEY]["cluster"] == CARD["cluster"]


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="abz.=_-019 \n#$", max_size=60))
def test_a_strange_comment_is_a_sentence_or_nothing(words: str) -> None:
    text = export(scenario_from(CARD), "megatron").files[0].text
    try:
        scenario_from(read(text.replace("torchrun", f"{MARK}layout.{words}\ntorchrun", 1)).document)
    except Refusal as refusal:
        assert refusal.sentence
