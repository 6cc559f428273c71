"""What the expert parallel scene draws: tokens at home, experts at home, and ribbons as wide as what flows between."""

from app.board.pen import number
from app.board.scenes.base import SceneFigure
from app.board.scenes.ep.case import DRAWN, GPUS, Case
from app.board.scenes.pieces import Bar, Lane, block, lanes

LEFT, HOME = 200.0, 496.0  # the tokens' GPUs end at the first, the experts' begin at the second
TOP, PITCH, HIGH = 34.0, 72.0, 62.0
NAME = 21.0  # height of the strip that carries an expert's name
CLOCK = 328.0
LETTERS = "abcdefghijklmnop"


def row(i: int) -> float:
    """The top of a GPU's row."""
    return TOP + i * PITCH


def floor(
    figure: SceneFigure, case: Case, heads: tuple[str, str, str], *, quiet: bool = False, low: bool = False
) -> None:
    """Tokens at the left, experts at the right, a GPU in each row.

    heads   words above the three columns
    quiet   the tokens are away: their places are ghosts
    low     tokens stand high in their row, to leave room below
    """
    for x, words, anchor in (
        (0.0, heads[0], "start"),
        ((LEFT + HOME) / 2, heads[1], "middle"),
        (716.0, heads[2], "end"),
    ):
        figure.text(x, 22, words, "caption", anchor=anchor)
    for i in range(GPUS):
        figure.rectangle(2, row(i), LEFT - 4, HIGH, fill="board", key=f"home-{i}")
        figure.text(10, row(i) + 39, f"GPU {i}", "caption")
        for j in range(DRAWN):
            token = i * DRAWN + j
            with figure.at(f"token-{token}", 76 + j * 30, row(i) + (6 if low else 18)):
                block(figure, 0, 0, 26, 26, "activations", f"token-{token}", radius=8, ghost=quiet)
                figure.text(13, 19, LETTERS[token], "read", anchor="middle", ink="soft" if quiet else "ink")
        _experts(figure, case, i)


def expert_box(case: Case, expert: int) -> tuple[float, float, float, float]:
    """Where an expert stands."""
    i, at = divmod(expert, case.a_gpu)
    width = (220 - 6 * (case.a_gpu - 1)) / case.a_gpu
    return HOME + at * (width + 6), row(i), width, HIGH


def _experts(figure: SceneFigure, case: Case, i: int) -> None:
    """The experts of a GPU: weights with a name, and a place below for tokens."""
    for expert in range(i * case.a_gpu, (i + 1) * case.a_gpu):
        x, y, width, height = expert_box(case, expert)
        with figure.tip(f"expert {expert} lives on GPU {i}, whole; only tokens travel"):
            figure.rectangle(x, y, width, height, fill="board", key=f"inbox-{expert}")
            block(figure, x, y, width, NAME, "weights", f"expert-{expert}")
        with figure.group("on-solid"):
            figure.text(x + width / 2, y + 16, f"E{expert}", "read", anchor="middle")


