"""What the lessons say in words holds in the engine: why four stages, why ZeRO-1 beside a pipeline, what TP over nodes costs."""

import re

from app.lessons.calls import CARD_TITLE, plan_query, planned
from app.lessons.lesson import lesson_named
from engine.estimate import Estimate
from engine.findings import findings_of

FIELD = re.compile(r'(\w+)=(?:"([^"]*)"|([\w.]+))')
ROW = re.compile(r'^\|[^\n]*\| \{\{ plan\("needed\.0", (?P<fields>[^)]*)\) \}\}', re.MULTILINE)


def plan(**fields: object) -> Estimate:
    return planned(plan_query(CARD_TITLE, fields))


def seconds(made: Estimate) -> float:
    return made.step.seconds.value


def rows() -> list[dict[str, object]]:
    """The layouts of lesson three's table, as the fields that its calls set."""
    text = lesson_named("layout-on-the-wires").text
    return [{name: a or b for name, a, b in FIELD.findall(row["fields"])} for row in ROW.finditer(text)]


def test_the_table_of_layouts_is_ranked_by_the_engine_and_every_row_fits() -> None:
    made = [plan(**fields) for fields in rows()]
    assert len(made) == 6
    assert [seconds(each) for each in made] == sorted(seconds(each) for each in made)
    assert all(each.fits for each in made)
    text = lesson_named("layout-on-the-wires").text
    for row in ROW.finditer(text):
        assert text.count(row["fields"] + ")") >= 3  # what it needs, its step, and its step on a narrow spine


def test_two_stages_fit_and_four_keep_the_gradients_under_their_leaves() -> None:
    two, four = plan(pp=2), plan()
    assert two.fits and four.fits
    assert two.step.placement.reach("data").wire == "spine"
    assert four.step.placement.reach("data").wire == "leaf"
    assert seconds(plan(pp=2, spine=3.5)) > 1.2 * seconds(two)
    assert seconds(plan(spine=3.5)) < 1.01 * seconds(four)


def test_zero_2_pays_for_every_micro_batch_where_zero_1_pays_once() -> None:
    sent = {zero: [c for c in plan(pp=1, zero=zero).step.communication if c.axis == "dp"] for zero in (1, 2)}
    times = {zero: max(c.count for c in traffic) for zero, traffic in sent.items()}
    assert times[2] >= plan(pp=1).scenario.layout.micro_batches * times[1]
    assert seconds(plan(pp=1, zero=2)) > 1.2 * seconds(plan(pp=1))


def test_tp_over_two_full_nodes_costs_about_twice_and_not_nine_times() -> None:
    near, far = plan(), plan(tp=16)
    assert far.step.placement.reach("tp").local == far.scenario.cluster.gpus_per_node
    assert 1.8 < far.step.exposed_on("tp") / near.step.exposed_on("tp") < 2.5
    assert 1.05 < seconds(far) / seconds(near) < 1.2


def test_the_red_flag_says_what_it_costs_this_plan_and_how_many_nics_carry_it() -> None:
    full = next(found for found in findings_of(plan(tp=16)) if found.code == "tp-leaves-node")
    alone = next(found for found in findings_of(plan(rank_order="dp-tp-cp-ep-pp")) if found.code == "tp-leaves-node")
    assert "8 GPUs per node" in full.why and "1 GPU per node" in alone.why
    cost = re.search(r"([\d.]+) % of this step", full.why)
    made = plan(tp=16)
    assert cost and abs(float(cost[1]) / 100 - made.step.exposed_on("tp") / seconds(made)) < 1e-3


def test_half_of_the_step_is_not_said_where_the_table_says_less() -> None:
    """Lesson ten's words beside its own row."""
    made = plan(model="deepseek-v3", gpus=2048, tp=1, pp=16, ep=64, sequence=4096, batch=15360, recompute="full")
    share = made.step.exposed_on("ep") / seconds(made)
    assert 1 / 3 < share < 1 / 2
    assert "more than a third of the step" in lesson_named("experts").text
