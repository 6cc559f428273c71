"""Where ranks stand and which wires a group crosses."""

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.catalog.hardware import Cluster, cluster_from, cluster_named
from engine.layout.layout import Layout
from engine.network.placement import Placement

H100 = cluster_named("hgx-h100")


def placed(gpus: int = 1024, cluster: Cluster = H100, **layout: Any) -> Placement:
    return Placement(Layout(**layout).on_gpus(gpus), cluster, gpus)


def test_a_rank_is_tp_plus_8_times_dp_plus_32_pp() -> None:
    """The scene of the 3D layout: rank = tp + 8(dp + 32 pp)."""
    card = placed()
    for rank in (0, 7, 8, 255, 256, 1023):
        at = card.coordinates(rank)
        assert rank == at["tp"] + 8 * (at["dp"] + 32 * at["pp"])


def test_the_card_has_128_tp_256_pp_and_32_dp_groups() -> None:
    card = placed()
    groups = {axis: {tuple(card.group(axis, rank)) for rank in range(1024)} for axis in ("tp", "pp", "dp")}
    assert {axis: len(found) for axis, found in groups.items()} == {"tp": 128, "pp": 256, "dp": 32}


def test_tp_fills_a_node_dp_stays_under_a_leaf_and_pp_crosses_the_spine() -> None:
    card = placed()
    assert card.reach("tp").wire == "nvlink"
    assert card.reach("dp").wire == "leaf"
    assert card.reach("pp").wire == "spine"


def test_with_pipeline_stages_side_by_side_dp_crosses_the_spine() -> None:
    swapped = placed(rank_order="tp-cp-ep-pp-dp")
    assert swapped.reach("dp").wire == "spine"
    assert swapped.reach("pp").wire == "leaf"


def test_tp_16_leaves_a_node_of_8_and_fits_a_domain_of_72() -> None:
    assert placed(tp=16, pp=4).reach("tp").leaves_node
    nvl = cluster_from({"base": "gb200-nvl72", "gpus_per_node": 64})
    assert not placed(cluster=nvl, tp=16, pp=4).reach("tp").leaves_node


def test_a_group_that_straddles_two_domains_leaves_them() -> None:
    """16 does not divide 72: the fifth group of 16 lies in two racks."""
    assert placed(gpus=144, cluster=cluster_named("gb200-nvl72"), tp=16, pp=1).reach("tp").leaves_node


def test_degree_one_reaches_nothing() -> None:
    one = placed(gpus=1, tp=1, pp=1)
    assert all(one.reach(axis).wire == "none" for axis in ("tp", "cp", "ep", "dp", "pp"))


def test_experts_spread_over_neighbours() -> None:
    experts = placed(gpus=64, tp=1, pp=1, ep=8)
    assert experts.group("ep", 3) == list(range(8))
    assert experts.reach("ep").wire == "nvlink"


@given(
    tp=st.sampled_from([1, 2, 4, 8]),
    cp=st.sampled_from([1, 2]),
    pp=st.sampled_from([1, 2, 4]),
    dp=st.integers(1, 8),
    order=st.permutations(["tp", "cp", "ep", "dp", "pp"]),
    rank=st.integers(0, 10_000),
)
def test_the_groups_of_an_axis_deal_out_all_ranks(
    tp: int, cp: int, pp: int, dp: int, order: list[str], rank: int
) -> None:
    gpus = tp * cp * pp * dp
    there = placed(gpus, tp=tp, cp=cp, pp=pp, dp=dp, rank_order="-".join(order))
    rank %= gpus
    for axis in ("tp", "cp", "dp", "pp"):
        group = there.group(axis, rank)
        assert len(set(group)) == there.degree(axis)
        assert rank in group
        assert all(0 <= member < gpus for member in group)
        others = [{**there.coordinates(member), axis: 0} for member in group]
        assert all(other == others[0] for other in others)


@given(
    tp=st.sampled_from([1, 2, 4, 8, 16]),
    pp=st.sampled_from([1, 2, 4]),
    dp=st.integers(1, 40),
    order=st.permutations(["tp", "cp", "ep", "dp", "pp"]),
)
def test_the_wire_is_the_farthest_any_group_crosses(tp: int, pp: int, dp: int, order: list[str]) -> None:
    """Counted over all groups, which is what the closed form saves."""
    gpus = tp * pp * dp
    there = placed(gpus, tp=tp, pp=pp, dp=dp, rank_order="-".join(order))
    node, unit = H100.gpus_per_node, H100.gpus_per_node * H100.nodes_per_unit
    for axis in ("tp", "dp", "pp"):
        groups = [there.group(axis, rank) for rank in range(gpus)]
        reach = there.reach(axis)
        if reach.size == 1:
            continue
        in_nodes = all(len({member // node for member in group}) == 1 for group in groups)
        in_units = all(len({member // unit for member in group}) == 1 for group in groups)
        assert (reach.wire == "nvlink") == in_nodes, axis
        assert (reach.wire == "spine") == (not in_units), axis
        together = [Counter(member // node for member in group) for group in groups]
        assert reach.nodes == max(len(held) for held in together), axis
        apart = [min(held.values()) for held in together if len(held) > 1]
        assert reach.local == min(apart, default=reach.size), axis
