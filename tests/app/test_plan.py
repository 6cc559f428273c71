"""The planner's routes: the page, its parts, every working, and what it says to values that have no meaning."""

import html
import json
import re
from html import unescape
from urllib.parse import quote, urlencode

import pytest
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.routing import Route

from app.main import create_app
from app.plan.charts import KNOBS
from app.plan.form import FIELDS, document_of, state_of
from app.plan.page import router
from app.plan.presets import PLANS, RUNS, preset_queries
from app.plan.terms import shown_terms
from engine.catalog.scenarios import presets
from engine.estimate import estimate
from engine.language.inputs import Choice, YesNo
from engine.scenario import scenario_from

HTMX = {"HX-Request": "true"}
CARD = shown_terms(estimate(scenario_from(document_of(state_of({})))))
SHAPE = '{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 128256, "intermediate_size": 14336}'
GARBAGE = "".join(chr(33 + i * 7919 % 90) for i in range(10_000))


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(create_app(), raise_server_exceptions=False)


def said(page: str) -> dict[str, str]:
    """The refusals of a page, by the field they stand beside."""
    found = re.findall(r'id="says-(\w+)" data-refused>\s*<p class="refusal">(.*?)</p>', page, re.S)
    return {name: html.unescape(words) for name, words in found}


def links(page: str, start: str = "/plan/working/") -> list[str]:
    return sorted({html.unescape(link) for link in re.findall(r'href="([^"]+)"', page) if link.startswith(start)})


def test_the_page_shows_the_card(client: TestClient) -> None:
    page = client.get("/plan")
    assert page.status_code == 200 and not said(page.text)
    for name in ("step.seconds", "step.tokens_per_second", "training.days", "training.usd"):
        assert CARD[name].text in html.unescape(page.text), name


def test_the_part_is_the_board_alone(client: TestClient) -> None:
    part = client.get("/plan/board?tp=4", headers=HTMX)
    assert part.status_code == 200
    assert "<html" not in part.text and "<form" not in part.text and "plan-memory" in part.text
    assert "tp=4" in links(part.text)[0]


def test_a_part_without_meaning_leaves_the_board_as_it_is(client: TestClient) -> None:
    part = client.get("/plan/board?batch=513", headers=HTMX)
    assert part.status_code == 200 and "plan-memory" not in part.text
    assert "multiple of 32" in part.text
    assert part.headers.get("HX-Retarget") != "#plan-board"


@pytest.mark.parametrize("preset", preset_queries((*PLANS, *RUNS)))
def test_every_working_that_a_board_links_to_answers(client: TestClient, preset: str) -> None:
    board = client.get(f"/plan?{preset_queries((*PLANS, *RUNS))[preset]}").text
    found = links(board)
    assert len(found) > 25
    for link in found:
        for headers in ({}, HTMX):
            working = client.get(link, headers=headers)
            assert working.status_code == 200, link
            given = "memory.capacity_bytes" in link or "napkin.parameters" in link or "napkin.mfu" in link
            assert ("<math" in working.text) != given and "working-result" in working.text, link
            assert ("<html" in working.text) is not bool(headers), link


@pytest.mark.parametrize("name", CARD)
def test_every_number_has_a_working(client: TestClient, name: str) -> None:
    term = CARD[name]
    working = client.get(f"/plan/working/{name}")
    assert working.status_code == 200
    assert term.text in html.unescape(working.text)
    assert term.source in html.unescape(working.text)


@pytest.mark.parametrize(
    "path", ["nonsense", "stage.99.weights", "wire.999", "napkin.", "%00", "💥", "step'", "x" * 5000]
)
def test_a_working_that_does_not_exist_is_told_in_the_look_of_the_page(client: TestClient, path: str) -> None:
    answer = client.get(f"/plan/working/{quote(path, safe='%.')}")
    assert 400 <= answer.status_code < 500
    assert "Back to the board" in answer.text and "Traceback" not in answer.text


def test_a_mistyped_working_names_the_nearest(client: TestClient) -> None:
    assert "the nearest that works: training.days" in client.get("/plan/working/training.day").text


def test_the_working_of_a_plan_without_meaning_says_why(client: TestClient) -> None:
    answer = client.get("/plan/working/step.seconds?batch=513")
    assert answer.status_code == 422 and "multiple of 32" in answer.text


def config(text: str) -> str:
    return urlencode({"model": "pasted", "config": text})


