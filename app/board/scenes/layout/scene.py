"""Three axes on the wires of a real floor: who stands where, which wires that takes, and what it costs."""

from app.board.figures.topology_floor import Lit, draw_floor, draw_node, draw_wires
from app.board.scenes.base import WIDTH, Frame, Scene, SceneFigure, Values
from app.board.scenes.layout import drawing as draw
from app.board.scenes.layout.case import (
    GPUS,
    MOST_STAGES,
    NICS,
    Case,
    misconceptions,
    numbers,
    question,
    ratio_text,
    stage_of,
    unit_names,
    waiting,
)
from app.board.scenes.layout.changes import narrow_spine, stretch, swap
from engine.estimate import Estimate
from engine.language.inputs import Amount, Choice
from engine.language.units import bytes_text, count_text, counted, seconds_text, share_text
from engine.layout.layout import Axis
from engine.network.groups import node_bytes_per_s
from engine.network.placement import Placement

KNOBS = (
    Choice("order", "rank order", "tp-dp-pp", {"tp-dp-pp": "TP, DP, PP", "tp-pp-dp": "TP, PP, DP"}),
    Amount("tp", "tensor parallel", 8, 1, 64, scale="doubling"),
    Amount("pp", "pipeline stages", 4, 1, MOST_STAGES, scale="doubling"),
    Choice("nic", "NIC of a GPU", NICS[0], {rate: f"{rate} Gb/s" for rate in NICS}, side_by_side=True),
    Amount("oversubscription", "narrow spine", 2, 1, 7, unit="times"),
    Amount("you", "you are rank", 74, 0, GPUS - 1),
)


def frames(values: Values) -> tuple[Frame, ...]:
    """The frames, in order."""
    case = Case(values)
    made = (empty, node_fills, next_axis, peers, one_step, swap, narrow_spine, stretch, ledger, lost)
    return tuple(drawn(case, number) for number, drawn in enumerate(made))


def empty(case: Case, number: int) -> Frame:
    cluster, floor = case.cluster, case.floor
    node = node_bytes_per_s.explain(n=cluster.gpus_per_node, B=cluster.nic_bytes_per_s)
    caption = (
        f"An empty floor: {floor.units} units of {cluster.nodes_per_unit} nodes. Each rail of a unit has its own leaf."
    )
    about = (
        f"{count_text(GPUS)} GPUs in {floor.nodes} nodes of {cluster.gpus_per_node}. Above each unit {cluster.gpus_per_node} leaf "
        f"switches, one a rail; above all the spine. NICs of a node carry {node.text}."
    )
    figure = SceneFigure("layout", number, caption, about)
    draw_floor(figure, floor, rest="")
    draw.floor_names(figure, floor, unit_names(floor))
    draw.spine_name(figure, floor, 1)
    nvlink = cluster.gpu.nvlink_bytes_per_s
    draw.facts(
        figure,
        (
            (count_text(GPUS), f"GPUs, {cluster.gpus_per_node} in a node"),
            (f"{bytes_text(nvlink)}/s", "NVLink of a GPU"),
            (f"{bytes_text(cluster.nic_bytes_per_s)}/s", "NIC of a GPU"),
            (node.text, "all NICs of a node"),
        ),
        top=46,
    )
    rail = [
        rank
        for rank in range(GPUS)
        if floor.rail_of(rank) == floor.rail_of(case.you) and floor.unit_of(rank) == floor.unit_of(case.you)
    ]
    draw_wires(figure, floor, rail, "ink", fill="plain")
    figure.text(54, 362, "a rail: the same GPU of every node, on one leaf", "caption")
    return Frame("empty floor", caption, about, figure)


