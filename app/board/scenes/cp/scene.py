"""Context parallel: a sequence in strips, keys and values on a ring, and a deal that levels causal work."""

from app.board.scenes.base import Frame, Misconception, Scene, SceneFigure, Values
from app.board.scenes.cp.case import BACKWARD, SHAPE, Case, work_of
from app.board.scenes.cp.drawing import (
    BARS,
    LONGEST,
    RIGHT,
    answers,
    chips,
    gradient_chips,
    in_order_mark,
    merging,
    middle,
    owners,
    ring,
    state,
    triangle,
    work_bars,
)
from app.board.scenes.pieces import Bar, Lane, lanes
from engine.asking.question import Question
from engine.language.formula import Term
from engine.language.inputs import Amount, Choice
from engine.language.refusal import Refusal
from engine.language.units import count_text, digits_text, seconds_text, share_text
from engine.lens.ring_attention import DEALINGS, causal_strip_share, dealt_loads, dealt_strips, uneven_waiting_share

KNOBS = (
    Amount("ranks", "GPUs", 4, 2, 8, scale="doubling"),
    Amount("sequence", "sequence", 131072, 8192, 1048576, scale="doubling", unit="tokens"),
    Amount("tp", "tensor parallel", 1, 1, 8, scale="doubling"),
    Choice("deal", "half-strips dealt", "zig-zag", {name: name.replace("-", " ") for name in DEALINGS}),
)


def frames(values: Values) -> tuple[Frame, ...]:
    """The frames, in order; refuses strips that do not come out even and heads that cannot be dealt."""
    case = Case(values)
    sequence, tp = int(values["sequence"]), int(values["tp"])
    if sequence % (2 * case.ranks):
        rule = f"each GPU takes an early and a late half-strip, so {2 * case.ranks} equal pieces must make up the {sequence:,} tokens"
        works = [ranks for ranks in range(2, 9) if sequence % (2 * ranks) == 0]
        if works:
            raise Refusal("ranks", case.ranks, rule, str(min(works, key=lambda ranks: abs(ranks - case.ranks))))
        raise Refusal("sequence", sequence, rule, str(max(1, round(sequence / (2 * case.ranks))) * 2 * case.ranks))
    if SHAPE.kv_heads % tp:
        works = [degree for degree in range(1, 9) if SHAPE.kv_heads % degree == 0]
        near = str(min(works, key=lambda degree: abs(degree - tp)))
        raise Refusal("tp", tp, f"the {SHAPE.kv_heads} key-value heads must be dealt evenly", near)
    made = (strips, holdings, own_block, hop, merge, finish, dealt, backward)
    return tuple(draw(case, number) for number, draw in enumerate(made))


def strips(case: Case, number: int) -> Frame:
    shares = [causal_strip_share(i, case.ranks) * case.ranks**2 for i in range(case.ranks)]
    caption = (
        f"Cut the sequence into strips: later queries see more keys, so the last does {shares[-1]:g} times the first."
    )
    about = f"A causal triangle in {case.ranks} strips of queries. Their work stands as {' to '.join(f'{share:g}' for share in shares)}."
    figure = SceneFigure("cp", number, "Strips of a causal triangle", about)
    triangle(figure, case.ranks, lambda row, _: "cp-pale" if row == case.last else "f")
    owners(figure, range(case.ranks))
    figure.text(RIGHT, 20, "work", "remark")
    for rank, share in enumerate(shares):
        y = middle(rank, case.ranks)
        long = share / shares[-1] * (LONGEST + BARS - RIGHT - 60)
        fill = "cp-pale" if rank == case.last else "f"
        figure.rectangle(
            RIGHT, y - 12, long, 24, fill=fill, ink="cp" if rank == case.last else "ink", key=f"share-{rank}"
        )
        figure.text(RIGHT + long + 12, y + 9, f"{share:g}", "title")
    answers(
        figure,
        (
            ("attention adds to the weights' work", share_text(case.added(case.values["sequence"]).value)),
            ("at a sequence of", f"{count_text(case.values['sequence'])} tokens"),
        ),
    )
    return Frame("strips", caption, about, figure)


def holdings(case: Case, number: int) -> Frame:
    tokens = count_text(case.values["sequence"] / case.ranks)
    caption = f"Each GPU holds queries, keys and values of its own {tokens} tokens, and nothing else."
    about = f"{case.ranks} GPUs, each with Q, K and V of one strip of {tokens} tokens. Only the square on the diagonal can be computed at home."
    figure = _ring_figure(case, number, about, "cp-pale", step=0)
    answers(figure, (("tokens per GPU", tokens), ("keys and values", case.hop(2, "keys and values").text)))
    return Frame("who holds what", caption, about, figure)


