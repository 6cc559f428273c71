"""The planner in the hand: dragging, typing, pasting, and the links that lead to other plans."""

import json
import re
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import Visit
from tests.browser.planner import Planner

BAD_CONFIG = '{"model_type": "llama", "hidden_size": 4096,'
CONFIG = json.dumps(
    {
        "model_type": "llama",
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "intermediate_size": 14336,
        "vocab_size": 128256,
        "tie_word_embeddings": False,
    }
)


@pytest.fixture
def planner(visit: Visit) -> Planner:
    return Planner(visit("/plan"))


def test_a_dragged_slider_ends_at_the_plan_under_the_hand(planner: Planner) -> None:
    before = planner.board()
    planner.grasp("tokens")
    planner.pull("tokens", 0.9)
    planner.pull("tokens", 0.1)
    planner.page.mouse.up()
    shown = planner.number("tokens").input_value()
    assert shown != "15"
    planner.shows("tokens", re.escape(shown))
    assert f"{float(shown):g} T tokens" in planner.board() != before


def test_the_number_follows_the_hand_before_any_answer_and_the_last_value_wins(planner: Planner) -> None:
    """The first answer is held back until the drag is over: the number must not wait for it, and of all the values the
    hand passed meanwhile only the last is asked for."""
    held: list[Route] = []
    asked: list[str] = []

    def hold(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) == 1:
            held.append(route)
        else:
            route.continue_()

    planner.page.route("**/plan/board*", hold)
    before = planner.board()
    planner.grasp("micro_batch")
    for share, shown in ((0.25, "2"), (0.5, "4"), (0.75, "8"), (1, "16"), (0.5, "4")):
        planner.pull("micro_batch", share, steps=4)
        expect(planner.number("micro_batch")).to_have_value(shown)
        assert planner.range("micro_batch").get_attribute("aria-valuetext") == shown
    planner.page.mouse.up()
    assert planner.board() == before and len(asked) == 1
    held[0].continue_()
    planner.shows("micro_batch", "4")
    values = [parse_qs(urlsplit(url).query)["micro_batch"] for url in asked]
    assert values == [["2"], ["4"]]


def test_the_address_holds_the_plan_after_the_hand_lets_go_and_gives_it_back(planner: Planner) -> None:
    page = planner.page
    planner.grasp("sequence")
    planner.pull("sequence", 0)
    page.mouse.up()
    page.locator("#zero label").filter(has_text=re.compile("^2$")).click()
    planner.shows("zero", "2")
    shown, board = planner.number("sequence").input_value(), planner.board()
    assert shown == "512"
    given = parse_qs(urlsplit(page.url).query)
    assert given["sequence"] == ["512"] and given["zero"] == ["2"]
    page.reload()
    expect(planner.number("sequence")).to_have_value("512")
    assert planner.board() == board


WITHOUT_MEANING = [
    ("tp", "6", "64 attention heads"),
    ("gpus", "1000", "multiple of tp 8 x cp 1 x pp 4"),
    ("batch", "513", "multiple of 32"),
    ("sequence", "0", "at least 1"),
    ("micro_batch", "-1", "at least 1"),
    ("tokens", "", "needs a number"),
    ("vp", "2", "one chunk"),
]


def test_a_typed_value_without_meaning_is_told_beside_its_field_and_the_board_recovers(planner: Planner) -> None:
    page, board = planner.page, planner.board()
    for name, typed, words in WITHOUT_MEANING:
        field, good = planner.number(name), planner.number(name).input_value()
        field.fill(typed)
        expect(planner.says(name)).to_contain_text(words)
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(field).to_have_attribute("aria-describedby", re.compile(rf"\bsays-{name}\b"))
        assert planner.board() == board
        expect(page.locator("#plan-board > section").first).to_have_css("opacity", "0.4")
        expect(page.locator("#plan-state")).to_contain_text("no meaning")
        field.fill(good)
        expect(planner.says(name).locator(".refusal")).to_have_count(0)
        expect(field).not_to_have_attribute("aria-invalid", "true")
        expect(page.locator("#plan-board > section").first).to_have_css("opacity", "1")
        expect(page.locator("#plan-state")).to_have_text("")
        assert planner.board() == board


def test_a_plan_without_meaning_survives_a_reload_as_it_was_typed(planner: Planner) -> None:
    planner.number("batch").fill("513")
    planner.number("batch").blur()
    expect(planner.says("batch")).to_contain_text("multiple of 32")
    planner.page.reload()
    expect(planner.number("batch")).to_have_value("513")
    expect(planner.says("batch")).to_contain_text("multiple of 32")


def test_the_presets_lead_to_plans_that_have_a_meaning(planner: Planner) -> None:
    page = planner.page
    page.get_by_text("a published run").click()
    names = [name for name in page.locator(".plan-presets a").all_inner_texts() if "measured" not in name]
    assert len(names) > 9
    for name in names:
        if not page.get_by_role("link", name=name, exact=True).is_visible():
            page.get_by_text("a published run").click()
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("link", name=name, exact=True)).to_have_attribute("aria-current", "true")
        assert page.locator(".plan-controls .refusal").count() == 0


def test_a_plan_that_has_left_its_preset_is_no_longer_marked_as_it(planner: Planner) -> None:
    planner.number("batch").fill("1024")
    planner.number("batch").blur()
    planner.shows("batch", "1024")
    expect(planner.page.locator(".plan-presets [aria-current]")).to_have_count(0)


