"""Small drawings beside a title: each says in one look what a block of the answer is about."""

from collections.abc import Callable

from app.board.svg import Figure

WIDTH, HEIGHT = 168, 92


def strategies(figure: Figure) -> None:
    """Copies, slices, a cut layer and a chain of stages."""
    for x, fill in ((6, "dp"), (12, "dp-pale")):
        figure.rectangle(x, 20 + (x - 6), 24, 34, fill=fill)
    figure.text(21, 82, "DP", "small", anchor="middle", ink="dp")
    figure.rectangle(50, 22, 28, 36)
    figure.rectangle(50, 22, 28, 10, fill="dp")
    figure.text(64, 82, "FSDP", "small", anchor="middle", ink="dp")
    figure.rectangle(94, 22, 13, 36, fill="tp")
    figure.rectangle(110, 22, 13, 36, fill="tp-pale")
    figure.text(108, 82, "TP", "small", anchor="middle", ink="tp")
    for step in range(3):
        figure.rectangle(134 + step * 10, 18 + step * 14, 14, 12, fill=("pp", "pp-pale", "pp-pale")[step])
    figure.text(150, 82, "PP", "small", anchor="middle", ink="pp")


def memory(figure: Figure) -> None:
    """What two GPUs hold, and what goes back and forth between them."""
    for x in (8, 112):
        figure.rectangle(x, 12, 46, 68, fill="board")
        figure.rectangle(x, 64, 46, 16, fill="weights")
        figure.rectangle(x, 52, 46, 12, fill="gradients")
        figure.rectangle(x, 38, 46, 14, fill="optimizer")
        figure.rectangle(x + 3, 24, 40, 13, fill="activations", radius=4)
    figure.arrow(60, 40, 107, 40, lift=10, ink="dp", stroke="thick")
    figure.arrow(107, 58, 60, 58, lift=10, ink="dp", stroke="thick")


def topology(figure: Figure) -> None:
    """One spine, three leaves, nodes of eight below them."""
    figure.rectangle(66, 5, 36, 17, fill="plain")
    for x in (12, 68, 124):
        here = x == 68
        figure.line(84, 23, x + 16, 38, ink="pp" if x < 124 else "ghost", stroke="normal" if x < 124 else "thin")
        figure.rectangle(x, 39, 32, 15, fill="plain")
        cells = [(x - 3 + column * 10, 65 + row * 11, 8, 8) for row in range(2) for column in range(4)]
        figure.cells(cells, fill="tp-pale" if here else "plain")
    figure.rectangle(61, 60, 46, 29, ink="tp", stroke="thick")


def clock(figure: Figure) -> None:
    """Time running, and what is left of the peak."""
    figure.circle(40, 47, 34)
    figure.line(40, 47, 40, 24, stroke="thick")
    figure.line(40, 47, 56, 56, stroke="thick", ink="pp")
    for x, top, fill in ((94, 12, "plain"), (112, 30, "pp-pale"), (130, 42, "pp-pale"), (148, 50, "dp")):
        figure.rectangle(x, top, 14, (80 if fill in ("plain", "dp") else top + 14) - top, fill=fill)
    figure.line(88, 81, 167, 80)


def ownership(figure: Figure) -> None:
    """Two desks, and what passes between them."""
    figure.rectangle(6, 34, 58, 40, fill="tp-pale")
    figure.rectangle(104, 34, 58, 40, fill="dp-pale")
    figure.line(84, 8, 84, 88, ink="ghost", stroke="dashed")
    figure.arrow(44, 28, 124, 28, lift=11, stroke="thick")
    figure.text(35, 59, "infra", "read", anchor="middle")
    figure.text(133, 59, "research", "small", anchor="middle")


DOODLES: dict[str, Callable[[Figure], None]] = {
    drawing.__name__: drawing for drawing in (strategies, memory, topology, clock, ownership)
}


def doodle(name: str) -> Figure:
    """One of DOODLES as an ornament.

    >>> doodle("clock").svg().startswith('<svg class="drawing doodle"')
    True
    """
    figure = Figure(f"doodle-{name}", WIDTH, HEIGHT, css="doodle")
    DOODLES[name](figure)
    return figure


def silent_rank(code: int) -> Figure:
    """A node of eight GPUs, one of which does not answer: the picture of an error page."""
    figure = Figure("silent-rank", 560, 176, css="silent-rank")
    figure.rectangle(4, 16, 548, 120, ink="soft")
    for rank in range(8):
        x = 22 + rank * 65
        if rank == 5:
            figure.rectangle(x, 40, 54, 72, ink="bad", stroke="dashed")
            figure.text(x + 27, 84, str(code), "caption", anchor="middle", ink="bad")
        else:
            figure.rectangle(x, 40, 54, 72, fill="tp-pale")
            figure.rectangle(x + 9, 52, 36, 30, fill="weights")
    figure.arrow(452, 168, 392, 122, lift=12, ink="bad", stroke="thick")
    figure.text(462, 174, "no answer", "remark", ink="bad")
    return figure


def tray() -> Figure:
    """The four markers and the sponge on the ledge below a board."""
    figure = Figure("tray", 420, 40, css="tray-markers")
    figure.rectangle(4, 12, 74, 15, fill="plain")
    figure.rectangle(4, 23, 74, 7, fill="ink", stroke="thin")
    for at, ink in enumerate(("ink", "tp", "pp", "dp")):
        x = 104 + at * 80
        figure.rectangle(x, 17, 56, 12, fill=ink, ink="ink", stroke="thin", radius=3)
        figure.rectangle(x, 16, 17, 14, fill="plain", ink="ink", stroke="thin", radius=3)
    return figure
