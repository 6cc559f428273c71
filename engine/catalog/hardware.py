"""GPUs and clusters: what each offers, in base units, with the source of every number."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict

from engine.catalog.precision import PRECISIONS
from engine.language.choice import choose, strangers
from engine.language.domain import Domain
from engine.language.refusal import Refusal
from engine.language.units import GB, GIB, TB

BITS_PER_BYTE = 8
PEAK = "peak_flop_per_s"  # in the catalogue a number for each precision

# What a unit of the catalogue is worth, and the base unit it becomes.
_UNITS = {
    "bytes": (1.0, "bytes"),
    "GiB": (float(GIB), "bytes"),
    "GB/s": (GB, "bytes/s"),
    "TB/s": (TB, "bytes/s"),
    "TFLOP/s": (1e12, "FLOP/s"),
    "Gb/s": (1.0, "Gb/s"),
    "W": (1.0, "W"),
    "USD/h": (1.0, "USD per GPU-hour"),
    "GPUs": (1.0, "GPUs"),
    "nodes": (1.0, "nodes"),
    "rails": (1.0, "rails"),
    "links": (1.0, "links"),
    "times": (1.0, "times"),
}

# What a scenario may change of a catalogue cluster, and within which limits.
LIMITS = {
    "gpus_per_node": Domain(1, 1024, whole=True),
    "nic_gbit_per_s": Domain(1, 10_000),
    "oversubscription": Domain(1, 64),
}


@dataclass(frozen=True)
class Fact:
    """One number of the catalogue, in base units, with where it comes from."""

    name: str
    value: float
    unit: str
    source: str


class _Sourced(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    facts: tuple[Fact, ...] = ()

    def fact(self, name: str) -> Fact:
        """The number under this name with its source: "hbm_bytes_per_s", "peak_flop_per_s.fp8"."""
        return next(fact for fact in self.facts if fact.name == name)


class Gpu(_Sourced):
    """One GPU: what it can hold, compute and move.

    memory_bytes         usable capacity, as the driver reports it                    [bytes]
    hbm_bytes_per_s      memory bandwidth of the datasheet                            [bytes/s]
    nvlink_bytes_per_s   to the other GPUs of its domain, each way                    [bytes/s]
    kernels              which tables of measured kernels speak for it                [name]
    kernel_scale         how much faster it is than those tables                      [ratio]
    fabric               what joins it to the GPUs of its domain                      [name]
    mesh_links           direct links to single peers; None where a switch joins all  [count]
    mesh_bytes_per_s     bus bandwidth measured with all those links in use           [bytes/s]
    note                 what is borrowed rather than measured, for a page to show    [text]

    >>> gpu = gpu_named("h100")
    >>> gpu.hbm_bytes_per_s, gpu.fact("hbm_bytes_per_s").source
    (3350000000000.0, 'NVIDIA H100 Tensor Core GPU datasheet, H100 SXM')
    """

    name: str
    title: str
    memory_bytes: float
    hbm_bytes_per_s: float
    nvlink_bytes_per_s: float
    watts: float
    kernels: str
    kernel_scale: float = 1.0
    fabric: str = "NVLink"
    mesh_links: int | None = None
    mesh_bytes_per_s: float | None = None
    note: str = ""

    @property
    def precisions(self) -> tuple[str, ...]:
        """The precisions its tensor cores multiply in, slowest first."""
        return tuple(name for name in PRECISIONS if any(fact.name == f"{PEAK}.{name}" for fact in self.facts))

    def peak(self, precision: str) -> float:
        """Dense matmul peak in this precision.   [FLOP/s]

        precision   bf16, fp16, fp8 or mxfp8   [name]

        >>> gpu_named("h100").peak("bf16")
        989400000000000.0
        >>> gpu_named("a100-80gb").peak("fp8")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        engine.language.refusal.Refusal: precision = fp8: NVIDIA A100 SXM 80 GB has no such tensor cores; ... bf16 or fp16
        """
        if precision in self.precisions:
            return self.fact(f"{PEAK}.{precision}").value
        known = precision in PRECISIONS
        rule = f"{self.title} has no such tensor cores" if known else f"it must be one of {', '.join(PRECISIONS)}"
        raise Refusal("precision", precision, rule, " or ".join(self.precisions))


class Cluster(_Sourced):
    """Equal GPUs in NVLink domains, joined by one network adapter per GPU.

    gpus_per_node      GPUs of one NVLink domain                               [count]
    nic_gbit_per_s     network adapter of each GPU, each way                   [Gb/s]
    nodes_per_unit     nodes under the same leaf switches                      [count]
    wiring             rails: NIC i of every node of a unit hangs on leaf i; rack: all NICs of a node on one leaf
    rails              leaves that the NICs of a node are dealt to, where it is not one for each GPU   [count]
    oversubscription   leaf bandwidth down over up: 1 is a full fat tree       [ratio]
    usd_per_gpu_hour   price, where a source gives one                         [USD]
    """

    name: str
    title: str
    gpu: Gpu
    gpus_per_node: int
    nic_gbit_per_s: float
    nodes_per_unit: int
    oversubscription: float = 1.0
    wiring: Literal["rails", "rack"] = "rails"
    rails: int | None = None
    usd_per_gpu_hour: float | None = None

    @property
    def nic_bytes_per_s(self) -> float:
        """Network bandwidth of each GPU, each way.   [bytes/s]

        >>> cluster_named("hgx-h100").nic_bytes_per_s
        50000000000.0
        """
        return self.nic_gbit_per_s * 1e9 / BITS_PER_BYTE


@dataclass(frozen=True)
class _Catalogue:
    gpus: Mapping[str, Gpu]
    clusters: Mapping[str, Cluster]


@cache
def _catalogue() -> _Catalogue:
    text = (Path(__file__).parent / "hardware.yaml").read_text(encoding="utf-8")
    document = yaml.safe_load(text)
    gpus = {name: Gpu(name=name, **_sourced(entry)) for name, entry in document["gpus"].items()}
    clusters = {
        name: Cluster(name=name, **{**_sourced(entry), "gpu": gpus[entry["gpu"]]})
        for name, entry in document["clusters"].items()
    }
    return _Catalogue(gpus, clusters)


def _sourced(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of one catalogue entry: numbers in base units, and the list of facts they come from."""
    fields: dict[str, Any] = {}
    facts: list[Fact] = []
    for name, given in entry.items():
        if not isinstance(given, Mapping):
            fields[name] = given
        elif "value" in given:
            facts.append(_fact(name, given))
            fields[name] = facts[-1].value
        else:
            facts.extend(_fact(f"{name}.{part}", number) for part, number in given.items())
    return fields | {"facts": tuple(facts)}


