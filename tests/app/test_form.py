"""The planner's form: fields, their limits, and how they become a scenario and an address."""

import json
import re
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.plan.form import FIELDS, GROUPS, Field, document_of, field_of, given_twice, query_of, state_of
from app.plan.imported import state_of_document
from app.plan.pasted import model_document
from app.plan.presets import FLOORS, PLANS, RUNS
from app.web.beside import dealt
from engine.catalog.model import called_parameters
from engine.catalog.scenarios import preset_document, presets
from engine.estimate import estimate
from engine.language.domain import number_text
from engine.language.inputs import Amount
from engine.language.refusal import Refusal
from engine.layout.layout import Layout
from engine.scenario import Scenario, scenario_from

SLIDERS = [each.input for each in FIELDS.values() if isinstance(each.input, Amount) and each.input.slider]
CARD = preset_document()
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12).map(str.strip)


def scenario_of(**typed: str) -> Scenario:
    return scenario_from(document_of(state_of(typed)))


def refusal_of(**typed: str) -> Refusal:
    with pytest.raises(Refusal) as refused:
        scenario_of(**typed)
    return refused.value


def answer_of(name: str, text: str) -> object:
    """The value a field gives its scenario."""
    at: object = scenario_of(**{name: text})
    for step in FIELDS[name].path:
        at = getattr(at, step)
    return at


def choices(field: Field) -> tuple[tuple[str, str], ...]:
    return getattr(field.input, "choices", ())


def read(query: str) -> dict[str, str]:
    return dict(parse_qsl(query, keep_blank_values=True))


def typed(field: Field) -> st.SearchStrategy[str]:
    options = [option for option, _ in choices(field)]
    return (st.sampled_from(options) | TEXT) if options else (st.integers(0, 10**6).map(str) | TEXT)


@given(st.fixed_dictionaries({name: typed(field) for name, field in FIELDS.items()}))
def test_the_address_of_any_state_gives_it_back(given_state: dict[str, str]) -> None:
    state = state_of(given_state)
    assert state_of(read(query_of(state))) == state


def test_the_address_of_the_usual_state_is_empty() -> None:
    assert query_of(state_of({})) == ""


@pytest.mark.parametrize("name", FIELDS)
def test_an_address_names_only_what_is_unusual(name: str) -> None:
    options = [option for option, _ in choices(FIELDS[name])]
    other = next(text for text in [*reversed(options), "7"] if text != state_of({})[name])
    assert set(read(query_of(state_of({name: other})))) == {name}


def test_the_usual_state_is_the_card() -> None:
    assert scenario_from(document_of(state_of({}))) == scenario_from(CARD)


def test_every_field_of_a_layout_that_people_turn_is_in_the_form() -> None:
    given_by_others = {"dp"}
    in_form = {field.path[1] for field in FIELDS.values() if field.path[:1] == ("layout",)}
    assert in_form == set(Layout.model_fields) - given_by_others


def test_no_two_fields_share_a_name_or_set_the_same_thing() -> None:
    fields = [field for _, group in GROUPS for field in group]
    paths = [field.path for field in fields if field.path]
    assert len({field.name for field in fields}) == len(fields)
    assert len(set(paths)) == len(paths)


@pytest.mark.parametrize("name", presets())
def test_a_preset_is_legal_and_comes_back_through_the_forms_address(name: str) -> None:
    preset = presets()[name]
    state, unsaid = state_of_document(preset.document)
    assert unsaid == [] and len(preset.source) > 8
    assert scenario_from(document_of(state_of(read(query_of(state))))) == scenario_from(preset.document)


