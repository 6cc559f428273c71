"""The network as it is built: nodes, units, leaves, and which leaf every NIC hangs on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.catalog.hardware import cluster_named, cluster_names
from engine.network.fabric import Fabric

H100 = cluster_named("hgx-h100")
ROCE = cluster_named("hgx-h100-roce")
NODES = (1, 2, 31, 33, 128, 1820, 16_384)  # 16,384 nodes of 8 are 131,072 GPUs; 1,820 racks of 72 are 131,040
each_size = pytest.mark.parametrize(
    ("name", "nodes"),
    [
        (name, nodes)
        for name in cluster_names()
        for nodes in NODES
        if nodes * cluster_named(name).gpus_per_node <= 131_072
    ],
)


def built(name: str, nodes: int) -> Fabric:
    cluster = cluster_named(name)
    return Fabric(cluster, nodes * cluster.gpus_per_node)


@each_size
def test_nodes_units_and_leaves_are_those_that_the_gpus_stand_in(name: str, nodes: int) -> None:
    fabric = built(name, nodes)
    ranks = np.arange(fabric.gpus)
    counted = [np.unique(place(ranks)).tolist() for place in (fabric.node_of, fabric.unit_of, fabric.leaf_of)]
    assert counted == [list(range(count)) for count in (fabric.nodes, fabric.units, fabric.leaves)]
    assert fabric.nodes == nodes
    assert fabric.units == -(-nodes // fabric.cluster.nodes_per_unit)


@each_size
def test_every_leaf_of_a_full_unit_has_all_its_nics(name: str, nodes: int) -> None:
    """The last unit, where it is not full, has as many fewer on each leaf."""
    fabric = built(name, nodes)
    hanging = np.bincount(fabric.leaf_of(np.arange(fabric.gpus)), minlength=fabric.leaves)
    full = fabric.gpus // fabric.gpus_per_unit * fabric.leaves_per_unit
    assert (hanging[:full] == fabric.nics_per_leaf).all()
    assert (hanging[full:] < fabric.nics_per_leaf).all()
    assert len(set(hanging[full:].tolist())) <= 1
    assert fabric.nics_per_leaf * fabric.leaves_per_unit == fabric.gpus_per_unit


def test_the_cards_cluster_has_4_units_of_8_rails_with_32_nics_each() -> None:
    """DGX SuperPOD H100: scalable units of 32 nodes, 8 leaf switches a unit."""
    fabric = built("hgx-h100", 128)
    assert (fabric.gpus_per_unit, fabric.units, fabric.leaves, fabric.nics_per_leaf) == (256, 4, 32, 32)


def test_llama_3s_racks_have_one_switch_for_16_gpus() -> None:
    """Llama 3 (2407.21783), section 3.3.1: two servers a rack, under one top-of-rack switch."""
    fabric = built("hgx-h100-roce", 128)
    assert (fabric.gpus_per_unit, fabric.units, fabric.leaves, fabric.nics_per_leaf) == (16, 64, 64, 16)


@pytest.mark.parametrize(
    ("rank", "leaf"), [(0, 0), (7, 7), (8, 0), (255, 7), (256, 8), (300, 12), (511, 15), (1023, 31)]
)
def test_on_rails_gpu_i_of_a_node_hangs_on_leaf_i_of_its_unit(rank: int, leaf: int) -> None:
    fabric = Fabric(H100, 1024)
    assert fabric.leaf_of(rank) == leaf
    assert fabric.rail_of(rank) == rank % 8 == leaf % 8


@pytest.mark.parametrize(("rank", "leaf"), [(0, 0), (3, 3), (4, 0), (71, 3), (72, 0), (575, 3), (576, 4)])
def test_the_72_gpus_of_a_rack_take_turns_on_its_four_rails(rank: int, leaf: int) -> None:
    """A tray has four GPUs and four NICs: NIC i of every tray of eight racks hangs on leaf i."""
    fabric = built("gb200-nvl72", 16)
    assert fabric.leaf_of(rank) == leaf
    assert (fabric.units, fabric.leaves, fabric.nics_per_leaf) == (2, 8, 18 * 8)


def test_rails_that_do_not_divide_a_nodes_gpus_leave_some_leaves_a_nic_a_node_short() -> None:
    fabric = Fabric(H100.model_copy(update={"rails": 3}), 512)
    assert np.bincount(fabric.leaf_of(np.arange(512))).tolist() == 2 * [96, 96, 64]
    assert fabric.nics_per_leaf == 96


@pytest.mark.parametrize(("rank", "leaf"), [(0, 0), (7, 0), (8, 0), (15, 0), (16, 1), (31, 1), (1023, 63)])
def test_in_racks_all_gpus_of_a_unit_hang_on_its_one_leaf(rank: int, leaf: int) -> None:
    fabric = Fabric(ROCE, 1024)
    assert fabric.leaf_of(rank) == leaf
    assert fabric.rail_of(rank) == 0


def test_the_same_cluster_wired_otherwise_has_the_same_units_and_as_many_nics() -> None:
    rails, rack = (Fabric(H100.model_copy(update={"wiring": wiring}), 1024) for wiring in ("rails", "rack"))
    assert (rails.units, rails.leaves, rails.nics_per_leaf) == (4, 32, 32)
    assert (rack.units, rack.leaves, rack.nics_per_leaf) == (4, 4, 256)


@pytest.mark.parametrize(("oversubscription", "uplinks"), [(1, 32), (2, 16), (4, 8), (64, 0.5)])
def test_oversubscription_leaves_fewer_uplinks_than_nics(oversubscription: float, uplinks: float) -> None:
    cluster = H100.model_copy(update={"oversubscription": oversubscription})
    assert Fabric(cluster, 1024).uplinks_per_leaf == uplinks


@given(gpus=st.integers(1, 3000), wiring=st.sampled_from(["rails", "rack"]))
def test_nodes_hold_every_gpu_once_and_the_last_may_not_be_full(gpus: int, wiring: str) -> None:
    fabric = Fabric(H100.model_copy(update={"wiring": wiring}), gpus)
    held = [rank for node in range(fabric.nodes) for rank in fabric.ranks_of(node)]
    assert held == list(range(gpus))
    assert 0 < len(fabric.ranks_of(fabric.nodes - 1)) <= 8
    assert fabric.unit_of(gpus - 1) == fabric.units - 1
    assert fabric.leaf_of(gpus - 1) < fabric.leaves


def test_a_last_unit_of_one_node_has_its_leaves_too() -> None:
    fabric = Fabric(H100, 1032)
    assert (fabric.nodes, fabric.units, fabric.leaves) == (129, 5, 40)
    assert list(fabric.ranks_of(128)) == list(range(1024, 1032))
    assert [fabric.leaf_of(rank) for rank in fabric.ranks_of(128)] == list(range(32, 40))


def test_a_run_smaller_than_a_node_stands_in_one() -> None:
    fabric = Fabric(cluster_named("gb200-nvl72"), 4)
    assert (fabric.nodes, fabric.units, list(fabric.ranks_of(0))) == (1, 1, [0, 1, 2, 3])
