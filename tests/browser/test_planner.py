"""The planner in the hand: dragging, typing, keys, links, and what is left without scripts."""

import json
import re
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.planner import Planner

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}
BAD_CONFIG = '{"model_type": "llama", "hidden_size": 4096,'
CONFIG = json.dumps({
    "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 8192, "tie_word_embeddings": False,
})  # fmt: skip


@pytest.fixture
def planner(visit) -> Planner:
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


CONTROLS = "a[href], button, summary, select, textarea, input, [tabindex='0']"
UNREACHED = """selector => [...document.querySelectorAll("main " + selector.replaceAll(", ", ", main "))].filter((e) =>
  e.checkVisibility({ checkVisibilityCSS: true }) && !e.closest("[popover]") && !e.dataset.reached
  && e.tabIndex >= 0 && !(e.type === "radio" && !e.checked)).map((e) => e.outerHTML.slice(0, 120))"""


def test_every_control_is_reached_by_the_tab_key(planner: Planner) -> None:
    page = planner.page
    waiting = len(page.evaluate(UNREACHED, CONTROLS))
    assert waiting > 40
    for _ in range(waiting + 10):
        page.keyboard.press("Tab")
        page.evaluate("document.activeElement.dataset.reached = 'yes'")
    assert page.evaluate(UNREACHED, CONTROLS) == []


def test_arrow_keys_move_every_slider(planner: Planner) -> None:
    names = planner.page.eval_on_selector_all(
        "slider-field", "all => all.map((e) => e.closest('[data-field]').dataset.field)"
    )
    assert len(names) > 10
    for name in names:
        before = float(planner.number(name).input_value())
        at, high = planner.range(name).evaluate("range => [range.value, range.max].map(Number)")
        planner.range(name).press("ArrowLeft" if at == high else "ArrowRight")
        after = float(planner.number(name).input_value())
        assert after < before if at == high else after > before, name


def test_keys_alone_choose_and_pick(planner: Planner) -> None:
    page = planner.page
    page.locator("#zero input[value='3']").focus()
    page.keyboard.press("Space")
    planner.shows("zero", "3")
    page.keyboard.press("ArrowLeft")
    planner.shows("zero", "2")
    page.locator("#model").focus()
    page.keyboard.type("Llama 3 8B")
    planner.shows("model", "llama-3-8b")


def test_enter_on_a_number_opens_its_working_and_escape_gives_the_focus_back(planner: Planner) -> None:
    page, slip = planner.page, planner.page.locator("#plan-working")
    for path in ("step", "wire.0"):
        link = page.locator(
            f"#plan-board a.value[href^='/plan/working/{path}?'], #plan-board a.value[href='/plan/working/{path}']"
        ).first
        link.focus()
        page.keyboard.press("Enter")
        expect(slip.locator("h2")).to_be_focused()
        expect(slip.locator("math").first).to_be_visible()
        page.keyboard.press("Escape")
        expect(slip).to_be_hidden()
        expect(link).to_be_focused()
    assert urlsplit(page.url).path == "/plan"


def test_the_parts_of_a_drawing_open_their_working_too(planner: Planner) -> None:
    page, slip = planner.page, planner.page.locator("#plan-working")
    for figure in (".plan-memory", ".plan-time"):
        part = page.locator(f"{figure} a.part").first
        part.focus()
        page.keyboard.press("Enter")
        expect(slip.locator("h2")).to_be_focused()
        page.locator("#plan-working [data-close]").click()
        expect(slip).to_be_hidden()
        expect(part).to_be_focused()


def test_a_control_that_is_pressed_beside_an_open_working_keeps_the_focus(planner: Planner) -> None:
    page, slip = planner.page, planner.page.locator("#plan-working")
    page.locator("#plan-board a.value").first.click()
    expect(slip.locator("h2")).to_be_focused()
    planner.number("gpus").click()
    expect(slip).to_be_hidden()
    page.keyboard.press("Control+a")
    page.keyboard.type("2048")
    expect(planner.number("gpus")).to_have_value("2048")
    planner.shows("gpus", "2048")


