"""What the topology page looks at: a plan, the GPU one looks from, a node that is gone, and the axis that shades the floor."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from app.plan.form import document_of, query_of
from engine.estimate import Estimate, estimate
from engine.language.choice import one_of
from engine.language.document import together
from engine.language.formula import Term
from engine.language.refusal import Refusal
from engine.layout.layout import AXES, Axis
from engine.ledger import AxisRow, wire_ledger
from engine.network.fabric import Fabric, whole_nodes
from engine.network.groups import waiting_gpus
from engine.network.placement import Placement
from engine.scenario import scenario_from

VIEW = {"you": "", "lost": "", "colour": ""}  # what the page adds to a plan's query
MOST_GPUS = 131_072
USUAL_YOU = 74  # rank one looks from where none is named; the last one of a smaller run


@dataclass(frozen=True)
class TopologyCase:
    """A plan on its floor.

    state   of the planner's form
    view    `you`, `lost` and `colour`, as typed
    """

    state: Mapping[str, str]
    view: Mapping[str, str]
    estimate: Estimate

    @property
    def placed(self) -> Placement:
        return self.estimate.step.placement

    @property
    def fabric(self) -> Fabric:
        return Fabric(self.estimate.scenario.cluster, self.estimate.scenario.gpus)

    @cached_property
    def rows(self) -> tuple[AxisRow, ...]:
        return wire_ledger(self.estimate)

    @property
    def you(self) -> int:
        return int(self.view["you"]) if self.view["you"] else min(USUAL_YOU, self.fabric.gpus - 1)

    @property
    def colour(self) -> str:
        return self.view["colour"]

    @property
    def lost(self) -> range:
        """GPUs of the node that is gone."""
        return self.fabric.ranks_of(int(self.view["lost"])) if self.view["lost"] else range(0)

    @cached_property
    def stalled(self) -> dict[Axis, int]:
        """Groups of each axis that have a member in the node that is gone."""
        return {
            row.axis: len({tuple(self.placed.peers(row.reach.members, rank)) for rank in self.lost})
            for row in self.rows
        }

    @cached_property
    def waiting(self) -> Term:
        """GPUs that stop at once because a group of theirs has lost a member."""
        members = {one for row in self.rows for rank in self.lost for one in self.placed.peers(row.reach.members, rank)}
        return waiting_gpus.explain("waiting at once", m=len(members | set(self.lost)), n=len(self.lost))

    @property
    def query(self) -> str:
        """The plan's own query, without what only this page adds."""
        return query_of(self.state)

    def with_(self, **changes: str) -> str:
        """The address of this page with some fields changed."""
        state = {**self.state, **{name: text for name, text in changes.items() if name in self.state}}
        view = {**self.view, **{name: text for name, text in changes.items() if name in VIEW}}
        return address(state, view)


def address(state: Mapping[str, str], view: Mapping[str, str]) -> str:
    """The address of a plan on its floor."""
    more = "&".join(f"{name}={text}" for name, text in view.items() if text)
    query = "&".join(part for part in (query_of(state), more) if part)
    return f"/topology?{query}" if query else "/topology"


def case_of(state: Mapping[str, str], view: Mapping[str, str]) -> TopologyCase:
    """The case of a form's state, or a Refusal: what has no meaning to the planner, and what no floor can show."""
    scenario = scenario_from(document_of(state))
    if scenario.gpus > MOST_GPUS:
        raise Refusal(
            "gpus", scenario.gpus, f"a floor shows at most {MOST_GPUS:,} GPUs; the planner takes more", str(MOST_GPUS)
        )
    whole_nodes(scenario.cluster, scenario.gpus)
    fabric, refused = Fabric(scenario.cluster, scenario.gpus), []
    for name, count, noun in (("you", fabric.gpus, "ranks"), ("lost", fabric.nodes, "nodes")):
        refused += _place_refused(name, view[name], count, noun)
    try:
        one_of("colour", view["colour"] or AXES[0], AXES)
    except Refusal as refusal:
        refused.append(refusal)
    if refused:
        raise together(refused)
    return TopologyCase(state, view, estimate(scenario))


def _place_refused(name: str, text: str, count: int, noun: str) -> list[Refusal]:
    if not text:
        return []
    rule = f"the run has {noun} 0 to {count - 1}"
    if not (text.isascii() and text.isdigit()):
        return [Refusal(name, text[:40], f"must be a whole number; {rule}", "0")]
    if len(text) > 9 or int(text) >= count:
        return [Refusal(name, text[:40], rule, str(count - 1))]
    return []
