"""Frames of the expert parallel scene that look closer: a full expert, a limit on nodes, and the way backward."""

from app.board.legend import words_width
from app.board.scenes.base import WIDTH, Frame, SceneFigure
from app.board.scenes.ep.case import CLUSTER, EXCHANGES, GPUS, Case
from app.board.scenes.ep.drawing import figures_below, ribbon
from app.board.scenes.pieces import Bar, Lane, block, lanes
from engine.language.units import bytes_text, counted, seconds_text, share_text


def overflowing(case: Case, number: int) -> Frame:
    dropped, longer = share_text(case.overflow.value), share_text(case.busiest_gpu.value - 1)
    caption = "A full expert has two ways out: drop what overflows, or let everyone wait."
    if not case.overflow.value:
        caption = "This capacity takes every token: none is dropped, and the busiest expert is waited for."
    if case.balanced:
        caption = "A balanced router fills no expert. Turn the skew to see what gives."
    about = (
        f"Expert {case.busiest} gets {case.skew:g} times the mean, capacity is {case.values['capacity']:g} times the mean. "
        f"Dropping loses {dropped} of all visits; waiting makes the experts' time {longer} longer."
    )
    figure = SceneFigure("ep", number, "Overflow", about)
    figure.text(64, 24, "tokens of each expert", "caption")
    _columns(figure, case)
    for y, name, text, words, ink in (
        (96, "drop:", dropped, "of all visits are lost", "bad" if case.overflow.value else "ink"),
        (236, "or wait:", f"+ {longer}", f"experts take {seconds_text(case.experts_s.value)}", "ink"),
    ):
        figure.text(512, y, name, "remark")
        figure.text(512, y + 40, text, "answer", ink=ink)
        figure.text(512, y + 66, words, "read", ink="soft")
    return Frame("overflow", caption, about, figure)


def _columns(figure: SceneFigure, case: Case) -> None:
    """Tokens of each expert against its capacity."""
    left, right, base, capacity = 64.0, 416.0, 352.0, case.values["capacity"]
    pitch, scale = (right - left) / case.experts, 300 / max(case.skew, capacity, 1.5)
    full = base - capacity * scale
    letter = "E" if words_width(f"E{case.experts - 1}") < pitch - 2 else ""
    for expert in range(case.experts):
        x, load = left + expert * pitch + 3, case.load(expert)
        taken = min(load, capacity)
        if taken * scale > 1:
            block(
                figure, x, base - taken * scale, pitch - 6, taken * scale, "activations", f"column-{expert}", radius=5
            )
        if load > capacity:
            with figure.tip("more than the capacity: dropped, or waited for"):
                figure.rectangle(
                    x, base - load * scale, pitch - 6, (load - capacity) * scale, fill="overflow", ink="bad", key="over"
                )
        figure.text(x + pitch / 2 - 3, base + 24, f"{letter}{expert}", "read", anchor="middle")
    figure.line(left - 4, base, right + 4, base, ink="ghost", key="floor")
    figure.line(left - 4, full, right + 4, full, ink="bad", stroke="thick", key="capacity")
    figure.line(left - 4, base - scale, right + 4, base - scale, ink="ghost", stroke="dashed", key="mean")
    figure.text(left - 10, full + 6, "full", "remark", anchor="end", ink="bad")
    figure.text(right + 9, base - scale + 6, "mean", "remark", ink="ink")


def few_nodes(case: Case, number: int) -> Frame:
    n = case.nodes
    caption = f"At most {counted(n, 'node')} a token: one copy to each, NVLink hands it on."
    about = (
        f"Free choice sends {case.dispatch.text} a GPU, {case.exchange_s.text} at {bytes_text(CLUSTER.nic_bytes_per_s)}/s. "
        f"With {n} of {GPUS} nodes: {case.limited.text}, {case.limited_s.text}."
    )
    figure = SceneFigure("ep", number, "Few nodes", about)
    for x, words, ink in ((4, "free choice", "ink"), (376, f"{counted(n, 'node')} at most", "ep")):
        figure.text(x, 24, words, "caption", ink=ink)
        figure.text(x + 338, 24, f"{GPUS} nodes", "remark", anchor="end")
    _fan(figure, case, 4, limited=False)
    _fan(figure, case, 376, limited=True)
    longest = case.exchange_s.value
    for y, name, size, seconds, fill in (
        (318, "free choice", case.dispatch, case.exchange_s, "ep-pale"),
        (360, "limited", case.limited, case.limited_s, "ep"),
    ):
        figure.text(0, y + 19, name, "remark", ink="ink")
        width = 380 * seconds.value / longest
        figure.rectangle(116, y, width, 28, fill=fill, ink="ep", key=f"bar-{name}")
        figure.text(128 + width, y + 20, f"{bytes_text(size.value)}, {seconds_text(seconds.value)}", "number")
    return Frame("few nodes", caption, about, figure)