def queue(figure: SceneFigure, case: Case) -> None:
    """The copies of tokens that wait at their experts, as large as a full queue lets them be."""
    width = expert_box(case, 0)[2] - 6
    room, all_tokens = HIGH - NAME - 3, GPUS * DRAWN
    pitch = next(size for size in (19, 13, 11, 9.5) if width // size * (room // size) >= all_tokens or size < 10)
    waiting: dict[int, int] = {}
    for token, chosen in enumerate(case.routing.choices):
        for j, expert in enumerate(chosen):
            x, y, _, _ = expert_box(case, expert)
            columns, at = int(width // pitch), waiting.get(expert, 0)
            waiting[expert] = at + 1
            copy(figure, token, j, x + 5 + at % columns * pitch, y + NAME + 3 + at // columns * pitch, pitch - 1.5)


def copy(
    figure: SceneFigure,
    token: int,
    j: int,
    x: float,
    y: float,
    size: float,
    words: str = "",
    high: float = 0,
    ink: str = "ink",
) -> None:
    """One copy of a token on its way to, at, or back from an expert."""
    with figure.at(f"copy-{token}-{j}", x, y):
        figure.rectangle(
            0,
            0,
            size,
            high or size,
            fill="activations",
            ink=ink,
            radius=4,
            stroke="normal" if size > 12 else "thin",
            key=f"copy-{token}-{j}",
        )
        if words:
            figure.text(size / 2, (high or size) / 2 + 6, words, "read", anchor="middle")


def ribbon(figure: SceneFigure, x1: float, y1: float, x2: float, y2: float, width: float, fill: str, ink: str) -> None:
    """A flow between two places; y1 and y2 are its upper edges, its width is what flows."""
    middle = (x1 + x2) / 2

    def edge(a: float, ya: float, b: float, yb: float) -> str:
        return f"{number(a)} {number(ya)}C{number(middle)} {number(ya)} {number(middle)} {number(yb)} {number(b)} {number(yb)}"

    path = f"M{edge(x1, y1, x2, y2)}L{edge(x2, y2 + width, x1, y1 + width)}Z"
    figure.path(path, fill=fill, ink=ink, stroke="thin")


def ribbons(figure: SceneFigure, case: Case, why: str) -> None:
    """All copies on their way, pair by pair; those of the busiest GPU are strong, those that stay at home grey."""
    flows = [[case.flow(i, j) for j in range(GPUS)] for i in range(GPUS)]
    received = [sum(flows[i][j] for i in range(GPUS)) for j in range(GPUS)]
    scale = (HIGH - 6) / max(*received, DRAWN * case.top_k)
    hot = case.busiest // case.a_gpu
    order = sorted(((i, j) for i in range(GPUS) for j in range(GPUS)), key=lambda pair: pair[1] == hot)
    for i, j in order:
        if not flows[i][j]:
            continue
        start = row(i) + HIGH / 2 + scale * (sum(flows[i][:j]) - DRAWN * case.top_k / 2)
        end = row(j) + HIGH / 2 + scale * (sum(flows[n][j] for n in range(i)) - received[j] / 2)
        strong = j == hot and i != j and not case.balanced
        fill, ink = ("plain", "ghost") if i == j else ("ep", "ink") if strong else ("ep-pale", "ep")
        stays = f"stays on GPU {i}: no wire" if i == j else f"GPU {i} {why} GPU {j}: {flows[i][j]} of the copies drawn"
        with figure.tip(stays):
            ribbon(figure, LEFT, start, HOME - 2, end, scale * flows[i][j], fill, ink)


def clock(figure: SceneFigure, case: Case, stage: int) -> None:
    """Compute and wires of one layer's forward pass; `stage` is under way: dispatch, experts, combine."""
    out, work = case.exchange_s.value, case.experts_s.value
    spans = ((0.0, out), (out, out + work), (out + work, 2 * out + work))
    names, (begin, end) = ("dispatch", "experts", "combine"), spans[stage]
    now = begin + 0.86 * (end - begin)

    def bar(at: int) -> Bar:
        fill = "plain" if at > stage else ("f" if at == 1 else "ep-pale")
        return Bar(*spans[at], fill, names[at], ink="ghost" if at > stage else "ink" if at == 1 else "ep")

    waits = [Bar(*spans[at], "waiting", why="waits for tokens on the wires") for at in (0, 2) if at <= stage]
    rows = (Lane("compute", (bar(1), *waits)), Lane("wires", (bar(0), bar(2))))
    lanes(figure, CLOCK, rows, spans[2][1], now=now)


def figures_below(figure: SceneFigure, columns: tuple[tuple[float, str, str], ...], y: float = 346) -> None:
    """Names with their numbers, side by side."""
    for x, name, text in columns:
        figure.text(x, y, name, "remark")
        figure.text(x, y + 34, text, "title")