def own_block(case: Case, number: int) -> Frame:
    caption = "Every GPU works on its own square; meanwhile its keys and values leave for the next."
    about = (
        f"The diagonal squares compute, half masked. A hop of {case.hop(2, 'hop').text} takes {case.forward_hop.text}."
    )
    figure = _ring_figure(case, number, about, "cp", step=0, moving=True)
    first = case.last_rank[0]
    _clock(case, figure, min(first.end, case.forward_hop.value) / 2)
    return Frame("own square", caption, about, figure)


def hop(case: Case, number: int) -> Frame:
    second = case.last_rank[1]
    caption = (
        "One hop on: new keys, next square. The first GPU got future keys, so it waits."
        if case.hidden
        else "One hop on. Here a hop outlasts the work it should hide behind: ranks wait for keys."
    )
    about = (
        f"Each GPU now has the keys and values of the one before; the first has those of GPU {case.last}, all masked. "
        f"A full block takes {case.forward_block.text}, a hop {case.forward_hop.text}."
    )
    figure = _ring_figure(case, number, about, "cp", step=1, moving=case.ranks > 2)
    for rank in range(case.ranks):
        state(figure, rank, case.ranks, rank >= 1)
    _clock(case, figure, second.start + min(second.end - second.start, case.forward_hop.value) / 2)
    return Frame("one hop on", caption, about, figure)


def _ring_figure(case: Case, number: int, about: str, fill: str, step: int, moving: bool = False) -> SceneFigure:
    """The triangle and the ranks after so many hops: squares at work, squares done, and who has whose keys."""
    figure = SceneFigure("cp", number, "A ring of ranks", about)
    triangle(
        figure,
        case.ranks,
        lambda row, column: fill if row - column == step else "f" if row - column < step else "board",
    )
    owners(figure, range(case.ranks))
    figure.text(RIGHT, 20, "stay", "remark")
    figure.text(RIGHT + 72, 20, "travel" if moving or step else "will travel", "remark", ink="cp")
    for rank in range(case.ranks):
        chips(figure, rank, case.ranks, (rank - step) % case.ranks, "cp" if moving or step else "ink")
    if moving:
        ring(figure, case.ranks, RIGHT + 204)
    return figure


def _clock(case: Case, figure: SceneFigure, now: float) -> None:
    """Compute and wires of the last rank over one layer."""
    steps = case.last_rank
    work = tuple(
        Bar(
            s.start,
            s.end,
            "f" if s.start <= now < s.end else "plain",
            "half" if i == 0 else "block",
            f"block of GPU {case.last - i}'s keys",
        )
        for i, s in enumerate(steps)
    )
    sent = tuple(
        Bar(s.sent, s.arrived, "cp" if s.sent < now < s.arrived else "cp-pale", why=case.forward_hop.text, ink="cp")
        for s in steps[1:]
    )
    lanes(figure, 312, (Lane(f"GPU {case.last}", work), Lane("wires", sent)), steps[-1].end * 1.001, now=now)


def merge(case: Case, number: int) -> Frame:
    rows, whole = case.running, case.at_once
    caption = "A running maximum and a running sum merge the parts: the result is exact, not an estimate."
    about = (
        f"A query meets {case.ranks} blocks in turn. When a larger score comes, the old sum is scaled down. "
        f"At the end the output is {rows[-1].result.output:.3f}; over all keys at once it is {whole.output:.3f}."
    )
    figure = SceneFigure("cp", number, "Merging partial softmax", about)
    merging(figure, case.last, rows, whole)
    return Frame("exact merge", caption, about, figure)


def finish(case: Case, number: int) -> Frame:
    caption = (
        f"GPU {case.last} works to the end alone: the others wait {share_text(case.waiting.value)} of all GPU time."
    )
    about = f"Strips in order: the last GPU has {case.worst.text}. {case.waiting.text} goes to waiting."
    figure = SceneFigure("cp", number, "Who is done when", about)
    triangle(figure, case.ranks, lambda row, _: "cp-pale" if row == case.last else "f")
    owners(figure, range(case.ranks))
    work_bars(figure, work_of(dealt_strips("in-order", case.ranks)), case.worst.value / case.ranks, case.last)
    answers(
        figure,
        (
            ("slowest over mean", f"{digits_text(case.worst.value, 4)} ×"),
            ("GPU time spent waiting", share_text(case.waiting.value)),
        ),
    )
    return Frame("finish flags", caption, about, figure)