def _fan(figure: SceneFigure, case: Case, x: float, *, limited: bool) -> None:
    """One token's copies on their way to nodes, and the experts that they reach there."""
    visited = case.nodes if limited else GPUS
    reach = [
        [at for at in range(case.a_gpu) if at * visited + node < case.top_k] if node < visited else []
        for node in range(GPUS)
    ]
    copies = [min(1, len(there)) if limited else len(there) for there in reach]
    scale = min(14.0, 52 / case.top_k)
    start = 168 - scale * sum(copies) / 2
    for node in range(GPUS):
        y, there = 40 + node * 66, reach[node]
        ink = "ink" if there else "ghost"
        figure.rectangle(x + 190, y, 148, 56, ink=ink, stroke="normal" if there else "dashed", key=f"node-{x}-{node}")
        if copies[node]:
            with figure.tip(f"{counted(copies[node], 'copy')} of the token to node {node}"):
                ribbon(
                    figure,
                    x + 64,
                    start,
                    x + 188,
                    y + 28 - scale * copies[node] / 2,
                    scale * copies[node],
                    "ep" if limited else "ep-pale",
                    "ep",
                )
            start += scale * copies[node]
        _node(figure, case, x + 196, y, there, fans=limited, key=f"{x}-{node}")
    block(figure, x, 142, 62, 52, "activations", f"token-{x}", radius=12)
    figure.text(x + 31, 174, "token", "read", anchor="middle")


def _node(figure: SceneFigure, case: Case, x: float, y: float, there: list[int], *, fans: bool, key: str) -> None:
    """A node's experts, each on a GPU of its own; those visited are lit."""
    pitch = 136 / case.a_gpu
    size = min(32.0, pitch - 6)
    for at in range(case.a_gpu):
        left = x + at * pitch + (pitch - size) / 2
        block(figure, left, y + (6 if fans else 15), size, 26, "weights", f"unit-{key}-{at}", ghost=at not in there)
        if fans and at in there:
            figure.line(left + size / 2, y + 45, left + size / 2, y + 34, ink="ep", key=f"up-{key}-{at}")
    if fans and there:
        end = x + there[-1] * pitch + pitch / 2
        with figure.tip("inside the node NVLink passes the copy on"):
            figure.line(x - 4, y + 45, max(end, x + 8), y + 45, ink="ep", stroke="thick", key=f"nvlink-{key}")


def both_ways(case: Case, number: int) -> Frame:
    caption = "Backward repeats both exchanges with gradients: every layer pays four times."
    about = (
        f"{EXCHANGES} exchanges of {case.dispatch.text}: {case.exchanges_s.text} on the wires, if nothing hides them."
    )
    figure = SceneFigure("ep", number, "Forward and backward", about)
    block(figure, 4, 14, 128, 214, "activations", "tokens", radius=14)
    figure.text(68, 128, "tokens", "title", anchor="middle")
    block(figure, WIDTH - 132, 14, 128, 214, "weights", "experts")
    with figure.group("on-solid"):
        figure.text(WIDTH - 68, 128, "experts", "title", anchor="middle")
    arrows = (
        ("forward: dispatch", "ep-pale", 1),
        ("forward: combine", "ep-pale", -1),
        ("backward: gradients out", "gradients", 1),
        ("backward: gradients back", "gradients", -1),
    )
    for at, (words, fill, way) in enumerate(arrows):
        _wide_arrow(figure, 148, WIDTH - 148, 22 + at * 52, words, fill, way)
    _whole_clock(figure, case)
    figures_below(
        figure,
        (
            (4, f"{EXCHANGES} exchanges of", bytes_text(case.dispatch.value)),
            (230, "on the wires", seconds_text(case.exchanges_s.value)),
            (440, "experts compute", seconds_text(case.experts_s.value + case.experts_backward_s.value)),
        ),
        354,
    )
    return Frame("backward too", caption, about, figure)


def _wide_arrow(figure: SceneFigure, left: float, right: float, y: float, words: str, fill: str, way: int) -> None:
    """An arrow as wide as an exchange; its words stand on a plain strip."""
    high, head = 36.0, 24.0
    a, b, tip = (left, right - head, right) if way > 0 else (right, left + head, left)
    points = (
        (a, y + 5),
        (b, y + 5),
        (b, y - 3),
        (tip, y + high / 2),
        (b, y + high + 3),
        (b, y + high - 5),
        (a, y + high - 5),
        (a, y + 5),
    )
    figure.polyline(points, fill=fill, ink="ep", key=words)
    middle, wide = (left + right) / 2, words_width(words) + 16
    if fill == "gradients":
        figure.cells([(middle - wide / 2, y + 7, wide, high - 14)], fill="board", ink="")
    figure.text(middle, y + high / 2 + 6, words, "read", anchor="middle")


def _whole_clock(figure: SceneFigure, case: Case) -> None:
    """Compute and wires of one layer, forward and backward."""
    out = case.exchange_s.value
    order = (
        ("wire", out, "ep-pale"),
        ("f", case.experts_s.value, "f"),
        ("wire", out, "ep-pale"),
        ("wire", out, "gradients"),
        ("b", case.experts_backward_s.value, "b"),
        ("wire", out, "gradients"),
    )
    at, compute, wires = 0.0, [], []
    for kind, seconds, fill in order:
        if kind == "wire":
            wires.append(Bar(at, at + seconds, fill, why=f"an exchange: {seconds_text(seconds)}", ink="ep"))
            compute.append(Bar(at, at + seconds, "waiting", why="waits for the exchange", ink="ghost"))
        else:
            compute.append(Bar(at, at + seconds, fill, "experts", why=f"experts: {seconds_text(seconds)}"))
        at += seconds
    lanes(figure, 250, (Lane("compute", tuple(compute)), Lane("wires", tuple(wires))), at)