def _fact(name: str, given: Mapping[str, Any]) -> Fact:
    worth, unit = _UNITS[given["unit"]]
    return Fact(name, given["value"] * worth, unit, given["source"])


def gpu_names() -> tuple[str, ...]:
    """The GPUs of the catalogue, in its order."""
    return tuple(_catalogue().gpus)


def gpu_named(name: str) -> Gpu:
    """The GPU of this name, or a Refusal that names the nearest.

    >>> gpu_named("h200").title
    'NVIDIA H200 SXM 141 GB'
    """
    return choose("gpu", name, _catalogue().gpus, "the catalogue has {names}")


def cluster_names() -> tuple[str, ...]:
    """The clusters of the catalogue, in its order.

    >>> cluster_names()
    ('hgx-h100', 'hgx-h100-roce', 'hgx-a100-80gb', 'hgx-a100-40gb', 'hgx-h200', 'hgx-b200', 'gb200-nvl72', 'mi300x')
    """
    return tuple(_catalogue().clusters)


def cluster_named(name: str, field: str = "cluster") -> Cluster:
    """The cluster of this name, or a Refusal that names the nearest.

    >>> cluster_named("hgx-h100").gpus_per_node
    8
    """
    return choose(field, name, _catalogue().clusters, "the catalogue has {names}")


def cluster_from(document: object) -> Cluster:
    """The cluster a scenario asks for: a catalogue name, or one with some of its numbers changed.

    document   "hgx-h100", or {"base": "hgx-h100", "nic_gbit_per_s": 200}   [name or mapping]

    >>> cluster_from({"base": "hgx-h100", "nic_gbit_per_s": 200}).nic_bytes_per_s
    25000000000.0
    >>> cluster_from({"base": "hgx-h100", "oversubscription": 0})
    Traceback (most recent call last):
    engine.language.refusal.Refusal: cluster.oversubscription = 0: it must be a number from 1 to 64; the nearest that works: 1
    """
    if not isinstance(document, Mapping):
        return cluster_named(document)  # type: ignore[arg-type]
    if "base" not in document:
        raise Refusal("cluster.base", None, f"it must name the cluster to start from: {', '.join(cluster_names())}")
    for refusal in strangers(document, ("base", *LIMITS), "a cluster takes {names}"):
        raise Refusal(f"cluster.{refusal.field}", refusal.value, refusal.rule, refusal.nearest)
    base = cluster_named(document["base"], "cluster.base")
    return _changed(base, {name: _limited(name, document[name]) for name in LIMITS if name in document})


def _limited(name: str, value: object) -> float:
    """The value as a number within this field's limits, or a Refusal with the nearest that is."""
    domain = LIMITS[name]
    if isinstance(value, str):  # a document says numbers as numbers
        raise Refusal(f"cluster.{name}", value, f"it must be {domain.rule}")
    number = domain.number(f"cluster.{name}", value, "it must be")
    return int(number) if domain.whole else float(number)


def _changed(base: Cluster, changes: Mapping[str, float]) -> Cluster:
    changes = {name: value for name, value in changes.items() if value != getattr(base, name)}
    if not changes:
        return base
    facts = tuple(
        Fact(fact.name, changes[fact.name], fact.unit, "as given in the scenario") if fact.name in changes else fact
        for fact in base.facts
    )
    return base.model_copy(update={**changes, "facts": facts, "title": f"{base.title} (changed)"})