def node_fills(case: Case, number: int) -> Frame:
    placed = case.plain.step.placement
    reach, groups = placed.reach("tp"), case.groups("tp")
    caption = {
        "none": "Ranks pour in. TP is off: every GPU holds whole matrices of its stage.",
        "nvlink": f"Ranks pour in, TP first: {reach.size} neighbours share each matrix and stay on NVLink.",
    }.get(
        reach.wire,
        f"Ranks pour in, TP first: a group of {reach.size} spills over {counted(reach.nodes, 'node')} and needs their NICs.",
    )
    about = f"{groups.text} of {counted(reach.size, 'rank')}, {reach.local} of each in one node. Rank {case.you} and its TP peers are marked."
    figure = SceneFigure("layout", number, caption, about)
    group = placed.group("tp", case.you)
    glowing = ((range(case.floor.nodes), "tp-pale"),) if reach.wire == "nvlink" else ()
    draw_floor(figure, case.floor, (Lit(group, "tp"),), rest="tp" if glowing else "tp-pale", shaded=glowing)
    if reach.leaves_node:
        draw_wires(figure, case.floor, group, "tp")
    for node in sorted({case.floor.node_of(rank) for rank in group}):
        draw_node(figure, case.floor, node, "tp")
    draw.dress(figure, case, case.order, placed, named="unit")
    draw.facts(
        figure,
        (
            (f"TP {reach.size}", "changes fastest"),
            (groups.text, "for as many nodes" if groups.value == case.floor.nodes else f"on {case.floor.nodes} nodes"),
            (
                "NVLink" if reach.wire == "nvlink" else "NICs too" if reach.leaves_node else "no wire",
                "is what TP talks over",
            ),
        ),
        top=124,
    )
    return Frame("ranks pour in", caption, about, figure)


def next_axis(case: Case, number: int) -> Frame:
    placed = case.plain.step.placement
    second, third = case.order[1:]
    stage = stage_of(placed, case.you)
    mine = [rank for rank in range(GPUS) if stage_of(placed, rank) == stage]
    units = len({case.floor.unit_of(rank) for rank in mine})
    where = "one unit" if units == 1 else counted(units, "unit")
    caption = f"Next axis {second.upper()}, then {third.upper()}: the GPUs of your stage stand in {where}."
    strides = " + ".join(["tp", *(_times_axis(placed.stride(axis), axis) for axis in (second, third))])
    about = f"Stage {stage} has {len(mine)} GPUs in {where}. Rank = {strides}."
    figure = SceneFigure("layout", number, caption, about)
    draw_floor(figure, case.floor, (Lit(mine, "pp"),))
    draw.dress(figure, case, case.order, placed)
    dp = placed.reach("dp")
    draw.facts(
        figure,
        (
            (f"stage {stage}", f"yours, of {placed.degree('pp')}"),
            (draw.gpus_text(len(mine)), f"hold it, in {where}"),
            (f"DP {count_text(dp.size)}", draw.WIRES[dp.wire]),
        ),
        top=124,
    )
    figure.text(54, 364, f"rank = {strides}", "caption")
    return Frame("next axis", caption, about, figure)


def peers(case: Case, number: int) -> Frame:
    placed = case.plain.step.placement
    caption = "One GPU and all it talks to: matrix shares, copies of its stage, the stages before and after."
    about = (
        f"Rank {case.you}: "
        + "; ".join(
            f"{axis.upper()} with {counted(placed.reach(axis).size, 'rank')}, {draw.WIRES[placed.reach(axis).wire]}"
            for axis in case.order
        )
        + "."
    )
    figure = SceneFigure("layout", number, caption, about)
    draw.connected(figure, case, placed)
    draw.dress(figure, case, case.order, placed)
    draw.talks(
        figure,
        [
            draw.Talk(
                axis,
                draw.gpus_text(placed.reach(axis).size),
                draw.WIRES[placed.reach(axis).wire],
                f"one group of {count_text(case.groups(axis).value)}",
                placed.degree(axis) > 1,
            )
            for axis in case.order
        ],
        top=112,
    )
    draw.peers_legend(figure)
    return Frame("your peers", caption, about, figure)


def one_step(case: Case, number: int) -> Frame:
    made, placed = case.plain, case.plain.step.placement
    caption = f"One step: {_moves(placed)}."
    about = f"A step takes {made.step.seconds.text}; of each axis only what nothing hides: {_parts(made)}."
    figure = SceneFigure("layout", number, caption, about)
    draw.connected(figure, case, placed, rest="tp-pale")
    draw.dress(figure, case, case.order, placed)
    draw.talks(figure, [draw.what_it_sends(made, axis) for axis in case.order], top=112)
    draw.step_bar(figure, 0, "one step", made, made.step.seconds.value)
    figure.text(54, 390, "right: one send or half of one sum, hidden or not; bar: what shows", "read", ink="soft")
    return Frame("one step", caption, about, figure)


