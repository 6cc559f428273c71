"""The hardware catalogue: every number has a source, and what a scenario may change has limits."""

import math

import pytest

from engine.catalog.hardware import LIMITS, cluster_from, cluster_named, cluster_names, gpu_named, gpu_names
from engine.language.refusal import Refusal
from engine.language.units import GIB

CONTRACT = ("hgx-h100", "hgx-a100-80gb", "hgx-a100-40gb", "hgx-h200", "hgx-b200", "gb200-nvl72", "mi300x")


def refused(document: object) -> Refusal:
    with pytest.raises(Refusal) as caught:
        cluster_from(document)
    return caught.value


def test_the_clusters_of_the_contract_are_all_there() -> None:
    assert set(CONTRACT) <= set(cluster_names())


@pytest.mark.parametrize("name", gpu_names())
def test_every_number_of_a_gpu_has_a_source(name: str) -> None:
    gpu = gpu_named(name)
    sourced = {fact.name.partition(".")[0] for fact in gpu.facts}
    numbers = {field for field in type(gpu).model_fields if isinstance(getattr(gpu, field), int | float)}
    assert numbers - sourced <= {"kernel_scale"}
    assert all(len(fact.source) > 20 and fact.value > 0 for fact in gpu.facts)
    assert {f"peak_flop_per_s.{p}" for p in gpu.precisions} <= {fact.name for fact in gpu.facts}


@pytest.mark.parametrize("name", CONTRACT)
def test_every_number_of_a_cluster_has_a_source(name: str) -> None:
    cluster = cluster_named(name)
    numbers = {field for field in type(cluster).model_fields if isinstance(getattr(cluster, field), int | float)}
    assert numbers == {fact.name for fact in cluster.facts}
    assert all(len(fact.source) > 20 and fact.value == getattr(cluster, fact.name) for fact in cluster.facts)


def test_h100_has_the_figures_of_its_whitepaper() -> None:
    gpu = gpu_named("h100")
    assert (gpu.peak("bf16"), gpu.peak("fp8")) == (989.4e12, 1978.9e12)
    assert (gpu.hbm_bytes_per_s, gpu.nvlink_bytes_per_s, gpu.watts) == (3.35e12, 450e9, 700)
    assert math.isclose(gpu.memory_bytes, 79.1 * GIB)


@pytest.mark.parametrize("name", gpu_names())
def test_usable_memory_is_less_than_what_the_name_says(name: str) -> None:
    said = {"h100": 80, "a100-80gb": 80, "a100-40gb": 40, "h200": 141, "b200": 180, "gb200": 186, "mi300x": 192}[name]
    assert 0.9 * said * GIB < gpu_named(name).memory_bytes < said * GIB


def test_nvlink_is_nine_times_the_nic_in_each_direction_on_h100() -> None:
    cluster = cluster_named("hgx-h100")
    assert cluster.nic_bytes_per_s == 50e9
    assert cluster.gpu.nvlink_bytes_per_s / cluster.nic_bytes_per_s == 9


def test_a_nvl72_rack_is_one_domain() -> None:
    assert cluster_named("gb200-nvl72").gpus_per_node == 72


@pytest.mark.parametrize(("name", "precision"), [("a100-80gb", "fp8"), ("h100", "mxfp8"), ("mi300x", "mxfp8")])
def test_a_precision_without_tensor_cores_is_refused_with_what_works(name: str, precision: str) -> None:
    with pytest.raises(Refusal) as caught:
        gpu_named(name).peak(precision)
    assert caught.value.field == "precision"
    assert caught.value.nearest is not None and caught.value.nearest.startswith("bf16 or fp16")


def test_an_unknown_precision_is_refused_with_the_known_ones() -> None:
    with pytest.raises(Refusal, match="one of bf16, fp16, fp8, mxfp8"):
        gpu_named("h100").peak("int4")


def test_gpus_and_clusters_can_be_keys_of_a_cache() -> None:
    assert hash(cluster_named("hgx-h100")) == hash(cluster_named("hgx-h100"))
    assert cluster_from({"base": "hgx-h100", "gpus_per_node": 4}) != cluster_named("hgx-h100")


def test_a_name_gives_the_catalogue_cluster() -> None:
    assert cluster_from("hgx-b200") is cluster_named("hgx-b200")


def test_a_misspelt_cluster_names_the_nearest() -> None:
    refusal = refused("hgx-h10")
    assert (refusal.field, refusal.nearest) == ("cluster", "hgx-h100")


def test_numbers_of_a_cluster_can_be_changed_and_say_that_they_were() -> None:
    cluster = cluster_from({"base": "hgx-h100", "gpus_per_node": 16, "oversubscription": 2})
    assert (cluster.gpus_per_node, cluster.oversubscription, cluster.nic_gbit_per_s) == (16, 2, 400)
    assert cluster.fact("gpus_per_node").source == "as given in the scenario"
    assert cluster.fact("nic_gbit_per_s") == cluster_named("hgx-h100").fact("nic_gbit_per_s")
    assert cluster.title.endswith("(changed)")


def test_a_change_to_the_same_value_is_no_change() -> None:
    assert cluster_from({"base": "hgx-h100", "gpus_per_node": 8}) is cluster_named("hgx-h100")


@pytest.mark.parametrize("key", LIMITS)
@pytest.mark.parametrize("value", [0, -1, 1e9, math.inf, math.nan, 10**400, "8", True, None, [8]])
def test_a_value_without_meaning_is_refused_in_a_sentence(key: str, value: object) -> None:
    refusal = refused({"base": "hgx-h100", key: value})
    assert refusal.field == f"cluster.{key}"
    assert "must be" in refusal.sentence and "\n" not in refusal.sentence


@pytest.mark.parametrize("key", LIMITS)
def test_the_nearest_value_a_refusal_names_is_accepted(key: str) -> None:
    for value in (-3, 1e7, 2.5):
        try:
            cluster_from({"base": "hgx-h100", key: value})
        except Refusal as refusal:
            assert cluster_from({"base": "hgx-h100", key: float(refusal.nearest or "nan")})


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"base": "hgx-h100", "gpus_per_nod": 8}, "cluster.gpus_per_nod"),
        ({"base": "h100"}, "cluster.base"),
        ({"gpus_per_node": 8}, "cluster.base"),
        ({"base": ["hgx-h100"]}, "cluster.base"),
        ({}, "cluster.base"),
        (None, "cluster"),
        (8, "cluster"),
        (["hgx-h100"], "cluster"),
    ],
)
def test_what_is_no_cluster_is_refused(document: object, field: str) -> None:
    assert refused(document).field == field
