"""Time of a collective on the wires it crosses: rings and hierarchies, a narrower spine, and a NIC that two axes share."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.accounts.ledger import wire_ledger
from engine.catalog.calibration import fitted_calibration
from engine.catalog.hardware import Cluster, cluster_named
from engine.compute.work import Work, layer_work
from engine.network.collectives import flat_ring_s, hierarchical_s
from engine.network.communication import Traffic
from engine.network.issued import Collective, LayerTraffic
from engine.network.links import SENT, collective_s, send_time_s, way_of
from engine.network.placement import Reach, Wire
from engine.scenario import scenario_from
from tests.engine.conftest import Ask, Document

KNOWN = fitted_calibration()
H100 = cluster_named("hgx-h100")
RINGS = ("all_gather", "reduce_scatter", "all_reduce")
OVER = (1.0, 1.5, 2.0, 4.0, 8.0)  # leaf bandwidth down over up
sizes = st.floats(1, 1e11)  # bytes


def over(nodes: int, local: int, wire: Wire = "leaf", lost: int = 0) -> Reach:
    """A group with so many ranks in each of its nodes, the last one short of some."""
    return Reach(nodes * local - lost, local - lost, nodes, wire, "dp", even=not lost)


def narrowed(by: float) -> Cluster:
    return H100.model_copy(update={"oversubscription": by})


@dataclass(frozen=True)
class Both:
    """Half an all-reduce by each way, with the wires of an H100 that the calibration gives.   [s]"""

    ring: float
    hierarchical: float


def both(payload: float, nodes: int, local: int, nic: float = 50e9) -> Both:
    inside, nic = KNOWN.factor("nvlink_share") * 450e9, KNOWN.factor("nic_share") * nic
    hops = {"a": KNOWN.factor("node_hop_s"), "b": KNOWN.factor("local_hop_s")}
    return Both(
        ring=flat_ring_s(S=payload, N=nodes, l=local, B=min(inside, local * nic), **hops),
        hierarchical=hierarchical_s(S=payload, N=nodes, l=local, V=inside, B=nic, **hops),
    )


@pytest.mark.parametrize("local", [2, 4, 8])
@pytest.mark.parametrize("nodes", [16, 32, 128])
def test_two_levels_win_for_small_buffers_over_many_nodes_and_the_ring_for_large_ones(nodes: int, local: int) -> None:
    """A ring over N x l ranks hops N (l-1) times inside nodes, two levels l-1 times; but their bytes follow each other."""
    assert way_of("all_gather", 64e3, over(nodes, local), H100, KNOWN) == "hierarchical"
    assert way_of("all_gather", 16e9, over(nodes, local), H100, KNOWN) == "ring"
    ways = [way_of("all_gather", 2.0**power, over(nodes, local), H100, KNOWN) for power in range(10, 36)]
    assert sum(one != other for one, other in pairwise(ways)) == 1  # once the ring wins, it keeps winning


@given(
    payload=sizes,
    nodes=st.integers(2, 200),
    local=st.integers(1, 8),
    op=st.sampled_from(RINGS),
    by=st.sampled_from(OVER),
)
def test_a_collective_takes_the_shorter_of_the_two_ways(
    payload: float, nodes: int, local: int, op: str, by: float
) -> None:
    reach, cluster = over(nodes, local, "spine"), narrowed(by)
    times = both(payload, nodes, local, 50e9 / by)
    shorter = min(times.ring, times.hierarchical) if local > 1 else times.ring
    assert collective_s(op, payload, reach, cluster, KNOWN) == pytest.approx((2 if op == "all_reduce" else 1) * shorter)
    if abs(times.ring - times.hierarchical) > 1e-9 * times.ring:
        assert way_of(op, payload, reach, cluster, KNOWN) == min(vars(times), key=lambda way: vars(times)[way])


@given(payload=sizes, nodes=st.integers(2, 200))
def test_groups_with_one_rank_a_node_have_no_hierarchy(payload: float, nodes: int) -> None:
    assert way_of("all_gather", payload, over(nodes, 1), H100, KNOWN) == "ring"
    assert both(payload, nodes, 1).ring == pytest.approx(both(payload, nodes, 1).hierarchical)


@given(payload=sizes, nodes=st.integers(2, 50), local=st.integers(2, 8))
def test_nodes_that_hold_unequal_parts_of_a_group_are_joined_by_one_ring(
    payload: float, nodes: int, local: int
) -> None:
    uneven = over(nodes, local, lost=1)
    assert way_of("all_reduce", payload, uneven, H100, KNOWN) == "ring"
    assert collective_s("all_gather", payload, uneven, H100, KNOWN) > 0


def test_exchanges_and_sends_have_one_way() -> None:
    assert {way_of(op, 1e6, over(8, 8), H100, KNOWN) for op in ("all_to_all", "send")} == {"direct"}
    assert way_of("all_gather", 1e6, Reach(8, 8, 1, "nvlink", "tp"), H100, KNOWN) == "ring"


# More of anything is never faster


@pytest.mark.parametrize("wire", ["leaf", "spine"])
@given(payload=sizes, nodes=st.integers(2, 128), local=st.integers(1, 8), op=st.sampled_from([*SENT, "send"]))
def test_a_narrower_spine_slows_what_crosses_it_and_nothing_else(
    wire: Wire, payload: float, nodes: int, local: int, op: str
) -> None:
    reach = over(nodes, local, wire)
    times = [
        send_time_s(payload, reach, narrowed(by), KNOWN)
        if op == "send"
        else collective_s(op, payload, reach, narrowed(by), KNOWN)
        for by in OVER
    ]
    assert times == sorted(times)
    assert wire == "spine" or len(set(times)) == 1


@pytest.mark.parametrize("op", [*SENT, "send"])
@given(
    payload=sizes,
    more=st.floats(1, 100),
    nodes=st.integers(1, 128),
    local=st.integers(1, 8),
    wire=st.sampled_from(["leaf", "spine"]),
)
def test_time_never_falls_with_bytes(op: str, payload: float, more: float, nodes: int, local: int, wire: Wire) -> None:
    reach, cluster = over(nodes, local, wire if nodes > 1 else "nvlink" if local > 1 else "none"), narrowed(2)
    less, most = (
        send_time_s(size, reach, cluster, KNOWN) if op == "send" else collective_s(op, size, reach, cluster, KNOWN)
        for size in (payload, payload * more)
    )
    assert 0 <= less <= most * (1 + 1e-12)
    assert (less == 0) == (reach.size == 1)


STEPS: list[dict[str, Any]] = [
    {},
    {"rank_order": "tp-cp-ep-pp-dp"},
    {"rank_order": "pp-dp-tp-cp-ep"},
    {"cp": 4, "rank_order": "tp-dp-cp-ep-pp"},
    {"model": "llama-3-8b", "tp": 1, "pp": 1, "zero": 3},
    {"model": "llama-3-8b", "tp": 1, "pp": 1, "zero": 3, "hsdp_shard": 8},
    {"model": "mixtral-8x7b", "tp": 1, "pp": 2, "ep": 8, "rank_order": "tp-cp-dp-ep-pp"},
    {"schedule": "interleaved", "vp": 2},
]


@pytest.mark.parametrize("layout", STEPS, ids=str)
@pytest.mark.parametrize("base", ["hgx-h100", "hgx-h100-roce"])
def test_no_step_is_faster_with_a_narrower_spine(ask: Ask, base: str, layout: dict[str, Any]) -> None:
    results = [ask(**layout, cluster={"base": base, "oversubscription": by}) for by in OVER]
    steps = [result.step.seconds.value for result in results]
    assert all(one <= other * (1 + 1e-12) for one, other in pairwise(steps))
    for one, other in pairwise({c.what: c.each_s for c in result.step.communication} for result in results):
        assert all(one[what] <= other[what] for what in one.keys() | other.keys())


@pytest.mark.parametrize("layout", STEPS, ids=str)
@pytest.mark.parametrize("base", ["hgx-h100", "hgx-h100-roce"])
def test_alone_on_the_spine_nothing_takes_longer_than_is_sure_and_at_1_to_1_as_long(
    ask: Ask, base: str, layout: dict[str, Any]
) -> None:
    for by in OVER:
        for row in wire_ledger(ask(**layout, cluster={"base": base, "oversubscription": by})):
            assert row.alone_s <= row.seconds * (1 + 1e-12)
            if by == 1 or row.farthest.wire != "spine":
                assert row.alone_s == pytest.approx(row.seconds)


# One NIC for two axes: context parallelism and FSDP, both over nodes


def layer(document: Document, **changes: Any) -> tuple[Work, LayerTraffic]:
    """A layer of Llama 3 8B, its computation and its collectives, with sequences of 64k tokens on 256 GPUs."""
    asked = {
        "model": "llama-3-8b",
        "gpus": 256,
        "tp": 1,
        "pp": 1,
        "sequence_tokens": 65_536,
        "stack": "megatron",
        **changes,
    }
    scenario = scenario_from(document(**asked))
    traffic = Traffic(scenario.model, scenario.layout, scenario.cluster, scenario.machine, scenario.sequence_tokens)
    work = layer_work(scenario.model, scenario.layout, scenario.machine, scenario.sequence_tokens, False)
    return work, traffic.layer(work, False)


def hidden_s(collectives: tuple[Collective, ...]) -> float:
    """Time on the NIC that computation hides."""
    return sum(c.seconds.value - c.exposed.value for c in collectives if c.reach.leaves_node)


def shares(collectives: tuple[Collective, ...]) -> dict[str, float]:
    return {c.what: c.exposed_share for c in collectives}


APART, NEAR = "tp-dp-cp-ep-pp", "tp-cp-ep-dp-pp"  # the ranks of a CP group in different nodes, or side by side


@pytest.mark.parametrize("cp", [2, 4, 8, 16])
@pytest.mark.parametrize("nic", [25, 50, 100, 200, 400])
def test_what_two_axes_hide_on_one_nic_is_never_more_than_the_pass_computes(
    document: Document, cp: int, nic: int
) -> None:
    cluster = {"base": "hgx-h100", "nic_gbit_per_s": nic}
    work, both_axes = layer(document, cp=cp, zero=3, rank_order=APART, cluster=cluster)
    assert {c.axis for c in both_axes.all if c.reach.leaves_node} == {"cp", "dp"}
    assert hidden_s(both_axes.forward) <= work.forward * (1 + 1e-9)
    assert hidden_s(both_axes.backward) <= (work.backward_input + work.backward_weight) * (1 + 1e-9)
    assert all(0 <= c.exposed_share <= 1 for c in both_axes.all)


def test_two_axes_that_would_hide_more_than_the_pass_computes_fill_it_exactly(document: Document) -> None:
    """At 25 Gb/s gathers could hide beside the forward pass alone, but not with keys and values beside it as well."""
    slow = {"base": "hgx-h100", "nic_gbit_per_s": 25}
    work, both_axes = layer(document, cp=4, zero=3, rank_order=APART, cluster=slow)
    _, context = layer(document, cp=4, zero=1, rank_order=APART, cluster=slow)
    assert hidden_s(both_axes.forward) == pytest.approx(work.forward)
    assert shares(both_axes.forward)["CP keys and values"] > shares(context.forward)["CP keys and values"]
    assert both_axes.forward_s == pytest.approx(sum(c.seconds.value for c in both_axes.forward) - work.forward)


@pytest.mark.parametrize("nic", [25, 100, 400])
def test_an_axis_that_has_the_nic_to_itself_hides_as_much_as_it_can(document: Document, nic: int) -> None:
    """Each hop beside one block of attention; each gather beside the whole pass."""
    cluster = {"base": "hgx-h100", "nic_gbit_per_s": nic}
    work, context = layer(document, cp=4, zero=1, rank_order=APART, cluster=cluster)
    for c in context.all:
        assert c.exposed_share == pytest.approx(max(0, 1 - work.core / 4 / c.each_s))
    for order, cp in ((APART, 1), (NEAR, 4)):  # without CP, and with CP that stays on NVLink
        work, gathers = layer(document, cp=cp, zero=3, rank_order=order, cluster=cluster)
        (gather,) = (c for c in gathers.forward if c.axis == "dp")
        assert gather.exposed.value == pytest.approx(max(0, gather.each_s - work.forward))
        back = [c for c in gathers.backward if c.axis == "dp"]
        window = work.backward_input + work.backward_weight
        assert sum(c.exposed.value for c in back) == pytest.approx(max(0, sum(c.each_s for c in back) - window))


def test_what_travels_on_nvlink_is_neither_held_up_by_the_nic_nor_counted_on_it(document: Document) -> None:
    slow = {"base": "hgx-h100", "nic_gbit_per_s": 25}
    work, three_axes = layer(document, tp=2, cp=4, zero=3, rank_order=APART, cluster=slow)
    _, tensor = layer(document, tp=2, zero=1, cp=4, rank_order=NEAR, cluster=slow)
    assert hidden_s(three_axes.backward) == pytest.approx(work.backward_input + work.backward_weight)
    inside = [c for c in three_axes.all if not c.reach.leaves_node]
    assert {c.axis for c in inside} == {"tp"}
    assert shares(tuple(inside)) == {what: x for what, x in shares(tensor.all).items() if what.startswith("TP")}
