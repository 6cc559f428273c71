"""The topology page: the floor, its ledger, what to try, what has no meaning, and texts that come and go."""

import html
import json
import re
from urllib.parse import parse_qsl

import pytest
from starlette.testclient import TestClient

from app.plan.form import FIELDS, document_of, query_of, state_of
from app.plan.imported import state_of_document
from app.plan.presets import FLOORS, preset_queries
from app.topology.board import TopologyBoard
from app.topology.case import VIEW, TopologyCase, case_of
from app.topology.layouts import LAYOUTS, layout_table
from app.topology.page import SHOWN
from app.topology.play import played
from engine.export import TARGETS
from engine.importing import SOURCES
from engine.language.refusal import Refusal
from engine.language.units import bytes_text
from engine.layout.layout import AXES
from engine.scenario import scenario_from
from tests.engine.importing.test_sources import TEXTS
from tests.engine.plans import plans

SWAPPED = "rank_order=tp-cp-ep-pp-dp"
HTMX = {"HX-Request": "true"}


def said(page: str, how: str = "refusal") -> dict[str, str]:
    found = re.search(r'<script type="application/json" id="plan-says">(.*?)</script>', page, re.DOTALL)
    assert found
    return {name: words[how] for name, words in json.loads(found[1])["fields"].items()}