def dealt(case: Case, number: int) -> Frame:
    loads = dealt_loads(case.strips)
    worst = max(loads)
    lost = uneven_waiting_share(worst)
    level = worst - min(loads) < 1e-9
    caption = (
        "Pair early with late: every GPU gets the same work, and all finish together."
        if level
        else f"This deal leaves the slowest GPU at {digits_text(worst)} times the mean. Early with late would be level."
    )
    about = f"{2 * case.ranks} half-strips, two to a GPU: " + "; ".join(
        f"GPU {rank} takes {a} and {b}, {digits_text(loads[rank])} times the mean"
        for rank, (a, b) in enumerate(case.strips)
    )
    figure = SceneFigure("cp", number, "Half-strips dealt", about)
    triangle(figure, 2 * case.ranks, lambda row, _: "cp-pale" if row in case.strips[0] else "f", "GPU")
    owners(figure, case.owners, names=False)
    work_bars(figure, work_of(case.strips), case.worst.value / case.ranks, 0)
    if worst < case.worst.value:
        in_order_mark(figure)
    answers(figure, (("slowest over mean", f"{digits_text(worst, 4)} ×"), ("GPU time spent waiting", share_text(lost))))
    return Frame("new deal", caption, about, figure)


def backward(case: Case, number: int) -> Frame:
    travels = case.hop_s(4, "one hop with gradients")
    work = case.block_s(BACKWARD, "backward of a full block")
    sent = case.hop(4, "hop").text
    caption = "Backward: keys and values go round again, and their gradients ride along, twice the bytes."
    about = f"Beside keys and values travel their gradients: {sent} a hop, {travels.text}, against {work.text} for a full block backward."
    figure = SceneFigure("cp", number, "Backward on the ring", about)
    holders = case.owners
    now_at = {rank: (rank - 1) % case.ranks for rank in range(case.ranks)}
    triangle(
        figure, 2 * case.ranks, lambda row, column: "b" if holders[column] == now_at[holders[row]] else "board", "GPU"
    )
    owners(figure, holders, names=False)
    figure.text(RIGHT, 20, "stay", "remark")
    figure.text(RIGHT + 72, 20, "travel, with gradients", "remark", ink="cp")
    for rank in range(case.ranks):
        chips(figure, rank, case.ranks, now_at[rank], "cp")
        gradient_chips(figure, rank, case.ranks, now_at[rank])
    ring(figure, case.ranks, RIGHT + 256, "marker")
    answers(
        figure, (("one hop", sent), ("takes", seconds_text(travels.value)), ("a full block", seconds_text(work.value)))
    )
    return Frame("backward", caption, about, figure)


def question(values: Values) -> Question:
    case = Case(values)
    return Question(
        ask=f"A causal mask, {case.ranks} GPUs, strips in order: how many times the mean work does the slowest one do?",
        answer=case.worst,
        because="The last strip sees all keys before it. Work grows in odd steps from strip to strip, and the mean is as many steps as there are GPUs.",
    )


def numbers(values: Values) -> tuple[Term, ...]:
    case = Case(values)
    return (
        case.worst,
        case.waiting,
        case.hop(2, "keys and values of a hop"),
        case.forward_hop,
        case.forward_block,
        case.hop_s(4, "one hop with gradients"),
        case.block_s(BACKWARD, "one full block backward"),
        case.added(8192),
        case.added(values["sequence"]),
    )


def misconceptions(values: Values) -> tuple[Misconception, ...]:
    case = Case(values)
    first, last = (causal_strip_share(i, case.ranks) for i in (0, case.last))
    exact, whole = case.running[-1].result, case.at_once
    return (
        Misconception(
            "The first rank works hardest, since everyone needs its keys.",
            f"It has the least to do: {share_text(first)} of the work; the last has {share_text(last)}. Giving keys away costs no FLOP.",
        ),
        Misconception(
            "Context parallel is sequence parallel.",
            f"Sequence parallelism cuts norms inside a tensor-parallel group; attention there sees all {count_text(values['sequence'])} tokens. "
            f"Context parallelism cuts attention itself, to {count_text(values['sequence'] / case.ranks)} queries a GPU, and sends keys and values round.",
        ),
        Misconception(
            "Ring attention approximates.",
            f"Merging is exact: {exact.output:.6f} from {case.ranks} blocks, {whole.output:.6f} from all keys at once.",
        ),
    )


CP = Scene(
    name="cp",
    title="Context parallel: keys on a ring",
    sentence="Cut the sequence, send keys and values round, and pair early strips with late ones so that causal work is even.",
    knobs=KNOBS,
    frames=frames,
    question=question,
    numbers=numbers,
    misconceptions=misconceptions,
    real="cp",
)
