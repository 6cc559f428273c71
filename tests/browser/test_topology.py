"""The floor in a real browser: pointing, keys, dragging the order, playing a step, less motion, no scripts."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit

MIDDLE_MARK = """() => {
  const element = document.querySelector("topology-floor");
  const [floor] = element.data.floors;
  const mark = Math.floor(floor.count / 2);
  const [left, top] = floor.units[Math.floor(mark / floor.each)];
  const [dx, dy] = floor.marks[mark % floor.each];
  const at = new DOMPoint(left + dx + floor.width / 2, top + dy + floor.height / 2).matrixTransform(element.svg.getScreenCTM());
  return [at.x, at.y, floor.first + mark * floor.size];
}"""


def floor(page: Page) -> Locator:
    return page.locator("topology-floor")


def over(page: Page) -> int:
    return page.locator(".floor-hover path").count()


def test_pointing_at_a_gpu_lights_its_groups_and_says_who_they_are(visit: Visit) -> None:
    page = visit("/topology")
    box = floor(page).locator("svg").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.5)
    expect(page.locator(".topology-readout")).to_contain_text(re.compile(r"rank \d+, node \d+ · tp \d · dp \d+ · pp 2"))
    assert over(page) >= 5  # three groups, two with wires, and the GPU itself
    page.mouse.move(5, 5)
    expect(page.locator(".topology-readout")).to_be_empty()


def test_keys_walk_over_the_gpus_and_enter_looks_from_one(visit: Visit) -> None:
    page = visit("/topology")
    floor(page).focus()
    for key in ("ArrowRight", "ArrowDown", "PageDown"):
        page.keyboard.press(key)
    expect(page.locator(".topology-readout")).to_contain_text("rank 339,")  # 74 + 1 + a node + a unit
    page.keyboard.press("Enter")
    expect(page.locator("#topology-talks-title + .remark")).to_contain_text("rank 339")
    assert "you=339" in page.url
    floor(page).focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".topology-readout")).to_contain_text("rank 1023,")


def test_the_order_is_dragged_and_the_floor_follows(visit: Visit) -> None:
    page = visit("/topology")
    chip, place = (page.locator(f".axis-chip[data-axis={axis}]").bounding_box() for axis in ("dp", "pp"))
    assert chip and place
    page.mouse.move(chip["x"] + 10, chip["y"] + 10)
    page.mouse.down()
    page.mouse.move(place["x"] + place["width"] - 5, place["y"] + 10, steps=6)
    page.mouse.up()
    expect(page.get_by_role("heading", name="Gradients cross the spine")).to_be_visible()
    assert page.locator("#rank_order").input_value() == "tp-cp-ep-pp-dp"
    assert "rank_order=tp-cp-ep-pp-dp" in page.url


def test_the_order_is_moved_by_keys_and_keeps_the_focus(visit: Visit) -> None:
    page = visit("/topology")
    page.locator(".axis-chip[data-axis=tp]").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name="Tensor parallel leaves the node")).to_be_visible()
    assert page.evaluate("document.activeElement.dataset.axis") == "tp"


def test_an_order_without_meaning_stays_a_text_to_mend(visit: Visit) -> None:
    page = visit("/topology?rank_order=tp-tp-cp-dp-pp")
    expect(page.locator("#rank_order")).to_be_visible()
    expect(page.locator("#says-rank_order")).to_contain_text("tp stands there 2 times")
    page.locator("#rank_order").fill("tp-cp-ep-dp-pp")
    expect(page.locator(".axis-chip")).to_have_count(5)
    expect(floor(page)).to_be_visible()


def test_a_step_plays_pauses_and_is_scrubbed(visit: Visit) -> None:
    page = visit("/topology")
    play = page.locator("[data-play]")
    play.click()
    expect(play).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".stage-0[data-op]").first).to_be_attached()
    play.click()
    expect(play).to_have_attribute("aria-pressed", "false")
    page.get_by_role("button", name="gradients").click()
    expect(floor(page)).to_have_attribute("data-gradients", "")
    page.get_by_role("button", name="optimizer").click()
    expect(page.locator(".stage[data-op]")).to_have_count(0)
    page.locator(".topology-player input[type=range]").fill("300")
    expect(page.locator("[data-clock]")).to_contain_text("1.47 of 4.91 s")


def test_with_less_motion_a_step_goes_from_moment_to_moment(visit: Visit) -> None:
    page = visit("/topology", reduced_motion="reduce")
    play, seen = page.locator("[data-play]"), []
    for _ in range(4):
        play.click()
        expect(play).to_have_attribute("aria-pressed", "false")
        seen.append(page.locator("[data-clock]").inner_text())
    assert len(set(seen)) == 4


def test_turning_a_knob_keeps_the_old_floor_until_it_has_a_meaning(visit: Visit) -> None:
    page = visit("/topology")
    page.locator("#gpus").fill("1020")
    expect(page.locator("#plan-state")).to_contain_text("no meaning yet")
    expect(floor(page)).to_be_visible()
    page.locator("#gpus").fill("2048")
    expect(page.locator("#topology-title")).to_contain_text("2,048 GPUs")
    expect(page.locator("#topology-layouts")).to_contain_text("DP 64")


@pytest.mark.parametrize("gpus", [16384, 131072])
def test_a_large_floor_is_pointed_at_too(visit: Visit, gpus: int) -> None:
    page = visit(f"/topology?model=llama-3-405b&gpus={gpus}&pp=16&cp=2&batch=8192")
    x, y, rank = page.evaluate(MIDDLE_MARK)
    page.mouse.move(x, y)
    expect(page.locator(".topology-readout")).to_contain_text(f"rank {rank},")
    page.mouse.click(x, y)
    expect(page.locator("#you")).to_have_value(str(rank))
    expect(page.locator("#topology-talks-title + .remark")).to_contain_text(f"rank {rank:,}")


def test_the_planner_shows_its_floor_when_asked(visit: Visit) -> None:
    page = visit("/plan")
    page.get_by_text("On the floor of the cluster").click()
    expect(page.locator("#plan-floor svg")).to_be_visible()
    page.locator("#tp").fill("4")
    expect(page.locator("#plan-floor a").last).to_have_attribute("href", re.compile("tp=4"))
    page.get_by_role("link", name="Play a step").click()
    expect(page).to_have_url(re.compile(r"/topology\?.*tp=4"))


def test_without_scripts_the_floor_and_its_words_are_there(visit: Visit) -> None:
    page = visit("/topology", java_script_enabled=False)
    page.locator("#rank_order").fill("tp-cp-ep-pp-dp")
    page.locator("#you").fill("100")
    page.get_by_role("button", name="Show this floor").click()
    assert "you=100" in page.url
    expect(page.get_by_role("heading", name="Gradients cross the spine")).to_be_visible()
    page.locator("#paste").fill(
        "torchrun --nproc-per-node 8 --nnodes 2 pretrain_gpt.py --tensor-model-parallel-size 8 --foo"
    )
    page.get_by_role("button", name="See it on the board").click()
    expect(page.locator("main h1")).to_be_visible()
