"""Ranks are dealt as Megatron-LM and torch deal them, in every order of the axes; orders without a meaning are refused."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import permutations
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.catalog.hardware import cluster_named
from engine.catalog.model import model_named
from engine.language.refusal import Refusal
from engine.layout.grid import Grid
from engine.layout.layout import AXES, Layout
from engine.layout.meaning import meaning_refusals
from engine.network.placement import Members, Placement
from engine.scenario import scenario_from
from tests.conftest import Framework
from tests.engine.conftest import Ask, RefusalOf

RANKS = 64
ORDERS = ["-".join(order) for order in permutations(AXES)]
MIXTRAL = model_named("mixtral-8x7b")
# each multiplies to 64 over the five axes of one grid; every axis is above 1 somewhere, and above 2
FIVE_AXES = [
    {"tp": 4, "cp": 2, "ep": 2, "dp": 2, "pp": 2},
    {"tp": 2, "cp": 1, "ep": 4, "dp": 2, "pp": 4},
    {"tp": 2, "cp": 4, "ep": 2, "dp": 4, "pp": 1},
]
LAYOUTS = [
    Layout(tp=2, cp=2, ep=4, pp=4, dp=4),
    Layout(tp=4, cp=1, ep=8, pp=2, dp=8),
    Layout(tp=1, cp=4, ep=2, pp=4, dp=4),
    Layout(tp=2, cp=4, ep=8, pp=1, dp=8),
    Layout(tp=8, cp=2, ep=1, pp=2, dp=2),
]
each_layout = pytest.mark.parametrize("layout", LAYOUTS, ids=lambda x: f"tp{x.tp}-cp{x.cp}-ep{x.ep}-dp{x.dp}-pp{x.pp}")


def in_order(order: str, degrees: dict[str, int]) -> Grid:
    return Grid(tuple((axis, degrees[axis]) for axis in order.split("-") if axis in degrees))


def placed(layout: Layout, order: str) -> Placement:
    return Placement(layout.model_copy(update={"rank_order": order}), cluster_named("hgx-h100"), RANKS)


# torch: a DeviceMesh, its slowest dimension first


@pytest.fixture(scope="module")
def torch_rank(framework: Framework) -> Iterator[int]:
    """This process as rank 39 of 64 that only exist on paper."""
    distributed = framework("torch.distributed")
    fake = framework("torch.testing._internal.distributed.fake_pg")
    distributed.init_process_group("fake", store=fake.FakeStore(), rank=39, world_size=RANKS)
    yield 39
    distributed.destroy_process_group()


def assert_torch_agrees(grid: Grid, rank: int) -> None:
    """Every place and every slice of the mesh, and what it tells this rank."""
    from torch.distributed import get_process_group_ranks
    from torch.distributed.device_mesh import init_device_mesh

    names = tuple(axis for axis, _ in grid.axes[::-1])
    mesh = init_device_mesh("cpu", tuple(grid.degree(axis) for axis in names), mesh_dim_names=names)
    table = mesh.mesh.numpy()
    assert grid.coordinates(rank) == dict(zip(names, mesh.get_coordinate() or (), strict=True))
    for dimension, axis in enumerate(names):
        assert (grid.coordinates(table)[axis] == np.indices(table.shape)[dimension]).all()  # of all ranks at once
        rows = np.moveaxis(table, dimension, -1).reshape(-1, grid.degree(axis))
        assert (grid.groups([axis]) == rows).all()
        assert grid.group(axis, rank) == get_process_group_ranks(mesh.get_group(axis))
        assert grid.degree(axis) == 1 or grid.stride(axis) == rows[0, 1] - rows[0, 0]


@pytest.mark.parametrize("degrees", FIVE_AXES, ids=str)
def test_five_axes_are_dealt_as_a_device_mesh_deals_them_in_every_order(
    torch_rank: int, degrees: dict[str, int]
) -> None:
    for order in ORDERS:
        assert_torch_agrees(in_order(order, degrees), torch_rank)


@each_layout
def test_the_grids_of_a_layout_are_device_meshes_in_every_order(torch_rank: int, layout: Layout) -> None:
    grids = {grid for order in ORDERS for grid in (placed(layout, order).dense, placed(layout, order).experts)}
    for grid in grids:
        assert_torch_agrees(grid, torch_rank)


def test_hsdp_groups_are_those_of_a_mesh_of_replicas_and_shards(torch_rank: int) -> None:
    """torchtitan's mesh, slowest first: pp, dp_replicate, dp_shard, cp, tp."""
    from torch.distributed.device_mesh import init_device_mesh

    layout = Layout(tp=2, cp=2, pp=2, dp=8, zero=3, hsdp_shard=4)  # two ranks of dp, each with its two of cp
    mesh = init_device_mesh("cpu", (2, 4, 2, 2, 2), mesh_dim_names=("pp", "dp_replicate", "dp_shard", "cp", "tp"))
    table = mesh.mesh.numpy()
    shards, replicas = (placed(layout, "tp-cp-ep-dp-pp").groups(members) for members in ("shard", "replica"))
    assert sorted(shards.tolist()) == sorted(table.transpose(0, 1, 4, 2, 3).reshape(-1, 4).tolist())
    assert sorted(replicas.tolist()) == sorted(table.transpose(0, 2, 3, 4, 1).reshape(-1, 4).tolist())


