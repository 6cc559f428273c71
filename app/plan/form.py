"""The planner's form: field names, labels, limits and how they become a scenario. One place for all of it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from app.web.json_text import value_of
from engine.catalog.calibration import software
from engine.catalog.hardware import cluster_named, cluster_names
from engine.catalog.model import catalogue
from engine.catalog.precision import PRECISIONS
from engine.language.choice import one_of, strangers
from engine.language.document import together
from engine.language.refusal import Refusal
from engine.layout.layout import Layout
from engine.pipeline.schedules import SCHEDULES
from engine.scenario import MOST_TOKENS

PASTED = "pasted"
BESIDE = ("knob",)  # in the query of a chart, but no part of the plan
CONFIG_BYTES = 20_000  # of a config.json, which travels in the URL; real ones have about 1,000


@dataclass(frozen=True)
class Field:
    """One input of the form.

    name       in the URL
    path       of what it sets in a scenario document; empty for what only changes how answers are shown
    low, high  of its slider; typing may go beyond, as far as the engine allows
    worth      what 1 in the form is in the document: tokens are typed in trillions
    """

    name: str
    label: str
    path: tuple[str, ...]
    default: str
    kind: str = "slider"
    low: float = 1
    high: float = 1
    step: float = 1
    scale: str = "doubling"
    unit: str = ""
    worth: float = 1
    options: tuple[tuple[str, str], ...] = ()

    def options_with(self, value: str) -> tuple[tuple[str, str], ...]:
        """The options, and a value that is none of them."""
        return (
            self.options if any(value == option for option, _ in self.options) else (*self.options, (value, value[:40]))
        )


def _layout(name: str, label: str, high: float, **more: Any) -> Field:
    default = "32" if name == "dp" else str(Layout.model_fields[name].default)
    return Field(name, label, ("layout", name), default, **{"high": high, **more})


def _choice(
    name: str, label: str, path: tuple[str, ...], default: str, *options: tuple[str, str], kind: str = "choice"
) -> Field:
    return Field(name, label, path, default, kind=kind, options=options)


MODELS = tuple((name, entry["title"]) for name, entry in catalogue().items())
CLUSTERS = tuple((name, cluster_named(name).title) for name in cluster_names())
STACKS = (("", "what suits the layout"), *((name, stack.title) for name, stack in software().items()))

HSDP_GROUPS = (8, 16, 32, 64, 128, 256)

GROUPS: tuple[tuple[str, tuple[Field, ...]], ...] = (
    ("model and machine", (
        _choice("model", "model", ("model",), "llama-3-70b", *MODELS, (PASTED, "a pasted config.json"), kind="select"),
        Field("config", "config.json", ("model", "hf_config"), "", kind="text"),
        _choice("cluster", "cluster", ("cluster",), "hgx-h100", *CLUSTERS, kind="select"),
        Field("gpus", "GPUs", ("gpus",), "1024", high=131072),
        Field("sequence", "sequence", ("sequence_tokens",), "8192", low=512, high=1048576, unit="tokens"),
        Field("batch", "global batch", ("layout", "micro_batches"), "512", high=16384, unit="sequences"),
    )),
    ("layout", (
        _layout("tp", "tensor · TP", 64),
        _layout("pp", "pipeline · PP", 64),
        _layout("cp", "context · CP", 64),
        _layout("ep", "expert · EP", 256),
        _layout("micro_batch", "micro-batch", 16),
        _choice("schedule", "schedule", ("layout", "schedule"), "1f1b",
                *((name, schedule.title) for name, schedule in SCHEDULES.items()), kind="select"),
        _layout("vp", "interleave · v", 16, scale="linear"),
        _layout("rank_order", "rank order, fastest axis first", 1, kind="order"),
    )),
    ("memory", (
        _choice("zero", "ZeRO", ("layout", "zero"), "1", ("0", "0"), ("1", "1"), ("2", "2"), ("3", "3")),
        _choice("hsdp_shard", "FSDP shards over", ("layout", "hsdp_shard"), "", ("", "all copies"),
                *((f"{ranks}", f"groups of {ranks} (HSDP)") for ranks in HSDP_GROUPS), kind="select"),
        _choice("recompute", "recompute", ("layout", "recompute"), "none", ("none", "none"), ("selective", "selective"), ("full", "full")),
        _choice("gradient_bytes", "gradients", ("layout", "gradient_bytes"), "4", ("4", "FP32"), ("2", "BF16")),
        _choice("sequence_parallel", "norms", ("layout", "sequence_parallel"), "true", ("true", "cut by TP"), ("false", "whole")),
        _choice("units", "shown in", (), "GiB", ("GiB", "GiB"), ("GB", "GB")),
    )),
    ("run", (
        Field("tokens", "tokens", ("training", "tokens"), "15", low=0.1, high=30, step=0.1, scale="linear", unit="trillion",
              worth=1e12),
        Field("price", "price", ("training", "usd_per_gpu_hour"), "2.5", low=0.5, high=10, step=0.1, scale="linear",
              unit="$ a GPU-hour"),
        _choice("precision", "products in", ("precision",), "bf16",
                *((name, precision.title) for name, precision in PRECISIONS.items())),
        _choice("stack", "software", ("stack",), "", *STACKS, kind="select"),
        Field("nic", "NIC of a GPU", ("cluster", "nic_gbit_per_s"), "", low=25, high=1600, unit="Gb/s"),
        Field("spine", "spine", ("cluster", "oversubscription"), "1", low=1, high=7, scale="linear", unit=": 1"),
    )),
)  # fmt: skip

MADE_TOGETHER = ("model", "config", "cluster", "nic", "spine", "batch")
FIELDS = {field.name: field for _, fields in GROUPS for field in fields}
BY_PATH = {".".join(field.path): field.name for field in FIELDS.values() if field.path}
ALIASES = {"layout.dp": "gpus", "model": "model"}

PRESETS: dict[str, dict[str, str]] = {
    "70B on 1,024": {},
    "405B on 16k": {
        "model": "llama-3-405b", "gpus": "16384", "pp": "16", "cp": "2", "batch": "2048", "schedule": "interleaved", "vp": "8",
        "gradient_bytes": "2",
    },
    "8B on 8 GPUs": {"model": "llama-3-8b", "gpus": "8", "tp": "1", "pp": "1", "batch": "64", "zero": "3", "tokens": "0.1"},
}  # fmt: skip


def state_of(query: Mapping[str, str]) -> dict[str, str]:
    """Every field of the form with its text, from a URL's query; what the query leaves out has its default."""
    state = {name: _plain(field, query.get(name, field.default)) for name, field in FIELDS.items()}
    if not state["nic"]:
        cluster = state["cluster"] if state["cluster"] in cluster_names() else FIELDS["cluster"].default
        state["nic"] = f"{cluster_named(cluster).nic_gbit_per_s:g}"
    return state


