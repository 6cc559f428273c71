"""What to look at on the floor: two axes exchanged, TP stretched over nodes on purpose, a narrower spine. Each with its cost.

Experiments, not advice: what helps is among the notes, where "try it" leads to it.
"""

from dataclasses import dataclass

from app.plan.form import document_of
from app.topology.case import TopologyCase
from engine.estimate import Estimate, estimate
from engine.language.refusal import Refusal
from engine.language.units import bytes_text, counted, digits_text, seconds_text
from engine.layout.layout import Axis
from engine.network.collectives import summed_bytes_per_s
from engine.network.groups import wire_ratio
from engine.scenario import scenario_from

NARROW_SPINE = "2"


@dataclass(frozen=True)
class Try:
    """An experiment: what would change, and the address that does it."""

    mood: str
    title: str
    words: str
    href: str
    action: str = "see it"


def tries_of(case: TopologyCase) -> tuple[Try, ...]:
    """The experiments that this plan allows."""
    found = (_swap(case), _stretch(case), _narrow(case), _back(case))
    return tuple(each for each in found if each)


def _estimate(case: TopologyCase, **changes: str) -> Estimate | None:
    try:
        return estimate(scenario_from(document_of({**case.state, **changes})))
    except Refusal:
        return None


def _traffic_s(made: Estimate, axis: Axis) -> float:
    return sum(c.seconds.value for c in made.step.communication if c.axis == axis)


def _swap(case: TopologyCase) -> Try | None:
    """DP and PP exchanged: one of them then has the far places."""
    layout = case.estimate.scenario.layout
    if layout.pp == 1 or layout.data_width == 1:
        return None
    order = [{"dp": "pp", "pp": "dp"}.get(axis, axis) for axis in layout.rank_order.split("-")]
    changes = {"rank_order": "-".join(order)}
    made = _estimate(case, **changes)
    if made is None:
        return None
    before, after = (each.step.placement.reach("data").wire for each in (case.estimate, made))
    was, would = _traffic_s(case.estimate, "dp"), _traffic_s(made, "dp")
    if after == "spine" != before:
        words = f"Then gradients leave their leaf and cross the spine: {seconds_text(was)} of traffic a step becomes {seconds_text(would)}."
        if abs(would - was) < 0.01 * was and (narrow := _estimate(case, **changes, spine=NARROW_SPINE)):
            changes["spine"] = NARROW_SPINE
            words = (
                f"Then gradients leave their leaf and cross the spine. At full bandwidth that costs nothing; through {NARROW_SPINE}:1 "
                f"{seconds_text(was)} of traffic a step becomes {seconds_text(_traffic_s(narrow, 'dp'))}."
            )
    elif before == "spine" != after:
        words = f"Then gradients stay under their leaf: {seconds_text(was)} of traffic a step becomes {seconds_text(would)}."
    else:
        words = f"Gradients would take the same kind of wire: {seconds_text(was)} a step, then {seconds_text(would)}."
    return Try("advice", "Swap DP and PP?", words, case.with_(**changes))


def _stretch(case: TopologyCase) -> Try | None:
    """The mistake on purpose: TP changes after DP, so that its peers stand in different nodes."""
    scenario, placed = case.estimate.scenario, case.placed
    if scenario.layout.tp == 1 or placed.reach("tp").leaves_node or scenario.layout.data_width == 1:
        return None
    rest = [axis for axis in scenario.layout.rank_order.split("-") if axis != "tp"]
    rest.insert(rest.index("dp") + 1, "tp")
    changes = {"rank_order": "-".join(rest)}
    made = _estimate(case, **changes)
    if made is None or not made.step.placement.reach("tp").leaves_node:
        return None
    cluster = scenario.cluster
    reach = made.step.placement.reach("tp")
    fast, slow = cluster.gpu.nvlink_bytes_per_s, cluster.nic_bytes_per_s
    each_way, headline = wire_ratio(fast, slow), wire_ratio(summed_bytes_per_s(fast), slow)
    words = (
        f"TP over {counted(reach.nodes, 'node')}, {counted(reach.local, 'GPU')} of a group on each: {bytes_text(fast)}/s each way becomes {bytes_text(slow)}/s, "
        f"{digits_text(each_way, 2)} times less ({digits_text(headline, 2)} times by the headline that adds both directions). "
        f"A step of {case.estimate.step.seconds.text} becomes {made.step.seconds.text}."
    )
    return Try("warning", "Break it on purpose", words, case.with_(**changes))


def _narrow(case: TopologyCase) -> Try | None:
    """A spine that is narrower than what feeds it, where something crosses it."""
    cluster = case.estimate.scenario.cluster
    crossing = [row for row in case.rows if row.reach.wire == "spine"]
    if cluster.oversubscription > 1 or not crossing:
        return None
    made = _estimate(case, spine=NARROW_SPINE)
    if made is None:
        return None
    far = max(crossing, key=lambda row: row.seconds)
    would = _traffic_s(made, far.axis)
    words = f"{far.axis.upper()} crosses it: {seconds_text(far.seconds)} a step becomes {seconds_text(would)}, the step {made.step.seconds.text}."
    return Try("advice", f"A {NARROW_SPINE}:1 spine", words, case.with_(spine=NARROW_SPINE))


def _back(case: TopologyCase) -> Try | None:
    """The way back from an experiment."""
    layout = case.estimate.scenario.layout
    usual = type(layout).model_fields["rank_order"].default
    if layout.rank_order == usual:
        return None
    made = _estimate(case, rank_order=usual)
    if made is None or made.step.seconds.value >= case.estimate.step.seconds.value:
        return None
    words = f"Megatron-LM's order, {usual}, takes {made.step.seconds.text} a step instead of {case.estimate.step.seconds.text}."
    return Try("good", "Back to the usual order", words, case.with_(rank_order=usual), "mend it")