# a query, the field the sentence must stand beside, and some of its words
BAD = [
    ("tp=6", "tp", "must divide the 64 attention heads; the nearest that works: 4 or 8"),
    ("gpus=1000", "gpus", "must be a multiple of"),
    ("cp=3", "gpus", "must be a multiple of"),
    ("pp=3", "gpus", "must be a multiple of"),
    ("ep=8", "ep", "no experts"),
    ("vp=2", "vp", "one chunk per stage"),
    ("batch=513", "batch", "multiple of 32: 32 pipelines with micro-batches of 1; the nearest that works: 512 or 544"),
    *(
        (f"{name}=0", name, "")
        for name in ("gpus", "sequence", "batch", "tp", "pp", "cp", "ep", "micro_batch", "vp", "tokens", "nic", "spine")
    ),
    *((f"{name}=-8", name, "") for name, field in FIELDS.items() if field.input.kind == "slider"),
    *((f"{name}=1e30", name, "must be") for name, field in FIELDS.items() if field.input.kind == "slider"),
    *((f"{name}=eight", name, "needs a number") for name, field in FIELDS.items() if field.input.kind == "slider"),
    *((f"{name}=NaN", name, "needs a number") for name, field in FIELDS.items() if field.input.kind == "slider"),
    *(
        (f"{name}=inf", name, "the nearest that works")
        for name, field in FIELDS.items()
        if field.input.kind == "slider"
    ),
    *((f"{name}=%00", name, "") for name, field in FIELDS.items() if field.input.kind == "slider"),
    *(
        (f"{name}=", name, "needs")
        for name, field in FIELDS.items()
        if field.input.kind == "slider" and not field.input.absent
    ),
    *(
        (f"{name}=", name, "")
        for name, field in FIELDS.items()
        if field.input.kind in ("select", "choice") and not field.input.absent
    ),
    *((f"{name}=nonsense", name, "") for name, field in FIELDS.items() if field.input.kind in ("select", "choice")),
    (
        "rank_order=tp-tp-cp-dp-pp",
        "rank_order",
        "tp stands there 2 times; ep is missing); the nearest that works: tp-cp-ep-dp-pp",
    ),
    ("rank_order=", "rank_order", "must name each of"),
    ("hsdp_shard=32", "hsdp_shard", "only FSDP"),
    ("tp=8.5", "tp", "needs a whole number"),
    ("gpus=" + "9" * 5000, "gpus", "needs a number"),
    ("gpus=" + "x" * 9000, "gpus", "needs a number"),
    ("zero=9", "zero", "at most 3"),
    ("zero=%C2%B2", "zero", ""),
    ("precision=fp8&cluster=hgx-a100-80gb", "precision", "no such tensor cores"),
    ("gpus=%D9%A1%D9%A0%D9%A2%D9%A4", "gpus", "needs a number"),
    ("tp=%EF%BC%98", "tp", "needs a number"),
    ("tp=2&tp=4", "tp", "twice"),
    (config(""), "config", "paste"),
    (config(SHAPE[:60]), "config", "is no JSON"),
    (config(GARBAGE), "config", "is no JSON"),
    (config(SHAPE.replace("4096", "NaN")), "config", "no JSON number"),
    (config("[" * 5000), "config", ""),
    (config("{}"), "config", ""),
    (config("[]"), "config", ""),
    (config("\0"), "config", ""),
    (config(SHAPE.replace('"vocab_size": 128256, ', "")), "config", "vocab_size"),
    (config("x" * 30_000), "config", "larger than"),
]


@pytest.mark.parametrize(("query", "field", "words"), BAD, ids=[row[0][:40] for row in BAD])
def test_what_has_no_meaning_is_told_beside_its_field(client: TestClient, query: str, field: str, words: str) -> None:
    for path, headers in (("/plan", {}), ("/plan/board", HTMX)):
        answer = client.get(f"{path}?{query}", headers=headers)
        assert answer.status_code == 200
        assert "Traceback" not in answer.text and "typing." not in answer.text
    page = client.get(f"/plan?{query}").text
    assert field in said(page)
    assert words in said(page)[field]
    assert len(said(page)[field]) < 700


@pytest.mark.parametrize("query", ["tpp=8", "frobnicate=7", "TP=4", "x" * 9000])
def test_a_key_that_the_form_does_not_know_is_not_passed_over_in_silence(client: TestClient, query: str) -> None:
    answer = client.get(f"/plan?{query}")
    assert answer.status_code < 500
    assert query.partition("=")[0][:40] in answer.text
    assert "the planner has no such field" in answer.text