@pytest.mark.parametrize("name", dict.fromkeys((*PLANS, *FLOORS, *RUNS)))
def test_a_preset_that_is_offered_is_called_what_it_is(name: str) -> None:
    """Its title tells the size people say, and the GPUs. Only a run that fitted elsewhere may not fit, and says so."""
    preset, found = presets()[name], estimate(scenario_from(presets()[name].document))
    assert found.fits or any("fit" in sentence for sentence in preset.unsaid)
    total, _ = called_parameters(found.scenario.model) or (0, 0)
    for size in re.findall(r"(?<![x\d])(\d+)B\b", preset.title):
        assert f"{total / 1e9:g}" == size or (total == 0 and f"{found.parameters.value / 1e9:.0f}" == size)
    for number in re.findall(r"\d{1,3}(?:,\d{3})+", preset.title):
        assert int(number.replace(",", "")) == found.scenario.gpus


@pytest.mark.parametrize("slider", SLIDERS, ids=lambda slider: slider.name)
@pytest.mark.parametrize("end", [0, 1], ids=["low", "high"])
def test_no_slider_can_be_drawn_out_of_what_the_engine_takes(slider: Amount, end: int) -> None:
    """At either end only another field may be refused, or this one because it does not fit the others."""
    try:
        scenario_of(**{slider.name: number_text(slider.span[end])})
    except Refusal as refusal:
        for each in refusal.all:
            assert not each.rule.startswith(("must be at", "must be above", "it must be", "needs")), each.sentence


@pytest.mark.parametrize("slider", SLIDERS, ids=lambda slider: slider.name)
def test_a_slider_holds_its_usual_value_and_reaches_it_or_says_what_none_means(slider: Amount) -> None:
    low, high = slider.span
    if not (stands := state_of({})[slider.name]):
        assert slider.absent
        return
    usual = float(stands)
    assert low <= usual <= high
    if slider.scale == "linear":
        steps = (usual - low) / slider.step
        assert steps == pytest.approx(round(steps))
    elif slider.name != "nic":
        assert usual.hex().startswith("0x1.0000000000000p"), "doubling from 1 passes only through powers of two"


@pytest.mark.parametrize("name", [field.name for field in FIELDS.values() if choices(field)])
def test_every_option_is_one_the_engine_knows(name: str) -> None:
    for option, label in choices(FIELDS[name]):
        assert label
        if option == "pasted":
            continue
        try:
            scenario_of(**{name: option})
        except Refusal as refusal:
            for each in refusal.all:
                assert field_of(each) != name or "one of" not in each.rule, each.sentence


def test_the_unit_of_a_field_is_worth_what_it_says() -> None:
    assert answer_of("tokens", "1.5") == 1.5e12
    assert answer_of("price", "3.1") == 3.1
    assert answer_of("sequence", "4096") == 4096


def test_the_global_batch_is_shared_out_among_the_pipelines() -> None:
    layout = scenario_of(batch="1024", micro_batch="2").layout
    assert (layout.data_width, layout.micro_batch, layout.micro_batches) == (32, 2, 16)
    assert layout.global_batch == 1024


def test_another_cluster_has_its_own_network_unless_one_is_typed() -> None:
    assert scenario_of(cluster="hgx-a100-80gb").cluster.nic_gbit_per_s == 200
    assert scenario_of(cluster="hgx-a100-80gb", nic="100").cluster.nic_gbit_per_s == 100


WRONG = {
    "model": "gpt-9", "cluster": "tpu", "gpus": "0", "sequence": "0", "batch": "513", "tp": "0", "pp": "0", "cp": "0", "ep": "0",
    "micro_batch": "0", "schedule": "zigzag", "vp": "0", "zero": "9", "recompute": "some", "gradient_bytes": "3",
    "sequence_parallel": "perhaps", "tokens": "-1", "price": "-1", "precision": "fp7", "stack": "own", "nic": "0", "spine": "0",
    "units": "bits", "hsdp_shard": "0", "rank_order": "tp-tp-cp-dp-pp",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(FIELDS) - {"config"}))
def test_a_wrong_value_is_refused_beside_its_own_field(name: str) -> None:
    assert name in {field_of(each) for each in refusal_of(**{name: WRONG.get(name, "nonsense")}).all}


def test_everything_wrong_in_the_form_is_told_at_once() -> None:
    told = {field_of(each) for each in refusal_of(gpus="many", tokens="x", nic="y", cp="z").all}
    assert told >= {"gpus", "tokens", "nic", "cp"}