def test_another_cluster_brings_its_own_network(planner: Planner) -> None:
    assert planner.number("nic").input_value() == "400"
    planner.page.locator("#cluster").select_option("hgx-a100-80gb")
    planner.shows("cluster", "hgx-a100-80gb")
    expect(planner.number("nic")).to_have_value("200")


def test_a_pasted_config_is_planned_and_a_broken_one_is_told(planner: Planner) -> None:
    page, paper = planner.page, planner.page.locator("#config")
    expect(paper).to_be_hidden()
    page.locator("#model").select_option("pasted")
    expect(planner.says("config")).to_contain_text("paste a model's config.json here")
    paper.fill(BAD_CONFIG)
    expect(planner.says("config")).to_contain_text("is no JSON")
    paper.fill(json.dumps({**json.loads(CONFIG), **{f"something_{number}": "x" * 60 for number in range(900)}}))
    planner.shows("model", "pasted")
    expect(planner.says("model")).to_contain_text("32 layers")
    expect(planner.says("config")).to_contain_text("Not read: something_0")
    expect(paper).to_have_value(CONFIG)
    assert len(page.url) < 1500
    paper.blur()
    page.reload()
    expect(paper).to_have_value(CONFIG)
    expect(planner.says("model")).to_contain_text("32 layers")


def test_the_advice_of_a_finding_is_one_click_away(visit: Visit) -> None:
    planner = Planner(visit("/plan?tp=16&pp=4&gpus=1024"))
    page = planner.page
    expect(page.locator(".note-pending")).to_have_count(0)  # all of them tried
    more = page.locator(".plan-more summary")
    if more.count():
        more.click()
    advice = page.locator(".note-action").first
    expect(advice.locator("xpath=ancestor::aside")).to_contain_text(re.compile(r"try it: .+ (faster|slower|less|more)"))
    address = advice.get_attribute("href")
    titles = page.locator(".note h3").all_inner_texts()
    taken = advice.locator("xpath=ancestor::aside").locator("h3").inner_text()
    advice.click()
    page.wait_for_url(f"**{address}")
    expect(page.locator(".note-pending")).to_have_count(0)
    assert page.locator(".refusal").count() == 0
    assert taken in titles and taken not in page.locator(".note h3").all_text_contents()


def test_notes_that_were_tried_for_another_plan_never_show(planner: Planner) -> None:
    """The answer about the first plan is held back until the second one is on the board: it comes too late to be shown."""
    page, held = planner.page, []
    page.route(re.compile(r"/plan/advice\?.*zero=0"), lambda route: held.append(route))
    with page.expect_request(re.compile(r"/plan/advice\?.*zero=0")):
        page.locator("#zero label").filter(has_text=re.compile("^0$")).click()
    page.locator("#zero label").filter(has_text=re.compile("^1$")).click()
    expect(page.locator("#plan-notes .note-pending")).to_have_count(0)
    shown = page.locator("#plan-notes").inner_text()
    for route in held:
        route.continue_()
    page.wait_for_load_state("networkidle")
    assert page.locator("#plan-notes").inner_text() == shown
    assert "zero=0" not in (page.locator("#plan-notes").inner_html())


def test_a_very_long_config_is_told_and_breaks_nothing(visit: Visit) -> None:
    page = visit(f"/plan?model=pasted&config={quote('{' + 'x' * 10_000)}")
    expect(page.locator("#says-config")).to_contain_text("is no JSON")
    page.locator("#config").fill("y" * 30_000)
    expect(page.locator("#says-config")).to_contain_text("larger than")


def turned(planner: Planner, name: str, value: str) -> None:
    planner.number(name).fill(value)
    planner.number(name).blur()
    planner.shows(name, value)


def test_back_undoes_a_knob_and_forward_turns_it_again(planner: Planner) -> None:
    page = planner.page
    turned(planner, "pp", "2")
    page.locator("#zero label", has_text="0").click()
    planner.shows("zero", "0")
    page.go_back()
    expect(page.locator("#zero input:checked")).to_have_value("1")
    expect(planner.number("pp")).to_have_value("2")
    page.go_back()
    expect(planner.number("pp")).to_have_value("4")
    expect(page.locator("#plan-strip b").first).to_have_text("4.91 s")
    page.go_forward()
    expect(planner.number("pp")).to_have_value("2")
    planner.shows("pp", "2")


def test_a_button_and_ctrl_z_undo_outside_of_text(planner: Planner) -> None:
    page, undo = planner.page, planner.page.locator("[data-undo]")
    expect(undo).to_be_hidden()
    turned(planner, "pp", "2")
    turned(planner, "gpus", "2048")
    undo.click()
    expect(planner.number("gpus")).to_have_value("1024")
    page.locator("#plan-answer-title").click()
    page.keyboard.press("Control+z")
    expect(planner.number("pp")).to_have_value("4")
    expect(undo).to_be_hidden()


def test_a_field_that_is_cleared_keeps_the_drawing_and_says_what_it_needs(planner: Planner) -> None:
    page = planner.page
    before = page.locator(".plan-memory svg").first.inner_html()
    planner.number("gpus").fill("")
    expect(planner.says("gpus")).to_contain_text("is empty, and needs a number")
    assert page.locator(".plan-memory svg").first.inner_html() == before
    expect(page.locator("#plan-state")).to_contain_text("GPUs: is empty")
    planner.number("gpus").blur()
    page.reload()
    expect(planner.says("gpus")).to_contain_text("is empty, and needs a number")
