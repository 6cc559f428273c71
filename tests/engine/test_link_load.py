"""Bytes and flows on every link, counted again with plain loops over groups; and what the card's two rank orders load."""

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.accounts.ledger import AxisRow, wire_ledger
from engine.catalog.hardware import cluster_named
from engine.estimate import Estimate
from engine.findings import findings_of
from engine.layout.layout import AXES, Layout
from engine.network.fabric import Fabric
from engine.network.issued import Collective
from engine.network.link_load import LinkLoad, busy_share, load_of, uplink_share
from engine.network.payloads import parameter_payload_bytes
from engine.network.placement import Members, Placement
from tests.engine.conftest import Ask

AXIS_OF = {"data": "dp", "shard": "dp", "replica": "dp", "expert-data": "dp"}
RINGS = ("all_gather", "reduce_scatter", "all_reduce")
TOTAL = 2 * 96.0  # sent by a rank in the two collectives of a step that these tests count   [bytes]

Tally = defaultdict[int, float]  # by GPU or leaf; what is not in it is 0


def tally() -> Tally:
    return defaultdict(float)


@dataclass
class Counted:
    """What plain loops put on the links: bytes by GPU or leaf, and for every NIC what part of its bytes goes up."""

    nvlink: Tally = field(default_factory=tally)
    nic: Tally = field(default_factory=tally)
    uplink: Tally = field(default_factory=tally)
    risen: Tally = field(default_factory=tally)

    def send(self, fabric: Fabric, source: int, target: int, sent: float, nics: list[int] | None = None) -> None:
        """Bytes from one GPU to another, leaving the node over these NICs in equal parts."""
        if source // fabric.gpus_per_node == target // fabric.gpus_per_node:
            self.nvlink[source] += sent
            return
        for nic in nics or [source]:
            part = sent / len(nics or [source])
            self.nic[nic] += part
            if source // fabric.gpus_per_unit != target // fabric.gpus_per_unit:
                self.risen[nic] += part
                self.uplink[leaf(fabric, nic)] += part

    def flows(self, fabric: Fabric) -> Tally:
        found = tally()
        for nic, part in self.risen.items():
            found[leaf(fabric, nic)] += part / self.nic[nic]
        return found


def leaf(fabric: Fabric, rank: int) -> int:
    """Units one after another; in a unit a leaf for each rail, which a node's GPUs take in turn, or one for all."""
    unit, place = rank // fabric.gpus_per_unit, rank % fabric.gpus_per_node
    rails = fabric.cluster.rails or fabric.gpus_per_node
    return unit * rails + place % rails if fabric.cluster.wiring == "rails" else unit


def groups_of(placed: Placement, members: Members) -> list[list[int]]:
    """Ranks that agree on every coordinate but those of this kind of group."""
    experts = members in ("ep", "expert-data")
    joined = {"data": {"dp", "cp"}, "shard": {"dp", "cp"}, "replica": {"dp", "cp"}, "expert-data": {"dp"}}
    found: dict[Any, list[int]] = defaultdict(list)
    for rank in range(placed.gpus):
        at = (placed.experts if experts else placed.dense).coordinates(rank)
        found[tuple(place for axis, place in at.items() if axis not in joined.get(members, {members}))].append(rank)
    width = placed.layout.shard_width
    if members == "shard":
        return [group[at : at + width] for group in found.values() for at in range(0, len(group), width)]
    if members == "replica":
        return [group[at::width] for group in found.values() for at in range(width)]
    return list(found.values())


