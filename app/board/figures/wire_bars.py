"""How busy the links are: NVLink, NIC and uplinks side by side, each a bar as long as one step, filled by axis."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.board.legend import words_width
from app.board.linked import LinkedFigure
from engine.accounts.ledger import AxisRow
from engine.language.formula import Term
from engine.language.units import bytes_text, share_text

WIDE, NARROW = 720.0, 380.0
ROW, BAR = 62.0, 24.0
THINNEST, THICKEST = 7.0, BAR


@dataclass(frozen=True)
class Link:
    """One kind of link.

    name          of the link
    bytes_per_s   each direction, of one such link
    shares        how much of a step each axis keeps the busiest one busy
    """

    name: str
    bytes_per_s: float
    shares: tuple[tuple[AxisRow, Term], ...]


def links_of(rows: Sequence[AxisRow]) -> tuple[Link, ...]:
    """The three kinds, nearest first."""
    fabric = rows[0].fabric
    cluster = fabric.cluster
    uplinks = fabric.uplinks_per_leaf * cluster.nic_bytes_per_s
    return (
        Link(
            f"{cluster.gpu.fabric} of a GPU",
            cluster.gpu.nvlink_bytes_per_s,
            tuple((row, row.busy_nvlink) for row in rows),
        ),
        Link("NIC of a GPU", cluster.nic_bytes_per_s, tuple((row, row.busy_nic) for row in rows)),
        Link("uplinks of a leaf", uplinks, tuple((row, row.busy_uplink) for row in rows)),
    )


def wire_bars(rows: Sequence[AxisRow], *, link: Callable[[str], str], narrow: bool = False) -> LinkedFigure:
    """The bars. Their thickness follows the bandwidth of one GPU's share of the link, their length is one step.

    link   the name of a number -> the address of its working
    """
    width = NARROW if narrow else WIDE
    links = links_of(rows)
    told = "; ".join(
        f"{each.name} {', '.join(f'{row.axis.upper()} {share_text(term.value)}' for row, term in each.shares if term.value) or 'idle'}"
        for each in links
    )
    figure = LinkedFigure("wire-bars", width, ROW * len(links) + 4, "How busy the links are in a step", told)
    fastest = max(each.bytes_per_s for each in links[:2])
    for at, each in enumerate(links):
        own = each.bytes_per_s if at < 2 else links[1].bytes_per_s / rows[0].fabric.cluster.oversubscription
        thickness = max(THINNEST, THICKEST * (own / fastest) ** 0.5)
        _bar(figure, each, at * ROW, width, thickness, link)
    return figure


def _bar(
    figure: LinkedFigure, each: Link, top: float, width: float, thickness: float, link: Callable[[str], str]
) -> None:
    figure.text(0, top + 18, each.name, "read")
    figure.text(width - 2, top + 18, f"{bytes_text(each.bytes_per_s)}/s each way", "small", anchor="end", ink="soft")
    y = top + 28 + (BAR - thickness) / 2
    figure.rectangle(0, y, width - 2, thickness, fill="board", ink="soft", key=f"link-{each.name}")
    x, said = 0.0, words_width(each.name) + 18
    for row, term in each.shares:
        if term.value <= 0:
            continue
        long = min(width - 2 - x, max(2.0, term.value * (width - 2)))
        label = f"{row.axis.upper()} {share_text(term.value)}"
        with figure.link(
            link(f"wires.{row.axis}.{NAMES[each.name.partition(' ')[0]]}"), f"{each.name}: {label} of a step"
        ):
            figure.cells([(x, y + 1, long, thickness - 2)], fill=row.axis, ink="")
        figure.text(said, top + 18, label, "small", ink=row.axis)
        x, said = x + long, said + words_width(label, "small") + 12


NAMES = {"NIC": "busy_nic", "uplinks": "busy_uplink", "NVLink": "busy_nvlink", "Infinity": "busy_nvlink"}