@pytest.mark.parametrize(
    ("name", "typed", "words"),
    [("tp", "6", "64 attention heads"), ("gpus", "1000", "multiple of tp 8 x cp 1 x pp 4"), ("batch", "513", "multiple of 32"),
     ("sequence", "0", "at least 1"), ("micro_batch", "-1", "at least 1"), ("tokens", "", "needs a number"),
     ("vp", "2", "one chunk")],
)  # fmt: skip
def test_a_typed_value_without_meaning_is_told_beside_its_field_and_the_board_recovers(
    planner: Planner, name: str, typed: str, words: str
) -> None:
    page, field = planner.page, planner.number(name)
    good, board = field.input_value(), planner.board()
    field.fill(typed)
    expect(planner.says(name)).to_contain_text(words)
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_attribute("aria-describedby", re.compile(rf"\bsays-{name}\b"))
    assert planner.board() == board
    expect(page.locator("#plan-board > *").first).to_have_css("opacity", "0.4")
    expect(page.locator("#plan-state")).to_contain_text("no meaning")
    field.fill(good)
    expect(planner.says(name).locator(".refusal")).to_have_count(0)
    expect(field).not_to_have_attribute("aria-invalid", "true")
    expect(page.locator("#plan-board > *").first).to_have_css("opacity", "1")
    expect(page.locator("#plan-state")).to_have_text("")
    assert planner.board() == board


def test_a_plan_without_meaning_survives_a_reload_as_it_was_typed(planner: Planner) -> None:
    planner.number("batch").fill("513")
    planner.number("batch").blur()
    expect(planner.says("batch")).to_contain_text("multiple of 32")
    planner.page.reload()
    expect(planner.number("batch")).to_have_value("513")
    expect(planner.says("batch")).to_contain_text("multiple of 32")


def test_the_presets_lead_to_plans_that_fit(planner: Planner) -> None:
    page = planner.page
    for name in page.locator(".plan-presets a").all_inner_texts():
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("link", name=name, exact=True)).to_have_attribute("aria-current", "true")
        expect(page.locator(".plan-memory .title-line .remark")).not_to_contain_text("too much")
        assert page.locator(".refusal").count() == 0


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
    paper.fill(CONFIG)
    planner.shows("model", "pasted")
    expect(planner.says("model")).to_contain_text("32 layers")
    paper.blur()
    page.reload()
    expect(paper).to_have_value(CONFIG)
    expect(planner.says("model")).to_contain_text("32 layers")


def test_the_advice_of_a_finding_is_one_click_away(visit) -> None:
    planner = Planner(visit("/plan?tp=16&pp=4&gpus=1024"))
    page = planner.page
    more = page.locator(".plan-more summary")
    if more.count():
        more.click()
    advice = page.locator(".note-action").first
    address = advice.get_attribute("href")
    titles = page.locator(".note h3").all_inner_texts()
    taken = advice.locator("xpath=ancestor::aside").locator("h3").inner_text()
    advice.click()
    page.wait_for_url(f"**{address}")
    assert page.locator(".refusal").count() == 0
    assert taken in titles and taken not in page.locator(".note h3").all_text_contents()


def test_without_scripts_the_form_sends_itself_and_numbers_are_links(visit) -> None:
    page: Page = visit("/plan", java_script_enabled=False)
    page.locator("#tp").fill("4")
    page.get_by_role("button", name="Show this plan").click()
    assert parse_qs(urlsplit(page.url).query)["tp"] == ["4"]
    assert page.locator("#tp").input_value() == "4"
    number = page.locator("#plan-board a.value").first
    shown = number.inner_text()
    number.click()
    assert urlsplit(page.url).path.startswith("/plan/working/")
    assert shown in page.locator("main").inner_text()
    page.get_by_role("link", name="Back to the plan").click()
    assert urlsplit(page.url).path == "/plan" and page.locator("#tp").input_value() == "4"
    page.get_by_role("link", name="8B on 8 GPUs").click()
    assert page.locator("#gpus").input_value() == "8"


def test_without_scripts_a_refusal_stands_beside_its_field(visit) -> None:
    page: Page = visit("/plan?batch=513", java_script_enabled=False)
    assert "multiple of 32" in page.locator("#says-batch").inner_text()
    assert "no meaning" in page.locator("#plan-state").inner_text()


def test_on_a_phone_the_memory_stays_in_sight_while_a_slider_of_the_sheet_is_dragged(visit) -> None:
    planner = Planner(visit("/plan", **PHONE))
    page, memory = planner.page, planner.page.locator(".plan-memory svg:visible").first
    expect(memory).to_be_in_viewport(ratio=0.5)
    planner.grasp("tp")
    planner.pull("tp", 0.5, steps=8)
    expect(planner.number("tp")).to_have_value("8")
    expect(memory).to_be_in_viewport(ratio=0.5)
    planner.pull("tp", 1 / 3, steps=8)
    planner.shows("tp", "4")
    expect(page.locator(".plan-memory svg:visible").first).to_be_in_viewport(ratio=0.5)
    page.mouse.up()


def test_a_very_long_config_is_told_and_breaks_nothing(visit) -> None:
    page = visit(f"/plan?model=pasted&config={quote('{' + 'x' * 10_000)}")
    expect(page.locator("#says-config")).to_contain_text("is no JSON")
    page.locator("#config").fill("y" * 30_000)
    expect(page.locator("#says-config")).to_contain_text("larger than")
