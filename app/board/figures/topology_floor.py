"""The floor of a cluster: units of nodes of GPUs, the leaf switches of each unit, and the spine above.

Everything stands where its rank says. Thousands of GPUs are a few straight paths, so that a floor stays small and does
not flicker.

    floor = floor_of(cluster, 1024, x=54, y=4, width=478, height=296)
    draw_floor(figure, floor, (Lit(group, "dp"),))
    draw_wires(figure, floor, group, ink="dp")
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from app.board.figures.floor import Box, Floor
from app.board.pen import cells, number
from app.board.svg import Figure
from engine.catalog.hardware import Cluster
from engine.network.fabric import Fabric


@dataclass(frozen=True)
class Lit:
    """GPUs that stand out, by rank, in one fill."""

    ranks: Collection[int]
    fill: str


def floor_of(cluster: Cluster, gpus: int, x: float, y: float, width: float, height: float) -> Floor:
    """The floor that so many GPUs of a cluster take."""
    return Floor(Fabric(cluster, gpus), x, y, width, height)


def draw_floor(
    figure: Figure,
    floor: Floor,
    lit: Sequence[Lit] = (),
    *,
    uplink: float = 1.0,
    rest: str = "plain",
    shaded: Iterable[tuple[Collection[int], str]] = (),
) -> None:
    """Switches, nodes and GPUs; what is lit last lies on top.

    uplink   width of the wires to the spine over that of a full fat tree   [0 to 1]
    rest     fill of the GPUs that are not lit; empty: no ranks stand on them yet
    shaded   nodes with a fill behind their GPUs, by number
    """
    figure.rectangle(*floor.spine.sides, fill="board", key="spine")
    leaves = [(unit, rail) for unit in floor.drawn_units for rail in range(floor.leaves_per_unit)]
    figure.cells([_pipe(floor, *leaf, uplink).sides for leaf in leaves], fill="plain", ink="")
    figure.cells([floor.leaf(*leaf).sides for leaf in leaves], fill="board", ink="soft")
    figure.cells([floor.node(node).sides for node in floor.drawn_nodes], fill="board", ink="rule")
    for nodes, fill in shaded:
        figure.cells([floor.node(node).sides for node in nodes], fill=fill, ink="rule")
    taken = {rank for each in lit for rank in each.ranks}
    dark = [floor.gpu(rank).sides for rank in floor.drawn_ranks if rank not in taken]
    if dark:
        figure.cells(dark, fill=rest or "board", ink="" if rest else "rule")
    for each in lit:
        figure.cells([floor.gpu(rank).sides for rank in each.ranks], fill=each.fill, ink="")


def draw_wires(
    figure: Figure,
    floor: Floor,
    ranks: Collection[int],
    ink: str,
    *,
    lane: int = 0,
    uplink: float = 1.0,
    stroke: str = "normal",
    fill: str = "",
) -> None:
    """The wires that join these ranks: each to its leaf, and over the spine where they stand in several units.

    lane     wires of another lane run beside these instead of over them: 0, 1 or 2
    uplink   as for draw_floor
    fill     of the leaves and the wires above them; the ink's own if empty
    """
    homes: dict[tuple[int, int], list[int]] = {}
    for rank in sorted(set(ranks) & set(floor.drawn_ranks)):
        homes.setdefault((floor.unit_of(rank), floor.rail_of(rank)), []).append(rank)
    across = len({floor.unit_of(rank) for rank in ranks}) > 1
    if across:
        figure.cells([_pipe(floor, *home, uplink).sides for home in homes], fill=fill or ink, ink="")
        figure.path(_over_spine(floor, homes, lane), ink=ink, stroke="thick" if floor.unit_rows == 1 else stroke)
    figure.cells([floor.leaf(*home).sides for home in homes], fill=fill or ink, ink=ink)
    figure.path("".join(_comb(floor, home, held, lane) for home, held in homes.items()), ink=ink, stroke=stroke)


def draw_node(figure: Figure, floor: Floor, node: int, ink: str, *, stroke: str = "thick", room: float = 1.0) -> None:
    """A strong line around one node."""
    box = floor.node(node)
    sides = (box.x - room, box.y - room, box.width + 2 * room, box.height + 2 * room)
    figure.path(cells([sides]), ink=ink, stroke=stroke)


def _pipe(floor: Floor, unit: int, rail: int, uplink: float) -> Box:
    """The wires from a leaf up: to the spine in the first row, a stub of them in others."""
    leaf = floor.leaf(unit, rail)
    width = max(1.0, leaf.width * 0.7 * uplink)
    top = floor.spine.bottom if _row(floor, unit) == 0 else leaf.y - floor.head[0] * 0.6
    return Box(leaf.middle - width / 2, top, width, leaf.y - top)


def _row(floor: Floor, unit: int) -> int:
    return (unit - floor.first_unit) // floor.unit_columns


def _over_spine(floor: Floor, homes: Iterable[tuple[int, int]], lane: int) -> str:
    """Along the spine between the leaves of the first row; leaves of other rows are reached beside their units."""
    bottom, up = floor.spine.bottom, floor.spine.bottom - 5 - 5 * lane
    at, path = [], ""
    for unit, rail in homes:
        leaf = floor.leaf(unit, rail)
        if _row(floor, unit) == 0:
            at.append(leaf.middle)
            continue
        aisle, over = floor.unit(unit).x - 2.5 - lane, leaf.y - 3 - lane
        at.append(aisle)
        path += f"M{number(leaf.middle)} {number(leaf.y)}V{number(over)}H{number(aisle)}V{number(bottom)}"
    at.sort()
    return f"{path}M{number(at[0])} {number(bottom)}V{number(up)}H{number(at[-1])}V{number(bottom)}"


def _comb(floor: Floor, home: tuple[int, int], ranks: Sequence[int], lane: int) -> str:
    """From a leaf down to a line along the unit, and from there beside the columns of GPUs to the last of each."""
    leaf, buses = floor.leaf(*home), floor.head[2]
    along = leaf.bottom + buses * (5 + 6 * lane) / 24
    path = f"M{number(leaf.middle)} {number(leaf.bottom)}V{number(along)}"
    last: dict[float, float] = {}
    for rank in ranks:
        gpu = floor.gpu(rank)
        x = gpu.middle + (lane - 0.5) * min(2.0, gpu.width / 4)
        last[x] = max(last.get(x, 0.0), gpu.y + gpu.height / 2)
    for x, y in last.items():
        path += f"M{number(leaf.middle)} {number(along)}H{number(x)}V{number(y)}"
    return path
