"""Frames of the tensor parallel scene about a whole layer: its heads, its backward pass, its norms, its wires."""

from app.board.legend import Entry, legend
from app.board.scenes.base import WIDTH, Frame, SceneFigure
from app.board.scenes.pieces import Bar, Lane, block, gpu, lanes
from app.board.scenes.tp.case import CLUSTER, SUMS, Case
from app.board.scenes.tp.drawing import mark, matrix
from engine.language.units import bytes_text, counted, seconds_text, share_text


def heads(case: Case, number: int) -> Frame:
    model, t = case.model, case.t
    caption = "Attention cuts itself: heads are dealt out, the output matrix is cut by rows."
    about = (
        f"Each GPU has {model.heads // t} of {model.heads} query heads, {model.kv_heads // t} of {model.kv_heads} key-value heads "
        f"and its rows of the output matrix. An all-reduce of {case.field.text} adds up what they make."
    )
    figure = SceneFigure("tp", number, "Heads dealt to GPUs", about)
    left, gap, top = 52, 8, 8
    width = (WIDTH - 4 - left - gap * (t - 1)) / t
    for row, words in ((92, "Q"), (150, "K V"), (198, "out")):
        figure.text(4, row, words, "caption")
    for i in range(t):
        x = left + i * (width + gap)
        gpu(figure, x, top, width, 212, f"GPU {i}")
        _dealt(figure, i, x + 6, 48, width - 12, model.heads // t, 2, 66, "query heads")
        _dealt(figure, i, x + 6, 128, width - 12, model.kv_heads // t, 1, 30, "key-value heads")
        with (
            figure.tip("its rows of the output matrix: they meet only its own heads"),
            figure.at(f"out-{i}", x + 6, 176),
        ):
            block(figure, 0, 0, width - 12, 32, "weights", f"out-{i}")
            with figure.group("on-solid"):
                figure.text(width / 2 - 6, 22, str(i), "read", anchor="middle")
        figure.arrow(x + width / 2, 224, x + width / 2, 250, ink="tp", stroke="thick", key=f"part-{i}")
    figure.rectangle(left, 256, WIDTH - 4 - left, 40, fill="tp", key="sum")
    with figure.group("on-solid"):
        words = f"Σ   one all-reduce: {bytes_text(case.field.value)} in {seconds_text(case.sum_s.value)}"
        words = "whole at once: nothing to add up" if case.alone else words
        figure.text((left + WIDTH) / 2, 283, words, "caption", anchor="middle")
    _shares(figure, case)
    return Frame("heads", caption, about, figure)


def _dealt(
    figure: SceneFigure, i: int, x: float, y: float, width: float, n: int, rows: int, height: float, what: str
) -> None:
    """A GPU's heads in so many rows."""
    columns = max(1, -(-n // rows))
    cell, high = min(width / columns, 40.0), height / rows
    start = x + (width - cell * columns) / 2
    with figure.tip(f"{n} {what} of GPU {i}"):
        for at in range(n):
            left, top = start + at % columns * cell, y + at // columns * high
            figure.rectangle(
                left + 1.5,
                top + 2,
                cell - 3,
                high - 4,
                fill="activations",
                radius=5,
                stroke="normal" if cell > 12 else "thin",
                key=f"{what}-{i}-{at}",
            )


def _shares(figure: SceneFigure, case: Case) -> None:
    model, t = case.model, case.t
    rows = (
        (52, "query heads", f"{model.heads // t} of {model.heads}"),
        (280, "key-value heads", f"{model.kv_heads // t} of {model.kv_heads}"),
    )
    for x, name, text in rows:
        figure.text(x, 334, name, "remark")
        figure.text(x, 368, text, "title")
    spare = model.kv_heads > t
    words = ("enough for", f"{model.kv_heads} GPUs") if spare else (f"beyond {t} GPUs", "copies")
    figure.text(510, 334, words[0], "remark", ink="remark" if spare else "bad")
    figure.text(510, 368, words[1], "title", ink="ink" if spare else "bad")


def mirror(case: Case, number: int) -> Frame:
    caption = "Backward is the mirror: g passes on, f adds up. Four sums per layer."
    if case.alone:
        caption = "Backward is the mirror: g passes on, f adds up. One GPU needs neither."
    about = (
        f"Forward, g adds up after attention and after the MLP; backward, f does. {SUMS} sums of {case.field.text}: "
        f"{case.sums_s.text} beside {case.work.text} of work."
    )
    figure = SceneFigure("tp", number, "Forward and backward", about)
    for x, name in ((124, "f"), (332, "g"), (420, "f"), (628, "g")):
        figure.text(x, 30, name, "title", anchor="middle")
    for x, name in ((164, "attention"), (460, "MLP")):
        figure.rectangle(x, 14, 128, 206, fill="board", key=name)
        for y, fill in ((44, "f"), (142, "b")):
            figure.rectangle(x + 9, y, 110, 48, fill=fill, key=f"{name}-{fill}")
        figure.text(x + 64, 124, name, "caption", anchor="middle")
    for y, name, ends, sums in ((68, "forward", (1, 0), "g"), (166, "backward", (0, 1), "f")):
        figure.text(4, y + 7, name, "caption", ink="tp" if sums == "g" else "pp")
        for x, sign in ((124, "f"), (332, "g"), (420, "f"), (628, "g")):
            with figure.tip("every GPU gets the sum of all" if sign == sums else "each GPU goes on with what it has"):
                mark(figure, x, y, "Σ" if sign == sums else "=", strong=sign == sums, key=f"{name}-{x}")
        for a, b in ((146, 162), (294, 310), (354, 398), (442, 458), (590, 606), (650, 690)):
            figure.arrow(*((a, y, b, y) if ends[0] else (b, y, a, y)), ink="ink", size=7, key=f"{name}-{a}")
    _layer_lanes(figure, case)
    figure.text(4, 352, f"{SUMS} sums of {bytes_text(case.field.value)}", "remark")
    figure.text(4, 386, seconds_text(case.sums_s.value), "title", ink="tp")
    figure.text(280, 352, "work of one layer", "remark")
    figure.text(280, 386, seconds_text(case.work.value), "title")
    figure.text(510, 352, "sums over work", "remark")
    figure.text(510, 386, share_text(case.near_wait.value), "title")
    return Frame("the mirror", caption, about, figure)


def _parts(case: Case, sum_s: float) -> list[tuple[str, str, float]]:
    """A layer in order: (kind, words, seconds) for work and sums."""
    a, third = case.attention_share, case.work.value / 3  # backward is twice forward
    work = (
        ("f", "attention", a * third),
        ("f", "MLP", (1 - a) * third),
        ("b", "MLP", 2 * (1 - a) * third),
        ("b", "attention", 2 * a * third),
    )
    return [part for kind, words, seconds in work for part in ((kind, words, seconds), ("sum", "Σ", sum_s))]


def _layer_lanes(figure: SceneFigure, case: Case) -> None:
    at, compute, wires = 0.0, [], []
    for kind, words, seconds in _parts(case, case.sum_s.value):
        if kind == "sum":
            if seconds:
                wires.append(
                    Bar(at, at + seconds, "tp", why=f"a sum: {seconds_text(seconds)}; the next product needs it")
                )
                compute.append(Bar(at, at + seconds, "waiting", why="waits for the sum"))
        else:
            compute.append(Bar(at, at + seconds, kind, words, why=f"{words}: {seconds_text(seconds)}"))
        at += seconds
    lanes(figure, 242, (Lane("compute", tuple(compute)), Lane("wires", tuple(wires))), at)


def sequence_parallel(case: Case, number: int) -> Frame:
    before, after = case.kept(case.t, False), case.kept(case.t, True)
    caption = "Sequence parallel: norms keep a share of the tokens. Same bytes, far less kept."
    if case.alone:
        caption = "Sequence parallel shares the norms' tokens too. One GPU has nobody to share with."
    about = (
        f"Each all-reduce becomes a reduce-scatter and an all-gather of {case.half_sent.text} each. "
        f"Activations kept of a layer: {before.text} before, {after.text} after."
    )
    figure = SceneFigure("tp", number, "Sequence parallel", about)
    stations = (("norm", "rows"), ("attention", "columns"), ("norm", "rows"), ("MLP", "columns"), ("norm", "rows"))
    wide, gap = 78, (WIDTH - 16 - 5 * 78) / 4
    for at, (name, along) in enumerate(stations):
        x = 8 + at * (wide + gap)
        why = "some tokens, all channels" if along == "rows" else "all tokens, its own heads or columns"
        matrix(figure, f"field {at}", (x, 36, wide, 112), case.t, along, gap=3 if case.t > 4 else 5, tip=why)
        figure.text(x + wide / 2, 24, name, "caption", anchor="middle")
        if at < 4:
            gathers = along == "rows"
            figure.arrow(x + wide + 8, 104, x + wide + gap - 8, 104, ink="tp", stroke="thick", key=f"turn-{at}")
            figure.text(x + wide + gap / 2, 88, "gather" if gathers else "scatter", "read", anchor="middle")
    figure.text(8, 172, "rows: tokens", "read", ink="soft")
    figure.text(8 + wide + gap, 172, "columns: heads", "read", ink="soft")
    _same_bytes(figure, case)
    _kept(figure, case)
    return Frame("norms cut too", caption, about, figure)


def _same_bytes(figure: SceneFigure, case: Case) -> None:
    figure.text(8, 220, "each GPU sends", "remark")
    both, half = case.sent, case.half_sent
    for y, parts in ((236, (("all-reduce", both),)), (282, (("scatter", half), ("gather", half)))):
        x, width = 8.0, 300.0 / len(parts)
        for name, term in parts:
            with figure.tip(f"{name}: {bytes_text(term.value)}"):
                figure.rectangle(x, y, width - 2, 36, fill="tp-pale", ink="tp", key=f"sent-{name}")
            figure.text(x + width / 2, y + 24, name, "read", anchor="middle")
            x += width
    figure.text(8, 356, bytes_text(both.value), "title")
    figure.text(128, 354, "both ways", "remark")


def _kept(figure: SceneFigure, case: Case) -> None:
    figure.text(372, 220, "kept of a layer", "remark")
    whole = case.kept(1, False)
    rows = (("one GPU", whole), ("TP alone", case.kept(case.t, False)), ("TP and SP", case.kept(case.t, True)))
    for at, (name, term) in enumerate(rows):
        y, last = 236 + at * 46, at == len(rows) - 1
        figure.text(372, y + 24, name, "read", ink="ink" if last else "soft")
        width = max(8.0, 140 * term.value / whole.value)
        block(figure, 456, y, width, 36, "activations", f"kept-{at}", radius=8, ink="ink" if last else "ghost")
        figure.text(456 + width + 10, y + 24, bytes_text(term.value), "number")


def stretched(case: Case, number: int) -> Frame:
    nodes = case.t
    caption = "Spread over nodes, the same sums crawl through network adapters and compute starves."
    if case.alone:
        caption = "One GPU sends nothing, in a node or alone. Give it company to see wires matter."
    about = (
        f"In one node the sums take {case.sums_s.text}, {share_text(case.near_wait.value)} of the work. With one GPU per node, on "
        f"{counted(nodes, 'node')}, they take {case.far_sums_s.text}, {share_text(case.far_wait.value)}."
    )
    figure = SceneFigure("tp", number, "Over nodes", about)
    _one_node(figure, nodes)
    _many_nodes(figure, nodes)
    rows, end = [], max(case.work.value + case.far_sums_s.value, 1e-9)
    for name, sum_s in (
        ("one node", case.sum_s.value),
        (counted(nodes, "node") if nodes > 1 else "alone", case.far_sum_s.value),
    ):
        at, bars = 0.0, []
        for kind, words, seconds in _parts(case, sum_s):
            if seconds:
                why = "waits for the sum" if kind == "sum" else words
                bars.append(
                    Bar(at, at + seconds, "tp" if kind == "sum" else kind, "", why=f"{why}: {seconds_text(seconds)}")
                )
            at += seconds
        rows.append(Lane(name, tuple(bars)))
    lanes(figure, 222, rows, end, left=104)
    legend(figure, (Entry("f", "forward"), Entry("b", "backward"), Entry("tp", "sum")), 104, 300, 500)
    _verdict(figure, case)
    return Frame("over nodes", caption, about, figure)


def _one_node(figure: SceneFigure, t: int) -> None:
    figure.rectangle(8, 10, 232, 158, ink="ink", key="node")
    columns = min(4, t)
    cell = 216 / columns
    one_row = t <= columns
    figure.rectangle(24, 112 if one_row else 80, 200, 18, fill="tp", ink="tp", key="nvlink")
    for i in range(t):
        x, y = 16 + i % columns * cell + cell / 2 - 22, (52 if one_row else 28) if i < columns else 110
        with figure.at(f"chip-{i}", x, y):
            block(figure, 0, 0, 44, 40, "board", f"chip-{i}")
            figure.text(22, 26, str(i), "read", anchor="middle")
    figure.text(8, 196, f"NVLink {bytes_text(CLUSTER.gpu.nvlink_bytes_per_s)}/s", "remark", ink="tp")


def _many_nodes(figure: SceneFigure, t: int) -> None:
    left, right = 284.0, WIDTH - 8.0
    step = (right - left) / t
    for i in range(t):
        x = left + i * step + step / 2
        figure.rectangle(x - 23, 10, 46, 74, key=f"node-{i}")
        with figure.tip("one GPU of this node; the others are not in the group"):
            block(figure, x - 15, 28, 30, 38, "board", f"far-{i}")
        figure.text(x, 52, str(i), "read", anchor="middle")
        figure.line(x, 84, x, 142, ink="tp", stroke="thin", key=f"wire-{i}")
    figure.rectangle(left, 142, right - left, 26, fill="plain", key="network")
    figure.text((left + right) / 2, 161, "network", "read", anchor="middle")
    figure.text(left, 196, f"adapter {bytes_text(CLUSTER.nic_bytes_per_s)}/s each", "remark", ink="tp")


def _verdict(figure: SceneFigure, case: Case) -> None:
    columns = (
        (8, "work", seconds_text(case.work.value), "ink"),
        (190, "sums in the node", f"{seconds_text(case.sums_s.value)}", "ink"),
        (372, "sums over nodes", f"{seconds_text(case.far_sums_s.value)}", "ink"),
        (560, "waits over work", share_text(case.far_wait.value), "bad"),
    )
    for x, name, text, ink in columns:
        figure.text(x, 352, name, "remark", ink="remark" if ink == "ink" else ink)
        figure.text(x, 386, text, "title", ink=ink)