@pytest.mark.parametrize("page", ["/plan", "/topology"])
@pytest.mark.parametrize(
    ("query", "nearest"), [("utm_source=x", ""), ("pipelin=2", "pp (pipeline"), ("tpp=8", "tp (tensor")]
)
def test_a_name_that_nobody_knows_empties_no_board(client: TestClient, page: str, query: str, nearest: str) -> None:
    plain, given = client.get(f"{page}?pp=2").text, client.get(f"{page}?pp=2&{query}").text
    assert plain.count("<svg") == given.count("<svg") and "has no meaning" not in given
    told = given.split('id="plan-ignored"')[1].split("</p>")[0]
    assert query.partition("=")[0] in told and nearest in unescape(told)


def test_the_nearest_value_that_a_refusal_names_is_taken(client: TestClient) -> None:
    for query, better in (("tp=6", "tp=4"), ("gpus=1000", "gpus=1024"), ("batch=513", "batch=544"), ("vp=2", "vp=1")):
        assert said(client.get(f"/plan?{query}").text), query
        assert not said(client.get(f"/plan?{better}").text), better


def test_what_was_typed_is_never_read_as_markup(client: TestClient) -> None:
    markup = '"></textarea></script><script>alert(1)</script>'
    for name in FIELDS:
        answer = client.get(f"/plan?{urlencode({'model': 'pasted', name: markup})}")
        assert answer.status_code == 200 and "<script>alert" not in answer.text, name


GETS = [route.path for route in router.routes if isinstance(route, Route) and "GET" in (route.methods or ())]


@pytest.mark.parametrize("name", GETS)
def test_what_is_read_takes_only_get(client: TestClient, name: str) -> None:
    assert client.post(name.replace("{number}", "step").replace("{chart}", "memory")).status_code == 405


def test_a_chart_is_data_and_a_table_and_an_unknown_one_is_told(client: TestClient) -> None:
    for name in ("memory", "knob"):
        answer = client.get(f"/plan/chart/{name}")
        assert answer.status_code == 200 and "<table" in answer.text and 'type="application/json"' in answer.text
    assert client.get("/plan/chart/pie").status_code in (404, 422)


@pytest.mark.parametrize("knob", [knob.name for knob in KNOBS])
def test_every_knob_can_be_turned(client: TestClient, knob: str) -> None:
    assert f">{html.escape(FIELDS[knob].label)}</th>" in client.get(f"/plan/chart/knob?knob={knob}").text


@pytest.mark.parametrize("query", ["batch=513", "gpus=many", "tp=8&tp=4", "model=gpt-9"])
def test_a_plan_without_meaning_leaves_the_chart_that_is_there(client: TestClient, query: str) -> None:
    for name in ("memory", "knob"):
        answer = client.get(f"/plan/chart/{name}?{query}", headers=HTMX)
        assert answer.status_code == 204 and not answer.content


@pytest.mark.parametrize("typed", ["1,024", "1_024", "1024.0", "1e3", " 1024 "])
def test_a_number_may_be_written_in_several_ways_and_the_field_shows_it(client: TestClient, typed: str) -> None:
    page = client.get(f"/plan?{urlencode({'gpus': typed, 'tp': 1, 'pp': 1, 'batch': 64000})}")
    assert client.get(f"/plan/chart/knob?{urlencode({'knob': 'gpus', 'gpus': typed})}").status_code in (200, 204)
    (shown,) = re.findall(r'name="gpus" type="number"[^>]* value="([^"]*)"', page.text)
    assert re.fullmatch(r"[0-9.]+(e[0-9]+)?", shown), (
        "a browser leaves a number field empty where its text is no plain number"
    )


ODD = st.sampled_from(
    [
        "",
        "0",
        "-1",
        "1e30",
        "1e-30",
        "NaN",
        "inf",
        "8.5",
        "true",
        "x",
        "٣",
        "1,024",
        "1_0",
        " 4 ",
        "\0",
        "null",
        "9" * 400,
    ]
)
COUNT = st.sampled_from([str(2**power) for power in range(15)]) | st.integers(-3, 200_000).map(str)


def typed(name: str) -> st.SearchStrategy[str]:
    field = FIELDS[name]
    if options := getattr(field.input, "choices", ()):
        return st.sampled_from([option for option, _ in options]) | ODD
    if name == "config":
        return st.just(SHAPE) | st.text(max_size=40)
    usual = COUNT if getattr(field.input, "step", 1) == 1 else st.floats(-1, 1e3).map(repr)
    return usual | ODD | st.text(max_size=8)


QUERIES = st.fixed_dictionaries({}, optional={name: typed(name) for name in FIELDS})
POWERS = st.sampled_from([1, 2, 4, 8, 16])


