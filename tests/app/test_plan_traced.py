"""A plan goes to the trace on fake ranks and back: what is traced otherwise is said, what cannot be traced names what can."""

import re
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from fastapi.testclient import TestClient

from app.demos.plan_traced import AS_TRACED, NO_EFFECT, TAKEN, plan_traced
from app.plan.form import FIELDS, document_of, query_of, state_of
from app.plan.presets import PLANS, RUNS, preset_queries
from app.runner.fake.request import INPUTS, fake_request
from engine.catalog.model import catalogue
from engine.language.refusal import Refusal
from engine.scenario import scenario_from

PRESETS = preset_queries((*PLANS, *RUNS))
EVERY = {**PRESETS, **{name: urlencode({"model": name, "tp": 1, "pp": 1, "gpus": 64}) for name in catalogue()}}


def test_every_field_of_the_planner_is_traced_told_or_without_effect() -> None:
    listed = (*TAKEN, *NO_EFFECT, *AS_TRACED)
    assert sorted(listed) == sorted(FIELDS)


def test_the_card_is_traced_as_it_is(client: TestClient) -> None:
    assert all(state_of({})[name] == text for name, (text, _) in AS_TRACED.items())
    traced = plan_traced("")
    asked = fake_request(traced.values)
    scenario = scenario_from(document_of(state_of({})))
    assert (asked.ranks, asked.layout.pp, asked.layout.micro_batches) == (
        scenario.gpus,
        4,
        scenario.layout.micro_batches,
    )
    assert asked.sequence_tokens == scenario.sequence_tokens
    assert "1,024 ranks" in client.get("/demos/fake?plan=").text


@pytest.mark.parametrize("name", AS_TRACED)
def test_what_a_trace_does_otherwise_is_said(name: str) -> None:
    """Each field alone at a value that the trace has not, in a plan that has a meaning."""
    other = {
        "cp": "cp=2&batch=1024",
        "ep": "model=mixtral-8x7b&tp=1&pp=1&ep=8&gpus=64&batch=64",
        "micro_batch": "micro_batch=2",
        "schedule": "schedule=gpipe",
        "vp": "schedule=interleaved&vp=2",
        "zero": "zero=2",
        "hsdp_shard": "pp=1&zero=3&hsdp_shard=32",
        "recompute": "recompute=full",
        "gradient_bytes": "gradient_bytes=2",
        "sequence_parallel": "sequence_parallel=false",
        "precision": "precision=fp8",
    }
    told = plan_traced(other[name])
    assert told.values, told.refusal
    assert any(sentence.startswith(f"{FIELDS[name].label} = ") for sentence in told.unsaid)
    assert not any(sentence.startswith(f"{FIELDS[name].label} = ") for sentence in plan_traced("").unsaid)


def test_ranks_of_a_context_group_stay_in_the_trace() -> None:
    assert fake_request(plan_traced("cp=2&batch=1024").values).ranks == 1024


def refused(client: TestClient, address: str) -> list[tuple[str, str]]:
    """What is refused beside a field of the trace, with the nearest that can be traced."""
    page = unescape(client.get(address).text)
    found = []
    for each in INPUTS:
        if match := re.search(rf'id="{each.name}-refusal"[^>]*>[^<]*the nearest that works: ([^\s<]+)', page):
            found.append((each.name, match[1]))
    return found


@pytest.mark.parametrize("title", EVERY)
def test_a_plan_is_traced_or_the_nearest_that_is_traced_is_named(client: TestClient, title: str) -> None:
    own: dict[str, str] = {}
    told, page = list[tuple[str, str]](), ""
    plan = query_of(state_of({name: texts[0] for name, texts in parse_qs(EVERY[title]).items()}))
    for _ in INPUTS:
        address = f"/demos/fake?{urlencode({**own, 'plan': plan})}"
        page = client.get(address).text
        assert f'href="/plan?{plan}"' in unescape(page) or f'href="/plan{plan}"' in page
        if not (told := refused(client, address)):
            break
        own |= dict(told)
    assert re.search(r"[\d,]+ ranks; three of them", page), (own, told)


def test_a_plan_without_meaning_says_so_and_leads_back(client: TestClient) -> None:
    page = unescape(client.get(f"/demos/fake?{urlencode({'plan': 'tp=7'})}").text)
    assert "layout.tp = 7" in page and "4 or 8" in page and 'href="/plan?tp=7"' in page
    assert "ranks; three" not in page


def test_a_large_model_names_the_llama_of_its_size() -> None:
    refusal = plan_traced("model=deepseek-v3&tp=1&pp=16&ep=64&gpus=2048&batch=4096").refusal
    assert isinstance(refusal, Refusal) and refusal.nearest == "llama-3-405b"


def test_the_plan_goes_along_to_the_trace_and_back(client: TestClient) -> None:
    plan = "pp=2&zero=0"
    board = unescape(client.get(f"/plan?{plan}").text)
    link = re.search(r'href="(/demos/fake\?[^"]+)"', board)
    assert link and parse_qs(urlsplit(link[1]).query)["plan"] == [plan]
    form = unescape(client.get(link[1]).text)
    assert f'name="plan" value="{plan}"' in form and 'value="2"' in form
    kept = re.search(r'href="(/demos/fake/recorded/[^"]+)"', form)
    assert kept
    for page in (form, unescape(client.get(kept[1]).text)):
        assert page.count(f'href="/plan?{plan}"') == 2  # in the menu, and as the way back
        assert f'href="/topology?{plan}"' in page
    sent = client.post("/demos/fake/runs", data={"tp": "5", "plan": plan})
    assert sent.status_code == 422 and f'href="/plan?{plan}"' in unescape(sent.text)
