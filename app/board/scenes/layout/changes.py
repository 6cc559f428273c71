"""Frames of the layout scene that change one thing: two axes swapped, a spine made narrow, TP stretched over nodes."""

from app.board.figures.topology_floor import Lit, draw_floor, draw_node, draw_wires
from app.board.scenes.base import Frame, SceneFigure
from app.board.scenes.layout import drawing as draw
from app.board.scenes.layout.case import Case, longest, ratio_text, traffic_s
from engine.language.units import counted, digits_text, seconds_text, share_text
from engine.network.groups import wire_ratio


def swap(case: Case, number: int) -> Frame:
    made = case.made(case.swapped)
    placed = made.step.placement
    reach = placed.reach("dp")
    same = reach.wire == case.plain.step.placement.reach("dp").wire
    where = (
        "gradients take the same kind of wires"
        if same
        else {"spine": "now gradients cross the spine", "leaf": "now gradients stay under their leaf"}.get(
            reach.wire, "now gradients stay in the node"
        )
    )
    slower = traffic_s(made, "dp") > 1.01 * traffic_s(case.plain, "dp")
    caption = (
        f"Swap the last two axes: {where}. {'That costs time.' if slower else 'At full bandwidth it costs no more.'}"
    )
    about = f"DP: {draw.WIRES[reach.wire]}, {seconds_text(traffic_s(made, 'dp'))}; before {seconds_text(traffic_s(case.plain, 'dp'))}, hidden or not."
    figure = SceneFigure("layout", number, caption, about)
    draw.connected(figure, case, placed, tp=False)
    draw.dress(figure, case, case.swapped, placed)
    draw.talks(figure, [draw.what_it_sends(made, axis, loud=axis != "tp") for axis in case.swapped], top=112)
    draw.compare(figure, case, "dp", case.plain, made, case.swapped)
    return Frame("swap two axes", caption, about, figure)


def narrow_spine(case: Case, number: int) -> Frame:
    """Whichever of the two orders sends gradients over the spine."""
    order = case.order if case.plain.step.placement.reach("dp").wire == "spine" else case.swapped
    wide, made = case.made(order), case.made(order, case.narrow)
    before, after = traffic_s(wide, "dp"), traffic_s(made, "dp")
    times = f"{digits_text(after / before, 2)} times" if before else "nothing"
    caption = f"A spine of {ratio_text(case.narrow)} instead of {ratio_text(1)}: gradients that cross it take {times} as long."
    if not before:
        caption = "A narrow spine is nothing to gradients here: no one else holds your weights."
    about = f"DP traffic, hidden or not, {seconds_text(before)} on a full spine, {seconds_text(after)} at {ratio_text(case.narrow)}; the step {made.step.seconds.text}."
    figure = SceneFigure("layout", number, caption, about)
    draw.connected(figure, case, made.step.placement, tp=False, pp=False, uplink=1 / case.narrow)
    draw.dress(figure, case, order, made.step.placement, ratio=case.narrow)
    draw.talks(figure, [draw.what_it_sends(made, axis, loud=axis == "dp") for axis in order], top=112)
    end = max(before, after)
    draw.time_bar(figure, 0, f"spine {ratio_text(1)}", before, end, "dp-pale", "DP")
    draw.time_bar(figure, 1, f"spine {ratio_text(case.narrow)}", after, end, "dp-pale", "DP")
    return Frame("narrow spine", caption, about, figure)


def stretch(case: Case, number: int) -> Frame:
    made = case.made(case.stretched)
    placed, cluster = made.step.placement, case.cluster
    reach = placed.reach("tp")
    ratio = wire_ratio.explain("NVLink over NIC", V=cluster.gpu.nvlink_bytes_per_s, B=cluster.nic_bytes_per_s)
    caption = f"A mistake on purpose: TP last, {counted(reach.local, 'GPU')} of a group per node. Each wire is {digits_text(ratio.value, 2)} times thinner."
    if reach.size == 1:
        caption = "The mistake here would be TP last; with TP of one there is nothing to stretch."
    one, was = longest(made, "tp"), longest(case.plain, "tp")
    about = f"TP over {counted(reach.nodes, 'node')}: a step of {made.step.seconds.text} instead of {case.plain.step.seconds.text}."
    figure = SceneFigure("layout", number, caption, about)
    group = placed.group("tp", case.you)
    draw_floor(figure, case.floor, (Lit(group, "tp"),))
    if reach.leaves_node:
        draw_wires(figure, case.floor, group, "bad", fill="b")
        for node in sorted({case.floor.node_of(rank) for rank in group}):
            draw_node(figure, case.floor, node, "bad")
    draw.dress(figure, case, case.stretched, placed)
    rows = [(f"{digits_text(ratio.value, 2)} times", "thinner than NVLink")]
    if one and was:
        rows += [
            (seconds_text(one.each_s), f"half sum, was {seconds_text(was.each_s)}"),
            (share_text(made.step.exposed_on("tp") / made.step.seconds.value), "of the step is TP"),
        ]
    draw.facts(figure, rows, top=124)
    end = max(made.step.seconds.value, case.plain.step.seconds.value)
    draw.step_bar(figure, 0, "TP first", case.plain, end)
    draw.step_bar(figure, 1, "TP last", made, end)
    return Frame("TP stretched", caption, about, figure)