def data(page: str) -> dict:
    found = re.search(r'<topology-floor.*?<script type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def case(query: str = "", **view: str) -> TopologyCase:
    given = dict(part.split("=") for part in query.split("&") if part)
    return case_of(state_of(given), {**VIEW, **view})


@pytest.mark.parametrize("name", preset_queries(FLOORS))
def test_every_floor_to_start_from_is_drawn(client: TestClient, name: str) -> None:
    answer = client.get("/topology?" + preset_queries(FLOORS)[name])
    assert answer.status_code == 200
    assert said(answer.text) == {}
    assert 'id="topology-title"' in answer.text and "data-refused" not in answer.text.split("topology-title")[1]


def test_the_ledger_says_which_way_gradients_go_with_their_bytes(client: TestClient) -> None:
    inner, outer = client.get("/topology").text, client.get(f"/topology?{SWAPPED}").text
    for page, wire in ((inner, "leaf"), (outer, "spine")):
        row = re.search(r'<tr>\s*<th scope="row"><span class="chip ink-dp">.*?</tr>', page, re.DOTALL)
        assert row and f"<td>{wire}, " in row[0]
    risen = bytes_text(next(row for row in case(SWAPPED).rows if row.axis == "dp").uplink_bytes)
    assert risen in outer and "Gradients cross the spine" in outer
    assert "Gradients cross the spine" not in inner


def test_the_mistake_on_purpose_says_both_ratios_plainly(client: TestClient) -> None:
    page = client.get("/topology").text
    assert "9 times less (18 times by the headline that adds both directions)" in page
    broken = client.get(html.unescape(re.findall(r'Break it on purpose.*?href="([^"]+)"', page, re.DOTALL)[0])).text
    assert "Tensor parallel leaves the node" in broken and "Let TP change first" in broken


def test_a_lost_node_stalls_groups_that_are_counted(client: TestClient) -> None:
    found = case(lost="9")
    assert found.stalled == {"tp": 1, "dp": 8, "pp": 8}
    assert found.waiting.value == 8 + 31 * 8 + 3 * 8 - 8
    assert "272 GPUs" in client.get("/topology?lost=9").text


def test_the_browser_is_told_the_same_groups_as_the_engine() -> None:
    from app.topology.board import TopologyBoard

    for query in ("gpus=256&batch=128", "gpus=256&cp=2&batch=128", "gpus=256&pp=1&zero=3&hsdp_shard=8&batch=128"):
        found = case(query, you="100")
        for axis in json.loads(TopologyBoard(found, False).data)["axes"]:
            ranks = [100 - sum(100 // stride % degree * stride for stride, degree in axis["steps"])]
            for stride, degree in axis["steps"]:
                ranks = [one + at * stride for one in ranks for at in range(degree)]
            ranks.sort()
            if axis["block"]:
                start = ranks.index(100) // axis["block"] * axis["block"]
                ranks = ranks[start : start + axis["block"]]
            row = next(row for row in found.rows if row.axis == axis["axis"])
            assert ranks == found.placed.peers(row.reach.members, 100), (query, axis)
            assert len(ranks) == row.reach.size


def test_a_played_step_is_as_long_as_the_engine_says() -> None:
    for query in ("", "schedule=interleaved&vp=2", "pp=1&zero=3&micro_batch=2", "schedule=zb-h1"):
        found = case(query).estimate
        step = played(found)
        if found.step.shown_micro_batches == found.step.layout.micro_batches:
            assert step["seconds"] == pytest.approx(found.step.seconds.value, rel=0.02), query
        for spans in step["stages"]:
            times = [time for at in range(0, len(spans), 3) for time in spans[at : at + 2]]
            assert times == sorted(times) and times[0] >= 0 and times[-1] <= 1


PART_FULL = [
    ("cluster=gb200-nvl72", "15 NVLink domains of 72, the last holds 16"),
    ("gpus=1020&tp=1&pp=1&batch=1020", "128 NVLink domains of 8, the last holds 4"),
    ("gpus=4&tp=1&pp=1&batch=4", "1 NVLink domain of 8, the last holds 4"),
    ("", "128 NVLink domains of 8"),
]


@pytest.mark.parametrize(("query", "words"), PART_FULL)
def test_a_node_that_is_not_full_is_shown_and_said_on_both_pages(client: TestClient, query: str, words: str) -> None:
    for path in ("/plan", "/topology"):
        page = client.get(f"{path}?{query}").text
        assert words in page and not re.search('class="refusal"', page), path


@pytest.mark.parametrize("plan", plans(60, 17), ids=range(60))
def test_what_the_planner_takes_the_floor_takes(plan: dict) -> None:
    """Nodes that are not full among them: GPUs need only be what the degrees multiply to."""
    state, _ = state_of_document(plan)
    for gpus in (plan["gpus"], plan["gpus"] // 2, 3 * plan["gpus"] // 2):
        turned = {**state, "gpus": f"{gpus}"}
        try:
            scenario_from(document_of(turned))
            legal = True
        except Refusal:
            legal = False
        try:
            floor = case_of(turned, VIEW)
            assert legal and TopologyBoard(floor, False).data and floor.rows is not None
        except Refusal:
            assert not legal


LARGE = (
    "gpus=262144&batch=16384",
    "gpus=196608&batch=12288&pp=16",
    "gpus=1048576&batch=32768&cp=2&model=llama-3-405b&pp=16",
    "gpus=262144&batch=65536&pp=1&zero=3&hsdp_shard=32",
)


@pytest.mark.parametrize("query", LARGE)
def test_a_plan_without_room_on_the_floor_is_told_alike_before_and_there(client: TestClient, query: str) -> None:
    plan, floor = client.get(f"/plan?{query}").text, client.get(f"/topology?{query}").text
    rule = "floor shows at most 131,072 GPUs; the nearest that works: "
    before, there = said(plan, "remark")["gpus"], said(floor)["gpus"]
    assert "plan-answer" in plan and rule in before and before.endswith(there)
    assert f'href="/plan?{query_of(state_of(dict(parse_qsl(query))))}"' in html.unescape(floor), "the plan is kept"
    near = there.rpartition(" ")[2]
    again = client.get(f"/topology?{re.sub('gpus=[0-9]+', f'gpus={near}', query)}").text
    assert int(near) <= 131072 and not said(again).get("gpus") and "<svg" in again.split('id="plan-board"')[1]
    assert "floor shows" not in client.get(f"/plan?{re.sub('gpus=[0-9]+', f'gpus={near}', query)}").text


BAD = [
    ("gpus=1020", "gpus", "multiple of"),
    ("rank_order=tp-tp-cp-dp-pp", "rank_order", "tp stands there 2 times"),
    ("rank_order=" + "tp-" * 5000, "rank_order", "must name each of"),
    ("you=1024", "you", "ranks 0 to 1023; the nearest that works: 1023"),
    ("you=-1", "you", "ranks 0 to 1023; the nearest that works: 0"),
    ("you=%D9%A3", "you", "whole number"),
    ("lost=128", "lost", "nodes 0 to 127"),
    ("colour=red", "colour", "must be one of tp, cp, ep, dp, pp"),
    ("you=1&you=2", "you", "twice"),
    ("tp=6", "tp", "must divide"),
    ("spine=0", "spine", "must be a number from 1 to 64"),
]


@pytest.mark.parametrize(("query", "field", "words"), BAD, ids=[row[0][:40] for row in BAD])
def test_what_has_no_meaning_is_told_beside_its_field(client: TestClient, query: str, field: str, words: str) -> None:
    page = client.get(f"/topology?{query}")
    assert page.status_code == 200 and "Traceback" not in page.text
    assert words in said(page.text)[field]
    assert client.get(f"/topology/board?{query}", headers=HTMX).headers["HX-Retarget"] == "#plan-says"
    for path in ("layouts", "export", "tries"):
        assert client.get(f"/topology/{path}?{query}").status_code == 204
    assert words in html.unescape(client.get(f"/topology/panel?{query}").text)
    assert client.get(f"/topology/working/wires.dp.groups?{query}").status_code == 422


def test_a_stranger_in_the_address_is_told(client: TestClient) -> None:
    assert "the nearest is colour (colour by)" in client.get("/topology?colr=tp").text


def test_the_form_carries_the_whole_plan(client: TestClient) -> None:
    page = client.get("/topology?recompute=full&tokens=3").text
    shown = {name for _, names in SHOWN for name in names}
    assert {"recompute", "tokens"}.isdisjoint(shown)
    assert 'type="hidden" name="recompute" value="full"' in page and 'name="tokens" value="3"' in page
    assert set(VIEW).isdisjoint(FIELDS)


def test_every_number_of_the_ledger_opens_its_working(client: TestClient) -> None:
    page = client.get(f"/topology?{SWAPPED}&lost=3").text
    links = {html.unescape(link) for link in re.findall(r'href="(/topology/working/[^"]+)"', page)}
    assert len(links) >= 8
    for link in links:
        assert client.get(link).status_code == 200, link
        assert client.get(link, headers=HTMX).status_code == 200
    assert client.get("/topology/working/wires.dp.frobs").status_code == 404


def test_two_schools_stand_beside_their_neighbours() -> None:
    rows = layout_table(state_of({})).rows
    assert [row.name for row in rows if row.main] == ["TP 8 × PP 4 × DP 32, ZeRO-1, v 2", "TP 8 × DP 128, HSDP over 32"]
    assert len(rows) == len(LAYOUTS) and all(row.found or row.refusal for row in rows)
    assert {row.found.scenario.layout.global_batch for row in rows if row.found} == {512}  # nobody gets another batch


@pytest.mark.parametrize(
    ("query", "stack"), [({}, "megatron"), ({"zero": "3", "pp": "1"}, "fsdp2"), ({"stack": "fsdp2-compiled"}, "fsdp2-compiled"), ({"tp": "7"}, "megatron")]
)  # fmt: skip
def test_all_layouts_run_on_one_software_which_is_said(client: TestClient, query: dict[str, str], stack: str) -> None:
    table = layout_table(state_of(query))
    assert {row.found.scenario.stack_name for row in table.rows if row.found} == {table.stack} == {stack}
    assert table.software in client.get("/topology", params=query).text


def test_a_neighbour_in_the_table_differs_in_what_it_says_alone() -> None:
    """One field of the form, or the schedule with its chunks: so a gain in time has one cause."""
    first, second = (fields for _, fields, main in LAYOUTS if main)
    for words, fields, main in LAYOUTS:
        if not main:
            like = first if words.startswith("the first") else second
            moved = {name for name, text in fields.items() if text != like[name]}
            assert len(moved) == 1 or moved in ({"schedule", "vp"}, {"schedule", "vp", "pp"}), words


@pytest.mark.parametrize("target", TARGETS)
def test_files_are_offered_whole_and_to_keep(client: TestClient, target: str) -> None:
    page = client.get("/topology").text
    links = {html.unescape(link) for link in re.findall(rf'href="(/topology/export/{target}/[^"]+)"', page)}
    assert links
    for link in links:
        kept = client.get(link)
        assert kept.status_code == 200 and "attachment" in kept.headers["content-disposition"]
        assert html.escape(kept.text, quote=False)[:60] in page.replace("&#34;", '"').replace("&#39;", "'")


def test_an_unknown_file_or_framework_is_told(client: TestClient) -> None:
    assert "there is no such target" in client.get("/topology/export/nemo/x").text
    assert client.get("/topology/export/megatron/..%2Fetc").status_code in (404, 422)
    assert "Megatron-LM has" in client.get("/topology/export/megatron/passwd").text


@pytest.mark.parametrize("name", preset_queries(FLOORS))
@pytest.mark.parametrize("target", TARGETS)
def test_what_is_taken_away_can_be_brought_back(client: TestClient, target: str, name: str) -> None:
    query = preset_queries(FLOORS)[name]
    file = FILES[target]
    text = client.get(f"/topology/export/{target}/{file}?{query}").text
    answer = client.post("/topology/import", data={"text": text})
    assert answer.status_code == 200 and "See it on its floor" in answer.text
    href = html.unescape(re.findall(r'href="(/topology[^"]*)"', answer.text.split("<article")[1])[0])
    back = state_of(dict(part.split("=") for part in href.partition("?")[2].split("&") if part))
    meant = state_of(dict(part.split("=") for part in query.split("&") if part))
    for field in ("model", "gpus", "sequence", "batch", "tp", "cp", "ep", "pp", "vp", "schedule", "micro_batch", "zero", "hsdp_shard",
                  "recompute", "sequence_parallel", "gradient_bytes", "rank_order", "precision"):  # fmt: skip
        assert back[field] == meant[field], field


FILES = {"megatron": "train.sh", "torchtitan": "train.toml", "deepspeed": "ds_config.json", "fsdp2": "accelerate.yaml"}


def test_a_page_says_what_was_read_with_its_line_and_what_was_not(client: TestClient) -> None:
    text = "TP=8\ntorchrun --nproc-per-node 8 pretrain_gpt.py \\\n  --tensor-model-parallel-size $TP --bf16 \\\n  --optimizer-cpu-offload --lr 1 --new-thing 2"
    answer = html.unescape(client.post("/topology/import", data={"text": text}).text)
    row = r'<tr><th scope="row">3</th><td><code>--tensor-model-parallel-size 8</code></td><td>layout.tp</td></tr>'
    assert row in answer
    assert "line 4: --optimizer-cpu-offload: it has no place on this board" in answer
    assert "line 4: --new-thing 2: nobody knows it here" in answer
    assert "1 settings that change nothing" not in answer and "line 4: --lr 1." in answer


@pytest.mark.parametrize("source", TEXTS)
def test_a_text_of_every_source_opens_the_board_and_the_planner(client: TestClient, source: str) -> None:
    answer = client.post("/topology/import", data={"text": TEXTS[source][0]})
    assert answer.status_code == 200 and SOURCES[source].title in answer.text
    for href in re.findall(r'class="button[^"]*" href="([^"]*)"', answer.text.split("<article")[1]):
        assert client.get(html.unescape(href)).status_code == 200


TRICKS = [
    ("", "is empty"),
    ("pretrain_gpt.py --tensor-model-parallel-size x; rm -rf /", "whole number"),
    ("--tensor-model-parallel-size $(whoami)", "is not run"),
    ("--tensor-model-parallel-size `id`", "is not run"),
    ("--tensor-model-parallel-size $TP", "is not set in the text"),
    ("--tensor-model-parallel-size eight", "tensor-model-parallel-size"),
    ("--tensor-model-parallel-size 'x", ""),
    ("{}", "nobody knows it"),
    ("x" * 20_001, "at most 20,000"),
    ("<script>alert(1)</script> --tensor-model-parallel-size 8", ""),
]


@pytest.mark.parametrize(("text", "words"), TRICKS, ids=[text[:30] for text, _ in TRICKS])
def test_a_pasted_text_with_tricks_is_a_sentence(client: TestClient, text: str, words: str) -> None:
    answer = client.post("/topology/import", data={"text": text})
    assert answer.status_code == 200 and "<script>alert" not in answer.text
    refused = re.search(r'<li class="refusal">(.*?)</li>', answer.text, re.DOTALL)
    assert refused and words in html.unescape(refused[1])


def test_a_megabyte_of_text_is_a_sentence(client: TestClient) -> None:
    answer = client.post("/topology/import", data={"text": "a" * 1_200_000})
    assert answer.status_code == 413 and "larger than 1 MB" in answer.text


def test_every_axis_shades_the_floor(client: TestClient) -> None:
    for axis in AXES:
        assert client.get(f"/topology?colour={axis}").status_code == 200
    assert "by-pp level-1" in client.get("/topology?colour=pp").text


def test_data_for_the_browser_cannot_close_its_element(client: TestClient) -> None:
    assert "<" not in json.dumps(data(client.get("/topology").text))
