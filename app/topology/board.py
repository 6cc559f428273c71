"""What the topology page shows of a case: who talks to whom, the ledger, what to try, and what a lost node stops."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from markupsafe import Markup

from app.board.figures.topology_picture import TopologyPicture
from app.board.figures.wire_bars import wire_bars
from app.board.linked import LinkedFigure
from app.plan.notes import Notes, changes_of, tried, untried
from app.plan.remarks import nodes_words
from app.topology.case import TopologyCase
from app.topology.play import played
from app.web.json_text import script_json
from engine.accounts.ledger import AxisRow
from engine.advice import advised
from engine.estimate import Estimate
from engine.findings import findings_of
from engine.language.units import bytes_text, count_text, seconds_text
from engine.network.placement import Members, Placement, Wire

NOTES_SHOWN = 2
WORDS: Mapping[Wire, str] = {
    "none": "alone, nothing travels",
    "nvlink": "{fabric}, in the node",
    "leaf": "NICs, under a leaf",
    "spine": "leaf – spine – leaf",
}


@dataclass(frozen=True)
class Talk:
    """One axis as seen from one GPU."""

    row: AxisRow
    fabric: str

    @property
    def axis(self) -> str:
        return self.row.axis

    @property
    def size(self) -> str:
        return f"{count_text(self.row.reach.size)} GPUs"

    @property
    def wire(self) -> str:
        return WORDS[self.row.reach.wire].format(fabric=self.fabric)

    @property
    def traffic(self) -> str:
        shown = self.row.exposed_s / self.row.seconds if self.row.seconds else 0
        hidden = (
            "hidden"
            if shown < 0.01
            else "mostly hidden"
            if shown < 0.5
            else f"{seconds_text(self.row.exposed_s)} shows"
        )
        return f"{bytes_text(self.row.sent_bytes)} a step, {seconds_text(self.row.seconds)}, {hidden}"


@dataclass(frozen=True)
class TopologyBoard:
    """Everything but the controls."""

    case: TopologyCase
    narrow: bool
    remarks: Mapping[str, str] = field(default_factory=dict)  # none: the planner has said them

    @property
    def estimate(self) -> Estimate:
        return self.case.estimate

    @cached_property
    def drawing(self) -> TopologyPicture:
        case = self.case
        return TopologyPicture(case.placed, case.rows, case.you, case.colour, case.lost, self.narrow)

    @property
    def picture(self) -> LinkedFigure:
        return self.drawing.figure()

    @property
    def bars(self) -> LinkedFigure | None:
        """How busy the links are; nothing where nobody talks."""
        rows = self.case.rows
        return wire_bars(rows, link=self.working, narrow=self.narrow) if rows else None

    def working(self, name: str) -> str:
        """The address of the working of a number."""
        return f"/topology/working/{name}?{self.case.query}"

    @property
    def talks(self) -> list[Talk]:
        return [Talk(row, self.case.fabric.cluster.gpu.fabric) for row in self.case.rows]

    @property
    def place(self) -> str:
        """Where the GPU one looks from stands, in words."""
        you, fabric, at = self.case.you, self.case.fabric, self.case.placed.coordinates(self.case.you)
        axes = ", ".join(f"{axis} {place}" for axis, place in at.items() if self.case.placed.degree(axis) > 1)  # type: ignore[arg-type]
        return f"node {fabric.node_of(you)}, unit {fabric.unit_of(you)}" + (f" · {axes}" if axes else "")

    @property
    def nodes(self) -> str:
        """The nodes of the run, in words: the last one may not be full."""
        return nodes_words(self.case.estimate.scenario)

    @property
    def notes(self) -> Notes:
        """What the engine has to say about the wires, before anything is tried."""
        found = [finding for finding in findings_of(self.case.estimate) if finding.on_wires]
        return untried(found, NOTES_SHOWN, self.case.with_().replace("/topology", "/topology/advice", 1))

    @property
    def tried_notes(self) -> Notes:
        """The same once the changes were tried."""
        said = [advice for advice in advised(self.case.estimate) if advice.finding.on_wires]
        return tried(said, NOTES_SHOWN, lambda change: self.case.with_(**changes_of(change)))

    @property
    def data(self) -> Markup:
        """What the browser needs to light groups and to play a step, for a script element."""
        case, placed = self.case, self.case.placed
        axes = [
            {
                "axis": row.axis,
                "steps": steps_of(placed, row.reach.members),
                "block": row.reach.size if row.reach.members == "shard" else 0,
                "words": f"{Talk(row, '').size}, {Talk(row, case.fabric.cluster.gpu.fabric).wire}",
                "far": row.reach.leaves_node,
            }
            for row in sorted(case.rows, key=lambda row: -row.reach.switches)
        ]
        fabric = case.fabric
        return script_json(
            {
                "gpus": fabric.gpus,
                "node": fabric.gpus_per_node,
                "unit": fabric.gpus_per_unit,
                "leaves": fabric.leaves_per_unit,
                "you": case.you,
                "axes": axes,
                "order": [[axis, placed.stride(axis), placed.degree(axis)] for axis in placed.order],
                "floors": [marks.geometry() for marks in self.drawing.marks],
                "step": played(case.estimate),
            }
        )


def steps_of(placed: Placement, members: Members) -> list[list[int]]:
    """How a group is counted out: for each of its axes the ranks between neighbours, and how many there are."""
    if members == "expert-data":
        grid, axes = placed.experts, ["dp"]
    elif members in ("data", "shard", "replica"):
        grid, axes = placed.dense, ["dp", "cp"]
    else:
        grid, axes = placed.grid_of(members), [members]  # type: ignore[arg-type]
    return [[grid.stride(axis), grid.degree(axis)] for axis in axes]