def _plain(field: Field, text: str) -> str:
    """The text as the field can show it again: a number without the signs that only group its digits."""
    bare = re.sub(r"[,_\u00a0\u202f]", "", text) if field.kind == "slider" else text
    return bare.strip()


def misnamed(query: Iterable[tuple[str, str]], beside: Iterable[str] = BESIDE) -> list[Refusal]:
    """What a query says that the form cannot hold: names it does not know, and names given twice.

    beside   names that mean something else to the page that asks
    """
    given = [name for name, _ in query]
    unknown = strangers(dict.fromkeys(given), (*FIELDS, *beside), "the planner has no such field")
    twice = [Refusal(name, None, "is given twice") for name in (*FIELDS, *beside) if given.count(name) > 1]
    return unknown + twice


def nics() -> dict[str, float]:
    """Each cluster's own network, for a form to follow a change of the cluster.   [Gb/s]"""
    return {name: cluster_named(name).nic_gbit_per_s for name in cluster_names()}


def query_of(state: Mapping[str, str]) -> str:
    """The shortest query that gives this state back."""
    usual = {**state_of({"cluster": state["cluster"]}), "cluster": FIELDS["cluster"].default}
    return urlencode({name: text for name, text in state.items() if text != usual[name]})


def document_of(state: Mapping[str, str]) -> dict[str, Any]:
    """The scenario document of a form's state. Text that is no number is refused, all such fields at once."""
    refused: list[Refusal] = []
    document: dict[str, Any] = {}
    for field in FIELDS.values():
        if not field.path or field.name in MADE_TOGETHER:
            continue
        try:
            _put(document, field.path, _value(field, state[field.name]))
        except Refusal as refusal:
            refused.append(refusal)
    for part in (_model, _cluster, _batch, _units):
        try:
            part(document, state)
        except Refusal as refusal:
            refused.append(refusal)
    if refused:
        raise together(refused)
    return document