# Megatron-LM: core/parallel_state.py, the docstring of generate_masked_orthogonal_rank_groups, in our own words


def megatron_groups(order: str, degrees: dict[str, int], joined: set[str]) -> list[list[int]]:
    """Ranks whose coordinates agree on every axis that is not joined.

    A rank is written in mixed radix, the first axis of the order its last digit. Groups are numbered in the same way by
    the digits that are left, and a group's members by the digits that are joined.
    """
    found: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for rank in range(prod(degrees.values())):
        rest, digits = rank, []
        for axis in order.split("-"):
            rest, digit = divmod(rest, degrees[axis])
            digits.append((axis, digit))
        found[tuple(digit for axis, digit in reversed(digits) if axis not in joined)].append(rank)
    return [found[number] for number in sorted(found)]


def dense_degrees(layout: Layout) -> dict[str, int]:
    return {
        "tp": layout.tp,
        "cp": layout.cp,
        "ep": 1,
        "pp": layout.pp,
        "dp": RANKS // (layout.tp * layout.cp * layout.pp),
    }


def expert_degrees(layout: Layout) -> dict[str, int]:
    inside = layout.tp if layout.ep == 1 else 1
    return {"tp": inside, "cp": 1, "ep": layout.ep, "pp": layout.pp, "dp": RANKS // (inside * layout.ep * layout.pp)}


def test_the_example_of_megatrons_docstring() -> None:
    """8 ranks in the order tp-pp-dp, 2 of each: the data-parallel groups it prints."""
    printed = [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert megatron_groups("tp-pp-dp", {"tp": 2, "pp": 2, "dp": 2}, {"dp"}) == printed
    assert in_order("tp-pp-dp", {"tp": 2, "pp": 2, "dp": 2}).groups(["dp"]).tolist() == printed


OF_DENSE: list[tuple[Members, set[str]]] = [
    ("tp", {"tp"}),
    ("cp", {"cp"}),
    ("dp", {"dp"}),
    ("pp", {"pp"}),
    ("data", {"dp", "cp"}),
]
OF_EXPERTS: list[tuple[Members, set[str]]] = [("ep", {"ep"}), ("expert-data", {"dp"})]


@each_layout
@pytest.mark.parametrize("first", AXES)
def test_groups_are_megatrons_in_every_order(layout: Layout, first: str) -> None:
    for order in (order for order in ORDERS if order.startswith(first)):
        there, dense, experts = placed(layout, order), dense_degrees(layout), expert_degrees(layout)
        for members, joined in OF_DENSE:
            assert there.groups(members).tolist() == megatron_groups(order, dense, joined), (order, members)
        for members, joined in OF_EXPERTS:
            assert there.groups(members).tolist() == megatron_groups(order, experts, joined), (order, members)


@pytest.mark.parametrize("order", ORDERS)
def test_any_axes_may_be_joined(order: str) -> None:
    degrees = FIVE_AXES[0]
    for joined in [{"tp", "pp"}, {"tp", "cp", "dp"}, {"ep", "dp"}, set(), set(AXES)]:
        assert in_order(order, degrees).groups(joined).tolist() == megatron_groups(order, degrees, joined)


# Orders without a meaning


@each_layout
def test_orders_are_refused_where_experts_would_stand_in_another_stage(layout: Layout) -> None:
    """Where a pipeline joins other ranks for experts than for the rest; with pp last it never does."""
    if layout.ep == 1 or layout.pp == 1:
        return
    for order in ORDERS:
        there = placed(layout, order)
        found = [r for r in meaning_refusals(there.layout, MIXTRAL, RANKS, 8192) if r.field == "layout.rank_order"]
        if megatron_groups(order, dense_degrees(layout), {"pp"}) != megatron_groups(
            order, expert_degrees(layout), {"pp"}
        ):
            assert [refusal.code for refusal in found] == ["rank-order"]
            nearest = there.layout.model_copy(update={"rank_order": found[0].nearest})
            assert meaning_refusals(nearest, MIXTRAL, RANKS, 8192) == []
        elif order.endswith("pp"):
            assert found == []


def test_a_pipeline_in_the_middle_is_refused_in_a_sentence_where_experts_have_another_width(
    refusal_of: RefusalOf,
) -> None:
    refusal = refusal_of(model="mixtral-8x7b", gpus=RANKS, tp=2, pp=4, ep=4, rank_order="tp-cp-ep-pp-dp")
    assert refusal.sentence == (
        "layout.rank_order = tp-cp-ep-pp-dp: pp must come last where experts have another data-parallel width than the rest, "
        "or a rank's experts would belong to another stage; the nearest that works: tp-cp-ep-dp-pp"
    )


def test_a_pipeline_in_the_middle_is_fine_without_experts(ask: Ask) -> None:
    assert ask(rank_order="pp-dp-ep-cp-tp", tp=2, pp=4, gpus=RANKS).step.placement.stride("pp") == 1


@pytest.mark.parametrize(
    ("order", "wrong", "nearest"),
    [
        ("tp-tp-cp-ep-dp-pp", "tp stands there 2 times", "tp-cp-ep-dp-pp"),
        ("pp-cp-ep-pp-dp-pp-tp", "pp stands there 3 times", "pp-cp-ep-dp-tp"),
        ("tp-tp-ep-dp-pp", "tp stands there 2 times; cp is missing", "tp-cp-ep-dp-pp"),
        ("tp-cp-ep-dp", "pp is missing", "tp-cp-ep-dp-pp"),
        ("cp-ep-dp-pp", "tp is missing", "tp-cp-ep-dp-pp"),
        ("pp-dp", "tp and cp and ep are missing", "tp-cp-ep-pp-dp"),
        ("tp-cp-ep-dp-fsdp", "fsdp is no axis; pp is missing", "tp-cp-ep-dp-pp"),
        ("dp-pp-tp-cp-ep-vp", "vp is no axis", "dp-pp-tp-cp-ep"),
        ("", "tp and cp and ep and dp and pp are missing", "tp-cp-ep-dp-pp"),
        ("x" * 500, "xxxxxxxxxxxx is no axis", "tp-cp-ep-dp-pp"),
    ],
)
def test_an_order_that_does_not_name_each_axis_once_is_told_what_is_wrong_and_what_would_work(
    ask: Ask, refusal_of: RefusalOf, order: str, wrong: str, nearest: str
) -> None:
    refusal = refusal_of(rank_order=order)
    assert (refusal.field, refusal.code, refusal.nearest) == ("layout.rank_order", "rank-order", nearest)
    assert "must name each of tp, cp, ep, dp, pp once" in refusal.sentence
    assert wrong in refusal.sentence
    assert len(refusal.sentence) < 300
    assert ask(rank_order=nearest).scenario.layout.rank_order == nearest


@given(named=st.lists(st.sampled_from([*AXES, "vp", "fsdp", ""]), max_size=8))
def test_the_order_named_as_nearest_keeps_what_was_rightly_named(named: list[str]) -> None:
    found = Layout(rank_order="-".join(named)).refusals()
    assert bool(found) == (sorted(named) != sorted(AXES))
    for refusal in found:
        near = (refusal.nearest or "").split("-")
        assert sorted(near) == sorted(AXES)
        first_named = [axis for axis in dict.fromkeys(named) if axis in AXES]
        assert [axis for axis in near if axis in first_named] == first_named


EXPERTS = {"model": "mixtral-8x7b", "cluster": "hgx-h100", "gpus": 64}


def test_without_stages_experts_may_stand_anywhere_in_the_order() -> None:
    layout = {"tp": 2, "pp": 1, "ep": 8, "rank_order": "tp-cp-ep-pp-dp"}
    assert scenario_from({**EXPERTS, "layout": layout}).layout.ep == 8


def test_experts_that_are_not_spread_must_belong_to_their_ranks_stage_too() -> None:
    layout = {"tp": 2, "cp": 2, "pp": 2, "ep": 1, "rank_order": "tp-cp-ep-pp-dp"}
    with pytest.raises(Refusal, match="pp must come last"):
        scenario_from({**EXPERTS, "layout": layout})


def test_the_order_that_is_proposed_to_experts_works() -> None:
    layout = {"tp": 2, "pp": 2, "ep": 8, "rank_order": "tp-pp-dp"}
    with pytest.raises(Refusal) as caught:
        scenario_from({**EXPERTS, "layout": layout})
    assert scenario_from({**EXPERTS, "layout": {**layout, "rank_order": caught.value.nearest}})