@given(QUERIES)
@settings(max_examples=100)
def test_nothing_that_can_be_typed_breaks_the_planner(client: TestClient, query: dict[str, str]) -> None:
    for path in ("/plan", "/plan/board", "/plan/chart/memory"):
        answer = client.get(f"{path}?{urlencode(query)}")
        assert answer.status_code in (200, 204)
        assert "Traceback" not in answer.text


@given(
    tp=POWERS,
    pp=POWERS,
    cp=POWERS,
    width=POWERS,
    micro_batch=POWERS,
    rounds=st.integers(1, 40),
    options=st.fixed_dictionaries(
        {},
        optional={
            name: st.sampled_from([option for option, _ in field.input.choices if option != "pasted"])
            for name, field in FIELDS.items()
            if isinstance(field.input, Choice | YesNo)
        },
    ),
)
@settings(max_examples=40)
def test_every_number_of_every_board_has_its_working(
    client: TestClient, tp: int, pp: int, cp: int, width: int, micro_batch: int, rounds: int, options: dict[str, str]
) -> None:
    layout = {"tp": tp, "pp": pp, "cp": cp, "gpus": tp * pp * cp * width, "micro_batch": micro_batch}
    query = {**layout, "batch": width * micro_batch * rounds, **options}
    page = client.get(f"/plan?{urlencode(query)}")
    assert page.status_code == 200
    shown = links(page.text)
    for link in [*shown[:: max(1, len(shown) // 12)], *links(page.text, "/plan?")[:3]]:
        assert client.get(link).status_code == 200, link


def test_the_loss_to_kernels_opens_to_their_list(client: TestClient) -> None:
    """Each number in it opens its own working."""
    page = client.get("/plan/working/lost.kernels", headers={"HX-Request": "true"}).text
    assert "MLP up" in page and "what would raise it" in page
    for link in sorted(set(re.findall(r'href="(/plan/working/kernels\.[^"?]+)', page))):
        assert client.get(link).status_code == 200, link


@pytest.mark.parametrize("name", RUNS)
def test_a_published_run_shows_what_was_measured(client: TestClient, name: str) -> None:
    run = presets()[name]
    assert run.published
    query = preset_queries(RUNS)[run.title]
    page = unescape(client.get(f"/plan?{query}").text)
    assert run.published.said in page and run.source in page and all(sentence in page for sentence in run.unsaid)
    assert "Somebody ran this" not in client.get(f"/plan?{query}&price=3").text


def test_all_published_runs_stand_on_one_page(client: TestClient) -> None:
    page = unescape(client.get("/plan/published").text)
    for name in RUNS:
        run = presets()[name]
        assert run.published and run.title in page and run.published.said in page


def test_an_mfu_says_of_which_peak_it_is_a_share(client: TestClient) -> None:
    assert "of 989 TFLOP/s (BF16)" in client.get("/plan").text
    assert "of 1.98 PFLOP/s (FP8)" in client.get("/plan?precision=fp8").text


LLAMA = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
}


def test_a_pasted_file_of_64_kb_is_reduced_before_it_enters_an_address(client: TestClient) -> None:
    chatter = {f"something_{number}": "x" * 60 for number in range(900)}
    form = {"model": "pasted", "config": json.dumps({**LLAMA, **chatter, "sliding_window": 4096})}
    assert len(form["config"]) > 64_000
    answer = client.post("/plan/pasted", data=form, headers=HTMX)
    said = json.loads(re.findall(r'id="plan-says"[^>]*>(.*?)</script>', answer.text, re.DOTALL)[0])["fields"]["config"]
    assert answer.status_code == 200 and "Read as llama, 6 keys." in said["remark"]
    assert "sliding_window: layers with a window of 4,096 tokens" in said["remark"]
    assert "Not read: something_0, something_1," in said["remark"] and "and 894 more." in said["remark"]
    assert json.loads(said["text"]) == {"sliding_window": 4096, **LLAMA} and len(answer.text.split("something_")) < 10


def test_the_links_of_a_pasted_model_are_short(client: TestClient) -> None:
    whole = config(json.dumps({**LLAMA, "architectures": ["LlamaForCausalLM"], "colour": "x" * 3000}))
    page = client.get(f"/plan?{whole}&tp=8").text
    assert "Not read: colour." in page and page.count("xxxxxxxx") == 0
    assert client.get(f"/plan?{config(json.dumps(LLAMA))}").status_code == 200


def test_a_key_that_is_refused_is_named_beside_the_field(client: TestClient) -> None:
    page = client.get(f"/plan?{config(json.dumps({**LLAMA, 'num_hidden_layers': 20_000}))}").text
    assert "model.hf_config.num_hidden_layers = 20000: must be at most 10,000" in page
