"""What the layout scene knows: one setting of its knobs, what the engine says about it, and what to ask and put right."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from app.board.figures.topology_floor import Floor, floor_of
from app.board.scenes.base import Misconception, Values
from engine.asking.question import Question
from engine.catalog.hardware import Cluster
from engine.catalog.scenarios import preset_document
from engine.estimate import Estimate, estimate
from engine.language.document import beside, divisors
from engine.language.formula import Term
from engine.language.refusal import Refusal
from engine.language.units import bytes_text, seconds_text
from engine.layout.layout import Axis
from engine.network.groups import groups_of_axis, node_bytes_per_s, rank_in_grid, waiting_gpus, wire_ratio
from engine.network.issued import Collective
from engine.network.placement import Placement
from engine.scenario import scenario_from

SEQUENCES = 512  # of a step, as in the question: whatever the layout, the work is the same
CARD = preset_document()
GPUS: int = CARD["gpus"]
MOST_STAGES = 32
ORDERS: tuple[tuple[Axis, ...], ...] = (("tp", "dp", "pp"), ("tp", "pp", "dp"))
NICS = (400, 200)


@dataclass(frozen=True)
class Case:
    """One setting of the knobs, and what the engine says about it."""

    values: Values

    @property
    def order(self) -> tuple[Axis, ...]:
        return ORDERS[int(self.values["order"])]

    @property
    def swapped(self) -> tuple[Axis, ...]:
        """The same with the last two axes exchanged."""
        first, second, third = self.order
        return first, third, second

    @property
    def stretched(self) -> tuple[Axis, ...]:
        """TP last: its peers stand as far apart as they can."""
        return *self.order[1:], self.order[0]

    @property
    def you(self) -> int:
        return int(self.values["you"])

    @property
    def narrow(self) -> float:
        return self.values["oversubscription"]

    def made(self, order: Sequence[str], ratio: float = 1.0) -> Estimate:
        """The estimate with this rank order and spine. Refuses what does not multiply, in the engine's words."""
        tp, pp = int(self.values["tp"]), int(self.values["pp"])
        layout = {
            "tp": tp,
            "pp": pp,
            "rank_order": "-".join(("cp", "ep", *order)),
            "micro_batches": max(1, SEQUENCES * tp * pp // GPUS),
        }
        cluster = {"base": CARD["cluster"], "nic_gbit_per_s": NICS[int(self.values["nic"])], "oversubscription": ratio}
        try:
            return estimate(scenario_from({**CARD, "cluster": cluster, "layout": layout}))
        except Refusal as refusal:
            raise _as_knob(refusal, tp, pp) from None

    @cached_property
    def plain(self) -> Estimate:
        return self.made(self.order)

    @cached_property
    def floor(self) -> Floor:
        return floor_of(self.cluster, GPUS, 54, 4, 478, 300)

    @property
    def cluster(self) -> Cluster:
        return self.plain.scenario.cluster

    def groups(self, axis: Axis) -> Term:
        return groups_of_axis.explain(f"{axis.upper()} groups", g=GPUS, n=self.plain.step.placement.degree(axis))

    @cached_property
    def rank(self) -> Term:
        """Your rank, made of your places on the three axes."""
        placed = self.plain.step.placement
        t, x, y = (placed.coordinates(self.you)[axis] for axis in self.order)
        first, second, _ = self.order
        return rank_in_grid.explain("your rank", t=t, x=x, y=y, T=placed.degree(first), X=placed.degree(second))

    def lost_node(self) -> range:
        return self.floor.ranks_of(self.floor.node_of(self.you))


def _as_knob(refusal: Refusal, tp: int, pp: int) -> Refusal:
    """The engine's refusal, about a knob of this scene."""
    field = refusal.field.rpartition(".")[2]
    if field == "tp":
        return Refusal("tp", tp, refusal.rule, refusal.nearest)
    works = [stages for stages in divisors(max(1, GPUS // tp)) if stages <= MOST_STAGES]
    rule = f"{refusal.field} = {refusal.value}: {refusal.rule}" if field == "gpus" else refusal.rule
    return Refusal("pp", pp, rule, beside(pp, works))


def traffic_s(made: Estimate, axis: str) -> float:
    """Time of all collectives of an axis in a step, hidden or not.   [s]"""
    return sum(c.seconds.value for c in made.step.communication if c.axis == axis)


def longest(made: Estimate, axis: str) -> Collective | None:
    """The collective of an axis that takes longest."""
    return max((c for c in made.step.communication if c.axis == axis), key=lambda c: c.each_s, default=None)


def ratio_text(narrow: float) -> str:
    """How many times wider the wires below the leaves are than those above."""
    return f"{narrow:g}:{1}"


def stage_of(placed: Placement, rank: int) -> int:
    return rank // placed.stride("pp") % placed.degree("pp")


def unit_names(floor: Floor) -> list[str]:
    return [f"unit {unit}" for unit in range(floor.units)]


def stages_of_units(floor: Floor, placed: Placement) -> list[str]:
    """Which stages each unit holds."""
    names, each = [], GPUS // floor.units
    for unit in range(floor.units):
        held = sorted({stage_of(placed, rank) for rank in range(unit * each, (unit + 1) * each)})
        names.append(f"stage {held[0]}" if len(held) == 1 else f"stages {held[0]}–{held[-1]}")
    return names


def waiting(case: Case) -> Term:
    placed, dead = case.plain.step.placement, case.lost_node()
    ranks = {rank for axis in case.order for one in dead for rank in placed.group(axis, one)} | set(dead)
    return waiting_gpus.explain("waiting at once", m=len(ranks), n=len(dead))


def question(values: Values) -> Question:
    case = Case(values)
    wire = case.plain.step.placement.reach("dp").wire
    wires = ("nvlink", "leaf", "spine", "none")
    return Question(
        ask=f"Rank order {', '.join(axis.upper() for axis in case.order)}: which way do the gradients of one GPU travel?",
        options=(
            "NVLink only",
            "one leaf switch, its rail's",
            "leaf, spine, leaf",
            "nowhere: nobody else holds these weights",
        ),
        right=wires.index(wire),
        because="What stands between two DP peers in the rank order decides how far apart they are on the floor.",
    )


def numbers(values: Values) -> tuple[Term, ...]:
    case = Case(values)
    made = case.made(case.order, case.narrow)
    traffic = [c for axis in case.order if (c := longest(made, axis))]
    cluster = case.cluster
    return (
        *(case.groups(axis) for axis in case.order),
        case.rank,
        node_bytes_per_s.explain("NICs of a node", n=cluster.gpus_per_node, B=cluster.nic_bytes_per_s),
        wire_ratio.explain("NVLink over NIC", V=cluster.gpu.nvlink_bytes_per_s, B=cluster.nic_bytes_per_s),
        *(replace(c.sent, label=f"{c.what}, bytes each") for c in traffic),
        *(replace(c.seconds, label=f"{c.what}, time in all, hidden or not") for c in traffic),
        made.step.seconds,
        made.mfu.six_n,
        made.fullest.total,
        waiting(case),
    )


def misconceptions(values: Values) -> tuple[Misconception, ...]:
    case = Case(values)
    inner, outer = (case.made(order, case.narrow) for order in ORDERS)
    hop, cluster = longest(inner, "pp"), case.cluster
    node = node_bytes_per_s(cluster.gpus_per_node, cluster.nic_bytes_per_s)
    sends = (
        f"A hand-over is {bytes_text(hop.payload_bytes)} and {seconds_text(hop.each_s)} on a spine of {ratio_text(case.narrow)}; of all "
        f"in a step {seconds_text(inner.step.exposed_on('pp'))} of {inner.step.seconds.text} show."
        if hop
        else "With one stage there is none; with more, a hand-over is one layer's activations, and others compute meanwhile."
    )
    dp = (
        f"In the middle its traffic takes {seconds_text(traffic_s(inner, 'dp'))}, outermost on a spine of {ratio_text(case.narrow)} "
        f"{seconds_text(traffic_s(outer, 'dp'))}."
        if longest(inner, "dp")
        else "Here it has nothing to send; with more copies, the middle place keeps gradients near."
    )
    return (
        Misconception("DP must be the outermost axis.", dp),
        Misconception("The pipeline needs the fast link.", sends),
        Misconception(
            "One NIC feeds a node.",
            f"Each GPU has its own: {cluster.gpus_per_node} of {bytes_text(cluster.nic_bytes_per_s)}/s make {bytes_text(node)}/s a node.",
        ),
    )