@given(st.fixed_dictionaries({}, optional={name: typed(field) for name, field in FIELDS.items()}))
def test_every_refusal_stands_beside_a_field_that_exists(given_state: dict[str, str]) -> None:
    try:
        scenario_from(document_of(state_of(given_state)))
    except Refusal as refusal:
        for each in refusal.all:
            assert field_of(each) in FIELDS, each.sentence


def test_a_field_that_is_given_twice_is_told() -> None:
    assert given_twice([(name, "") for name in FIELDS]) == []
    (twice,) = given_twice([("tpp", "8"), ("pp", "2"), ("pp", "4")])
    assert twice.sentence == "pp: is given twice"


@pytest.mark.parametrize("field", [field for field in FIELDS.values() if field.path], ids=lambda field: field.name)
def test_a_cleared_field_says_what_it_needs(field: Field) -> None:
    """Beside the field, without its path and quotation marks; where empty has a meaning it has that."""
    try:
        scenario_from(document_of(state_of({field.name: ""})))
    except Refusal as refusal:
        assert field_of(refusal) == field.name
        assert '""' not in refusal.advice and refusal.advice.strip()
        if isinstance(field.input, Amount):
            assert refusal.advice.startswith("is empty, and needs a number") and refusal.nearest == field.usual
    else:
        assert not isinstance(field.input, Amount) or field.input.absent or field.name == "nic"


REFUSED_BY_MEANING = [
    {"tp": "6", "gpus": "1152"},
    {"gpus": "1000"},
    {"ep": "8"},
    {"vp": "2"},
    {"schedule": "interleaved"},
    {"schedule": "dualpipe", "pp": "3", "gpus": "768"},
    {"sequence": "100", "cp": "8"},
    {"precision": "fp8", "cluster": "hgx-a100-80gb"},
    {"zero": "3"},
    {"tp": "64", "gpus": "4096"},
    {"pp": "64", "gpus": "8192"},
    {"model": "mixtral-8x7b", "ep": "3"},
    {"cp": "3", "gpus": "96"},
    {"schedule": "zb-v", "vp": "1"},
    {"micro_batch": "3"},
]


@pytest.mark.parametrize("given_state", REFUSED_BY_MEANING, ids=str)
def test_what_does_not_fit_together_is_told_beside_a_field_that_exists(given_state: dict[str, str]) -> None:
    try:
        scenario_from(document_of(state_of(given_state)))
    except Refusal as refusal:
        assert {field_of(each) for each in refusal.all} <= set(FIELDS)


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("layout.dp", "gpus"),
        ("layout.micro_batches", "batch"),
        ("layout.tp", "tp"),
        ("gpus", "gpus"),
        ("model", "model"),
        ("model.hf_config", "config"),
        ("model.hf_config.hidden_size", "config"),
        ("cluster.base", "cluster"),
        ("cluster.nic_gbit_per_s", "nic"),
        ("training.tokens", "tokens"),
        ("sequence_tokens", "sequence"),
        ("layout.rank_order", "rank_order"),
    ],
)
def test_the_engines_names_lead_to_fields(field: str, name: str) -> None:
    assert field_of(Refusal(field, 1, "has no meaning")) == name


def test_a_pasted_text_is_a_config_or_a_shape_and_what_is_wrong_with_a_key_names_it() -> None:
    shape = {"layers": 4, "hidden": 512, "heads": 8, "vocab": 1000, "ffn": 1408, "gated": True}
    assert model_document(json.dumps(shape)) == shape
    llama = {"model_type": "llama", "num_hidden_layers": 20_000}
    assert model_document(json.dumps(llama)) == {"hf_config": llama}
    said = dealt(
        Refusal("model.hf_config.hidden_size", 20_000, "must be at most 10,000"), ["config"], field_of, ["config"]
    )
    assert said.beside == {"config": "model.hf_config.hidden_size = 20000: must be at most 10,000"}