def ledger(case: Case, number: int) -> Frame:
    made = case.made(case.order, case.narrow)
    held, capacity = made.fullest, bytes_text(made.capacity_bytes)
    fit = "fits" if made.fits else "does not fit"
    caption = f"The ledger, spine {ratio_text(case.narrow)}: the fullest GPU {fit}, and a step takes {made.step.seconds.text}."
    about = f"Stage {held.stage}: {', '.join(f'{part.label} {part.text}' for part in held.parts)}, of {capacity}. Step: {_parts(made)}."
    figure = SceneFigure("layout", number, caption, about)
    holds = f"a GPU of stage {held.stage} allocates {held.total.text} of {capacity}"
    figure.text(6, 26, holds, "title", ink="ink" if made.fits else "bad")
    draw.memory_bar(figure, made, 46, 54)
    draw.memory_legend(figure, made, 118)
    figure.text(6, 224, f"one step: {made.step.seconds.text}", "title")
    figure.text(WIDTH - 6, 224, f"MFU {share_text(made.mfu.six_n.value)}", "title", anchor="end", ink="remark")
    draw.time_strip(figure, made, 244, 54)
    return Frame("ledger", caption, about, figure)


def lost(case: Case, number: int) -> Frame:
    placed, node = case.plain.step.placement, case.floor.node_of(case.you)
    dead = case.lost_node()
    hit = {axis: {tuple(placed.group(axis, rank)) for rank in dead} for axis in case.order}
    ranks = {axis: sorted({rank for group in groups for rank in group}) for axis, groups in hit.items()}
    stopped = waiting(case)
    caption = f"Node {node} is gone. {count_text(stopped.value)} GPUs wait at their next collective, and soon all others for them."
    about = (
        f"Groups with a member in node {node}: "
        + ", ".join(f"{len(hit[axis])} {axis.upper()}" for axis in case.order if placed.degree(axis) > 1)
        + (f". {stopped.text} wait at once; in the end all {count_text(GPUS)} do.")
    )
    figure = SceneFigure("layout", number, caption, about)
    draw_floor(figure, case.floor, [Lit(ranks[axis], axis) for axis in ("dp", "pp", "tp") if placed.degree(axis) > 1])
    draw.dress(figure, case, case.order, placed, mark=False)
    box = case.floor.node(node)
    draw_node(figure, case.floor, node, "bad", room=2)
    figure.cross(box.middle, box.y + box.height / 2, 26, key="lost")
    figure.text(draw.PANEL, 80, f"node {node} is gone", "remark", ink="bad")
    draw.talks(
        figure,
        [draw.stalled(axis, len(hit[axis]), len(ranks[axis]), placed.degree(axis)) for axis in case.order],
        top=112,
    )
    figure.text(54, 366, f"{count_text(stopped.value)} GPUs wait at once, soon all {count_text(GPUS)}", "title")
    return Frame("a node is lost", caption, about, figure)


def _parts(made: Estimate) -> str:
    return ", ".join(f"{name} {seconds_text(seconds)}" for name, seconds, *_ in draw.step_parts(made) if seconds > 0)


def _moves(placed: Placement) -> str:
    """What travels in a step."""
    tp = "TP pulses in every node" if placed.reach("tp").wire == "nvlink" else "TP pulses over the NICs"
    told: tuple[tuple[Axis, str], ...] = (
        ("tp", tp),
        ("pp", "stages hand over"),
        ("dp", "gradients ride your rail's wires"),
    )
    return ", ".join(words for axis, words in told if placed.degree(axis) > 1)


def _times_axis(stride: int, axis: str) -> str:
    return axis if stride == 1 else f"{count_text(stride)} {axis}"


LAYOUT = Scene(
    name="layout",
    title="Three axes on the wires of a floor",
    sentence="Give the shortest wires to the group that talks most; the order of the ranks is enough to do it.",
    knobs=KNOBS,
    frames=frames,
    question=question,
    numbers=numbers,
    misconceptions=misconceptions,
    real="3d",
)
