"""What the topology page looks at: a plan, the GPU one looks from, a node that is gone, and the axis that shades the floor."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from app.plan.floor_room import MOST_GPUS, beyond_the_floor
from app.plan.form import document_of, query_of
from engine.accounts.ledger import AxisRow, wire_ledger
from engine.estimate import Estimate, estimate
from engine.language.formula import Term
from engine.language.inputs import Amount, Choice, read_all, texts_of
from engine.layout.layout import AXES, Axis
from engine.network.fabric import Fabric
from engine.network.groups import waiting_gpus
from engine.network.placement import Placement
from engine.scenario import scenario_from

USUAL_YOU = 74  # rank one looks from where none is named; the last one of a smaller run

# what the page adds to a plan's query: all of it may be left out
COLOUR = Choice("colour", "colour by", None, {axis: axis.upper() for axis in AXES}, absent="none", side_by_side=True)
YOU = Amount("you", "you are rank", None, 0, MOST_GPUS - 1, absent=f"{USUAL_YOU}", slider=False)
LOST = Amount("lost", "node that is gone", None, 0, MOST_GPUS - 1, absent="none", slider=False)
LOOK = (YOU, LOST, COLOUR)
VIEW = texts_of(LOOK, {})


@dataclass(frozen=True)
class TopologyCase:
    """A plan on its floor.

    state   of the planner's form
    view    what the page adds to it, as typed
    look    the same, read
    """

    state: Mapping[str, str]
    view: Mapping[str, str]
    look: Mapping[str, Any]
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
        you = self.look["you"]
        return min(USUAL_YOU, self.fabric.gpus - 1) if you is None else you

    @property
    def colour(self) -> str:
        return self.look["colour"] or ""

    @property
    def lost(self) -> range:
        """GPUs of the node that is gone."""
        return range(0) if self.look["lost"] is None else self.fabric.ranks_of(self.look["lost"])

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
    if beyond := beyond_the_floor(state, scenario):
        raise beyond
    fabric = Fabric(scenario.cluster, scenario.gpus)
    look = read_all((_one_of(YOU, fabric.gpus, "ranks"), _one_of(LOST, fabric.nodes, "nodes"), COLOUR), view, "")
    return TopologyCase(state, view, look, estimate(scenario))


def _one_of(place: Amount, count: int, noun: str) -> Amount:
    """A place as it is in a run of so many."""
    return replace(place, high=count - 1, said=f"the run has {noun} 0 to {count - 1}")