def _put(document: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for part in path[:-1]:
        document = document.setdefault(part, {})
    document[path[-1]] = value


def _value(field: Field, text: str) -> Any:
    """The value in a field: text of a choice, or a number."""
    if text in ("true", "false"):
        return text == "true"
    if field.kind == "order":
        return text
    if field.kind in ("select", "choice") and not text.lstrip("-").isdigit():
        return text or None
    number = _number(field, text)
    if field.worth != 1 and not 0 < number <= MOST_TOKENS / field.worth:
        raise Refusal(
            ".".join(field.path),
            text,
            f"must be above 0 and at most {MOST_TOKENS / field.worth:,.0f} {field.unit}",
            f"{min(max(number, field.low), MOST_TOKENS / field.worth):g}",
        )
    return number * field.worth if field.worth != 1 else number


def _number(field: Field, text: str) -> float:
    try:
        number = float(text.encode("ascii"))  # digits of other scripts would stand empty in the form
    except ValueError:
        raise Refusal(".".join(field.path), text, "needs a number", field.default) from None
    if number != number or abs(number) == float("inf"):
        raise Refusal(".".join(field.path), text, "needs a number that can be written out", field.default)
    return int(number) if number == int(number) and abs(number) < 1e18 else number


def _model(document: dict[str, Any], state: Mapping[str, str]) -> None:
    if state["model"] != PASTED:
        document["model"] = state["model"]
        return
    text = state["config"]
    if not text:
        raise Refusal("model.hf_config", None, "paste a model's config.json here")
    try:
        document["model"] = {"hf_config": value_of(text.encode(), CONFIG_BYTES)}
    except Refusal as refusal:
        raise Refusal("model.hf_config", None, refusal.rule) from None


def _cluster(document: dict[str, Any], state: Mapping[str, str]) -> None:
    document["cluster"] = {
        "base": state["cluster"],
        "nic_gbit_per_s": _number(FIELDS["nic"], state["nic"]),
        "oversubscription": _number(FIELDS["spine"], state["spine"]),
    }


def _units(document: dict[str, Any], state: Mapping[str, str]) -> None:
    one_of("units", state["units"], [option for option, _ in FIELDS["units"].options])


def _batch(document: dict[str, Any], state: Mapping[str, str]) -> None:
    """Micro-batches per pipeline: what the global batch leaves for each, if it comes out whole."""
    layout = document.get("layout", {})
    batch = _number(FIELDS["batch"], state["batch"])
    numbers = [document.get("gpus"), layout.get("tp"), layout.get("cp"), layout.get("pp"), layout.get("micro_batch")]
    if not all(isinstance(number, int) and number > 0 for number in numbers):
        return  # another field is refused already, or will be
    gpus, tp, cp, pp, micro_batch = (int(number) for number in numbers if number)
    if gpus % (tp * cp * pp):
        return  # the degrees do not multiply; that is said beside them
    width = gpus // (tp * cp * pp) * micro_batch
    if batch <= 0 or batch % width:
        near = " or ".join(
            str(n)
            for n in dict.fromkeys((int(max(batch, 0) // width) * width, int(max(batch, 0) // width + 1) * width))
            if n
        )
        rule = f"must be a multiple of {width}: {width // micro_batch} pipelines with micro-batches of {micro_batch}"
        raise Refusal("layout.micro_batches", state["batch"], rule, near)
    _put(document, ("layout", "micro_batches"), int(batch) // width)


def field_of(refusal: Refusal) -> str:
    """The form field beside which a refusal belongs."""
    for path in (refusal.field, refusal.field.rpartition(".")[0]):
        name = ALIASES.get(path) or BY_PATH.get(path)
        if name:
            return name
    return "config" if refusal.field.startswith("model.hf_config") else refusal.field.partition(".")[0]