def ring(group: list[int], fabric: Fabric, counted: Counted) -> None:
    """As many rings as a node has ranks of the group: each leaves over another NIC, and carries its part of the bytes."""
    nodes = [list(held) for _, held in groupby(group, key=lambda rank: rank // fabric.gpus_per_node)]
    for place, held in enumerate(nodes):
        following = nodes[(place + 1) % len(nodes)]
        inside = TOTAL * len(held) if len(nodes) == 1 else TOTAL * (len(held) - 1)
        for rank in held:
            counted.send(fabric, rank, rank, inside / len(held))  # every ring passes all but one of them inside
        if len(nodes) > 1:
            counted.send(fabric, held[0], following[0], TOTAL, nics=held)


def everyone(group: list[int], fabric: Fabric, counted: Counted) -> None:
    for source in group:
        for target in group:
            if source != target:
                counted.send(fabric, source, target, TOTAL / (len(group) - 1))


def sends(group: list[int], fabric: Fabric, counted: Counted, step: int, closed: bool) -> None:
    """One direction of the sends between stages: half of the bytes; interleaved, the last stage sends to the first."""
    for place, source in enumerate(group):
        if closed or 0 <= place + step < len(group):
            counted.send(fabric, source, group[(place + step) % len(group)], TOTAL / 2)


def same(load: LinkLoad, fabric: Fabric, counted: Counted, flows: Tally) -> None:
    for given_, again, links in (
        (load.nvlink_bytes, counted.nvlink, fabric.gpus),
        (load.nic_bytes, counted.nic, fabric.gpus),
        (load.uplink_bytes, counted.uplink, fabric.leaves),
        (load.flows, flows, fabric.leaves),
    ):
        assert given_.shape == (links,)
        np.testing.assert_allclose(given_, [again[link] for link in range(links)], atol=1e-6)


def issued(placed: Placement, members: Members, op: str) -> Collective:
    """Two collectives of 96 bytes sent by each rank."""
    reach = placed.reach(members)
    share = 2 * (reach.size - 1) / reach.size if op == "all_reduce" else (reach.size - 1) / reach.size
    payload = 96.0 if op == "send" else 96.0 / share if share else 0.0
    buffer = parameter_payload_bytes.explain(b=1, P=payload)
    return Collective(AXIS_OF.get(members, members), op, "asked", buffer, 2, reach, 1.0, 1.0)


@st.composite
def placements(draw: st.DrawFn) -> Placement:
    """16 to 256 ranks in any order of the axes, on small units of rails or racks; nodes and units may be half full."""
    degree = st.sampled_from([1, 2, 4])
    tp, cp, pp = draw(st.sampled_from([1, 2, 4, 8, 16])), draw(degree), draw(degree)
    fewest, most = -(-16 // (tp * cp * pp)), max(1, 128 // (tp * cp * pp))
    dp = draw(st.integers(fewest, max(fewest, most)))
    ep = draw(st.sampled_from([n for n in (1, 2, 4, 8, 16) if dp * cp * tp % n == 0]))
    shard = draw(st.sampled_from([None, *(n for n in (2, 4, 8) if dp * cp % n == 0)]))
    layout = Layout(
        tp=tp,
        cp=cp,
        ep=ep,
        pp=pp,
        dp=dp,
        rank_order="-".join(draw(st.permutations(AXES))),
        zero=3 if shard else 1,
        hsdp_shard=shard,
        vp=draw(st.sampled_from([1, 2])),
        schedule="interleaved",
    )
    changes = {
        "nodes_per_unit": draw(st.sampled_from([2, 4])),
        "wiring": draw(st.sampled_from(["rails", "rack"])),
        "rails": draw(st.sampled_from([None, 3, 4])),
    }
    return Placement(layout, cluster_named("hgx-h100").model_copy(update=changes), tp * cp * pp * dp)


def fabric_of(placed: Placement) -> Fabric:
    return Fabric(placed.cluster, placed.gpus)


@settings(max_examples=200)
@given(
    placed=placements(),
    members=st.sampled_from(["tp", "dp", "data", "shard", "replica", "expert-data"]),
    op=st.sampled_from(RINGS),
)
def test_rings_load_the_links_that_a_loop_over_groups_counts(placed: Placement, members: Members, op: str) -> None:
    fabric, counted = fabric_of(placed), Counted()
    for group in groups_of(placed, members):
        if len(group) > 1:
            ring(group, fabric, counted)
    same(load_of(issued(placed, members, op), placed, fabric), fabric, counted, counted.flows(fabric))


@settings(max_examples=200)
@given(placed=placements())
def test_an_all_to_all_loads_the_links_that_a_loop_over_pairs_counts(placed: Placement) -> None:
    fabric, counted = fabric_of(placed), Counted()
    for group in groups_of(placed, "ep"):
        everyone(group, fabric, counted)
    same(load_of(issued(placed, "ep", "all_to_all"), placed, fabric), fabric, counted, counted.flows(fabric))


@settings(max_examples=200)
@given(placed=placements())
def test_sends_between_stages_load_the_links_that_a_loop_over_neighbours_counts(placed: Placement) -> None:
    """Forward and backward flows do not meet: the more of the two counts."""
    fabric, both, flows = fabric_of(placed), Counted(), tally()
    for step in (1, -1) if placed.layout.pp > 1 else ():
        one_way = Counted()
        for group in groups_of(placed, "pp"):
            sends(group, fabric, one_way, step, closed=placed.layout.vp > 1)
        for whole, part in ((both.nvlink, one_way.nvlink), (both.nic, one_way.nic), (both.uplink, one_way.uplink)):
            for link, sent in part.items():
                whole[link] += sent
        for link, flow in one_way.flows(fabric).items():
            flows[link] = max(flows[link], flow)
    same(load_of(issued(placed, "pp", "send"), placed, fabric), fabric, both, flows)


KINDS: list[tuple[Members, str]] = [
    *((members, op) for members in ("tp", "data", "shard", "replica", "expert-data") for op in RINGS),
    ("ep", "all_to_all"),
    ("cp", "send"),
]


@settings(max_examples=200)
@given(placed=placements(), kind=st.sampled_from(KINDS))
def test_what_all_links_carry_is_what_all_gpus_send(placed: Placement, kind: tuple[Members, str]) -> None:
    collective = issued(placed, *kind)
    load = load_of(collective, placed, fabric_of(placed))
    sent = collective.sent.value * collective.count * placed.gpus if collective.reach.size > 1 else 0.0
    assert load.nvlink_bytes.sum() + load.nic_bytes.sum() == pytest.approx(sent)
    assert load.uplink_bytes.sum() <= load.nic_bytes.sum() * (1 + 1e-9)


@settings(max_examples=200)
@given(placed=placements())
def test_the_ends_of_a_pipeline_send_half_unless_chunks_join_them(placed: Placement) -> None:
    pp, load = placed.layout.pp, load_of(issued(placed, "pp", "send"), placed, fabric_of(placed))
    hops = 0 if pp == 1 else pp if placed.layout.vp > 1 else pp - 1
    assert load.nvlink_bytes.sum() + load.nic_bytes.sum() == pytest.approx(placed.gpus // pp * hops * TOTAL)


@settings(max_examples=200)
@given(placed=placements(), kind=st.sampled_from([*KINDS, ("pp", "send")]))
def test_a_wire_that_no_group_crosses_carries_nothing(placed: Placement, kind: tuple[Members, str]) -> None:
    collective, fabric = issued(placed, *kind), fabric_of(placed)
    load, wire = load_of(collective, placed, fabric), collective.reach.wire
    assert bool(load.nic_bytes.any()) == (wire in ("leaf", "spine"))
    assert bool(load.uplink_bytes.any()) == bool(load.flows.any()) == (wire == "spine")
    assert wire != "none" or not load.nvlink_bytes.any()
    assert load.flows.max() <= fabric.nics_per_leaf + 1e-9


# the card: 70B on 1,024 H100, TP 8, PP 4, DP 32, units of 256 GPUs on 8 rails


def rows(result: Estimate) -> dict[str, AxisRow]:
    return {row.axis: row for row in wire_ledger(result)}


def test_the_card_has_128_tp_256_pp_and_32_dp_groups_in_its_ledger(card: Estimate) -> None:
    assert {axis: row.groups.value for axis, row in rows(card).items()} == {"tp": 128, "dp": 32, "pp": 256}


def test_with_pp_last_gradients_stay_under_their_leaves_and_32_sends_a_leaf_go_up(card: Estimate) -> None:
    dp, pp = rows(card)["dp"], rows(card)["pp"]
    assert (dp.reach.wire, dp.uplink_bytes, dp.load.flows.max(), dp.uplinks.value) == ("leaf", 0, 0, 0)
    assert pp.reach.wire == "spine"
    assert (pp.load.flows == 32).all()
    assert dp.nic_bytes == pytest.approx(dp.sent_bytes)  # one rank of a group in a node: all it sends leaves
    assert "dp-crosses-spine" not in {finding.code for finding in findings_of(card)}


def test_with_dp_last_four_gradient_flows_a_leaf_go_up_and_the_finding_says_how_much(ask: Ask) -> None:
    """8 stages of 4 nodes each in a unit, so a unit has 8 ranks of a DP group: on one rail, 4 stages send from the last."""
    swapped = ask(rank_order="tp-cp-ep-pp-dp")
    dp, pp = rows(swapped)["dp"], rows(swapped)["pp"]
    assert (dp.reach.wire, pp.reach.wire, pp.uplink_bytes) == ("spine", "leaf", 0)
    assert (dp.load.flows == 4).all()
    assert dp.load.uplink_bytes == pytest.approx(4 * dp.sent_bytes)
    finding = next(finding for finding in findings_of(swapped) if finding.code == "dp-crosses-spine")
    assert f"{dp.uplink_bytes / 1e9:.1f} GB rise from each leaf switch" in finding.why
    assert f"{dp.sent_bytes / 1e9:.1f} GB per GPU and step" in finding.why
    assert [candidate.change for candidate in finding.candidates] == [{"rank_order": "tp-cp-ep-dp-pp"}]


@pytest.mark.parametrize(("oversubscription", "share"), [(1, 1.0), (2, 2.0), (4, 4.0)])
def test_sends_fill_a_leafs_uplinks_at_1_to_1_and_need_twice_of_them_at_2_to_1(
    ask: Ask, oversubscription: float, share: float
) -> None:
    row = rows(ask(cluster={"base": "hgx-h100", "oversubscription": oversubscription}))["pp"]
    assert row.uplinks.value == share == uplink_share(f=32, n=32, o=oversubscription)
    assert row.alone_s == pytest.approx(row.seconds)  # all 32 at once: nobody gets more than is sure


def test_two_kinds_of_traffic_add_their_bytes_and_the_larger_of_their_flows(ask: Ask) -> None:
    swapped = ask(rank_order="tp-cp-ep-pp-dp")
    row, placed = rows(swapped)["dp"], swapped.step.placement
    parts = [load_of(collective, placed, row.fabric) for collective in row.collectives]
    assert len(parts) == 2
    assert row.uplink_bytes == pytest.approx(sum(float(part.uplink_bytes.max()) for part in parts))
    assert row.load.flows.max() == 4


def test_a_link_is_busy_for_its_bytes_over_its_bandwidth(card: Estimate) -> None:
    for row in wire_ledger(card):
        assert row.busy_nic.value == pytest.approx(row.nic_bytes / 50e9 / card.step.seconds.value)
        assert row.busy_nvlink.value == busy_share(b=row.nvlink_bytes, B=450e9, s=card.step.seconds.value)
        assert row.busy_uplink.value == pytest.approx(row.uplink_bytes / (32 * 50e9) / card.step.seconds.value)
