"""The ledger of the wires: for every axis who talks to whom, over which links, how many bytes per step, and how long."""

from dataclasses import dataclass
from functools import cached_property

from engine.catalog.calibration import Calibration
from engine.estimate import Estimate
from engine.language.formula import Term
from engine.layout.layout import Axis
from engine.network.fabric import Fabric
from engine.network.groups import groups_of_axis
from engine.network.issued import Collective
from engine.network.link_load import LinkLoad, busy_share, load_of, uplink_share
from engine.network.links import Way, collective_s, send_time_s, way_of
from engine.network.placement import Reach


@dataclass(frozen=True)
class AxisRow:
    """One axis in the ledger. Bytes and times are those of one step, on the busiest link of a kind.

    issued   what the axis issues in a step, with what it puts on the links
    """

    axis: Axis
    issued: tuple[tuple[Collective, LinkLoad], ...]
    fabric: Fabric
    step_s: Term
    known: Calibration

    @property
    def collectives(self) -> tuple[Collective, ...]:
        return tuple(collective for collective, _ in self.issued)

    @cached_property
    def load(self) -> LinkLoad:
        """What all its collectives put on the links."""
        first, *others = (load for _, load in self.issued)
        return sum(others, start=first)

    @property
    def reach(self) -> Reach:
        """The groups over which it sends most: with HSDP those that shard, not those that replicate."""
        return max(self.collectives, key=lambda c: c.sent_in_step.value).reach

    @property
    def farthest(self) -> Reach:
        """The groups that reach farthest."""
        return max((c.reach for c in self.collectives), key=lambda reach: (reach.switches, reach.size))

    @property
    def ways(self) -> tuple[Way, ...]:
        """How its collectives are done: in a ring, in two levels, or directly."""
        wires = self.fabric.cluster, self.known
        return tuple(dict.fromkeys(way_of(c.op, c.payload_bytes, c.reach, *wires) for c in self.collectives))

    @cached_property
    def groups(self) -> Term:
        return groups_of_axis.explain(f"{self.axis.upper()} groups", g=self.fabric.gpus, n=self.reach.size)

    @property
    def calls(self) -> float:
        """Collectives that one GPU takes part in."""
        return sum(c.count for c in self.collectives)

    @property
    def sent_bytes(self) -> float:
        """What one GPU sends, over whatever link.   [bytes]"""
        return sum(c.sent_in_step.value for c in self.collectives)

    @property
    def nvlink_bytes(self) -> float:
        return float(self.load.nvlink_bytes.max())

    @property
    def nic_bytes(self) -> float:
        return float(self.load.nic_bytes.max())

    @property
    def uplink_bytes(self) -> float:
        """What the busiest leaf sends to the spine.   [bytes]"""
        return float(self.load.uplink_bytes.max())

    @property
    def seconds(self) -> float:
        """Time of all its collectives, hidden or not.   [s]"""
        return sum(c.seconds.value for c in self.collectives)

    @property
    def exposed_s(self) -> float:
        """The part of it that computation does not hide.   [s]"""
        return sum(c.exposed.value for c in self.collectives)

    @cached_property
    def uplinks(self) -> Term:
        """Share of the busiest leaf's uplinks that this axis' flows would fill at full rate."""
        return uplink_share.explain(
            f"{self.axis.upper()} on the uplinks",
            f=float(self.load.flows.max()),
            n=self.fabric.nics_per_leaf,
            o=self.fabric.cluster.oversubscription,
        )

    @cached_property
    def alone_s(self) -> float:
        """Time of its collectives if no other traffic crosses the spine: flows wait for each other only.   [s]"""
        return sum(collective.count * self._alone_s(collective, load) for collective, load in self.issued)

    def _alone_s(self, collective: Collective, load: LinkLoad) -> float:
        cluster = self.fabric.cluster
        if collective.reach.wire != "spine" or cluster.oversubscription == 1:
            return collective.each_s
        crowding = max(1.0, float(load.flows.max()) / self.fabric.uplinks_per_leaf)
        quiet = cluster.model_copy(update={"oversubscription": min(crowding, cluster.oversubscription)})
        if collective.op == "send":
            faster = send_time_s(collective.payload_bytes, collective.reach, quiet, self.known)
            return (
                collective.each_s
                - send_time_s(collective.payload_bytes, collective.reach, cluster, self.known)
                + faster
            )
        return collective_s(collective.op, collective.payload_bytes, collective.reach, quiet, self.known)

    @cached_property
    def busy_nic(self) -> Term:
        return busy_share.explain(
            f"NICs busy with {self.axis.upper()}",
            b=self.nic_bytes,
            B=self.fabric.cluster.nic_bytes_per_s,
            s=self.step_s,
        )

    @cached_property
    def busy_nvlink(self) -> Term:
        link = self.fabric.cluster.gpu
        return busy_share.explain(
            f"{link.fabric} busy with {self.axis.upper()}",
            b=self.nvlink_bytes,
            B=link.nvlink_bytes_per_s,
            s=self.step_s,
        )

    @cached_property
    def busy_uplink(self) -> Term:
        return busy_share.explain(
            f"uplinks busy with {self.axis.upper()}",
            b=self.uplink_bytes,
            B=self.fabric.uplinks_per_leaf * self.fabric.cluster.nic_bytes_per_s,
            s=self.step_s,
        )

    @property
    def terms(self) -> dict[str, Term]:
        """Its numbers by the names that links to their working use."""
        return {
            f"wires.{self.axis}.{name}": getattr(self, name)
            for name in ("groups", "uplinks", "busy_nic", "busy_nvlink", "busy_uplink")
        }


def wire_ledger(estimate: Estimate) -> tuple[AxisRow, ...]:
    """A row for each axis that talks, in the layout's rank order."""
    placed, cluster = estimate.step.placement, estimate.scenario.cluster
    fabric, rows = Fabric(cluster, estimate.scenario.gpus), []
    for axis in estimate.scenario.layout.rank_order.split("-"):
        issued = tuple(c for c in estimate.step.communication if c.axis == axis and c.count)
        if not issued:
            continue
        loads = tuple((collective, load_of(collective, placed, fabric)) for collective in issued)
        rows.append(AxisRow(axis, loads, fabric, estimate.step.seconds, estimate.scenario.calibration))  # type: ignore[arg-type]
    return tuple(rows)
