"""The planner's form: each field is an input, and where it stands in a scenario document. One place for all of it.

To add a field is to list it in its group: its usual value is the card's, the address, the document, the sentence beside it and
what the floor carries along follow.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from app.plan.pasted import CONFIG_BYTES, model_document, reduced_text
from engine.catalog.calibration import software
from engine.catalog.hardware import cluster_named, cluster_names
from engine.catalog.model import catalogue
from engine.catalog.precision import PRECISIONS
from engine.catalog.scenarios import preset_document
from engine.language.document import read
from engine.language.domain import TINY
from engine.language.inputs import Amount, Choice, Input, Words, YesNo
from engine.language.refusal import Refusal, together
from engine.pipeline.schedules import SCHEDULES
from engine.scenario import MOST_TOKENS, ScenarioDocument, scenario_from

PASTED = "pasted"
BESIDE = ("knob",)  # in the query of a chart, but no part of the plan
TRILLION = 1e12
CARD = read(ScenarioDocument, preset_document())
BATCH = scenario_from(preset_document()).layout.global_batch


@dataclass(frozen=True)
class Field:
    """One input of the form.

    path    of what it sets in a scenario document; empty for what only changes how answers are shown
    worth   what 1 in the form is in the document: tokens are typed in trillions
    """

    input: Input
    path: tuple[str, ...] = ()
    worth: float = 1

    @property
    def name(self) -> str:
        return self.input.name

    @property
    def label(self) -> str:
        return self.input.label

    @property
    def usual(self) -> str:
        return self.input.text(self.input.default)  # type: ignore[arg-type]

    def value(self, text: str) -> Any:
        """What the document is told, or a Refusal that names its field. Bounds are the engine's, unless it counts otherwise."""
        if not text.strip() and isinstance(self.input, Amount) and not self.input.absent:
            raise Refusal(".".join(self.path) or self.name, "", "is empty, and needs a number", self.usual)
        try:
            value: Any = self.input.read(text)
        except Refusal as refusal:
            field = ".".join(self.path) or self.name
            raise Refusal(field, refusal.value, refusal.rule, refusal.nearest) from None
        return value if value is None or self.worth == 1 else value * self.worth

    def text(self, document: object) -> str:
        """The text that sets what a document says."""
        value = at(document, self.path)
        return self.input.text(value if value is None or self.worth == 1 else value / self.worth)  # type: ignore[arg-type]


def at(document: object, path: tuple[str, ...]) -> Any:
    """What stands at a path of a document."""
    for part in path:
        document = getattr(document, part)
    return document


def _amount(
    name: str,
    label: str,
    path: tuple[str, ...],
    reach: tuple[float, float],
    *,
    usual: Any = ...,
    worth: float = 1,
    **more: Any,
) -> Field:
    """A number whose slider spans `reach`; typing may go beyond, as far as the engine allows."""
    if usual is ...:
        usual = at(CARD, path)
    default = usual / worth if usual is not None else None
    return Field(
        Amount(name, label, default, **{"scale": "doubling", "whole": False, "reach": reach, **more}), path, worth
    )


def _choice(name: str, label: str, path: tuple[str, ...], options: Mapping[Any, str], **more: Any) -> Field:
    """A few named options; an address may name another one that the engine knows."""
    return Field(Choice(name, label, at(CARD, path), options, open=True, **more), path)


def _layout(name: str, label: str, high: float, **more: Any) -> Field:
    return _amount(name, label, ("layout", name), (1, high), **more)


MODELS = {name: entry["title"] for name, entry in catalogue().items()} | {PASTED: "a pasted config.json"}
CLUSTERS = {name: cluster_named(name).title for name in cluster_names()}
STACKS = {name: stack.title for name, stack in software().items()}
PRECISION_TITLES = {name: precision.title for name, precision in PRECISIONS.items()}
SCHEDULE_TITLES = {name: schedule.title for name, schedule in SCHEDULES.items()}
LEVELS = {level: level for level in ("none", "selective", "full")}
HSDP_GROUPS = {ranks: f"groups of {ranks} (HSDP)" for ranks in (8, 16, 32, 64, 128, 256)}
ORDER = Words("rank_order", "rank order, fastest axis first", CARD.layout.rank_order, CONFIG_BYTES, kind="order")
CONFIG = Words("config", "config.json", "", CONFIG_BYTES, example='{"model_type": "llama", …}')
NORMS = YesNo("sequence_parallel", "norms", CARD.layout.sequence_parallel, "cut by TP", "whole")
TOKENS = f"must be above 0 and at most {MOST_TOKENS / TRILLION:,.0f} trillion"

GROUPS: tuple[tuple[str, tuple[Field, ...]], ...] = (
    ("model and machine", (
        _choice("model", "model", ("model",), MODELS),
        Field(CONFIG, ("model", "hf_config")),
        _choice("cluster", "cluster", ("cluster",), CLUSTERS),
        _amount("gpus", "GPUs", ("gpus",), (1, 131072)),
        _amount("sequence", "sequence", ("sequence_tokens",), (512, 1048576), unit="tokens"),
        _amount("batch", "global batch", ("layout", "micro_batches"), (1, 16384), usual=BATCH, unit="sequences"),
    )),
    ("layout", (
        _layout("tp", "tensor · TP", 64),
        _layout("pp", "pipeline · PP", 64),
        _layout("cp", "context · CP", 64),
        _layout("ep", "expert · EP", 256),
        _layout("micro_batch", "micro-batch", 16),
        _choice("schedule", "schedule", ("layout", "schedule"), SCHEDULE_TITLES),
        _layout("vp", "interleave · v", 16, scale="linear"),
        Field(ORDER, ("layout", "rank_order")),
    )),
    ("memory", (
        _choice("zero", "ZeRO", ("layout", "zero"), {stage: f"{stage}" for stage in range(4)}, side_by_side=True),
        _choice("hsdp_shard", "FSDP shards over", ("layout", "hsdp_shard"), HSDP_GROUPS, absent="all copies"),
        _choice("recompute", "recompute", ("layout", "recompute"), LEVELS),
        _choice("gradient_bytes", "gradients", ("layout", "gradient_bytes"), {4: "FP32", 2: "BF16"}),
        Field(NORMS, ("layout", "sequence_parallel")),
        Field(Choice("units", "GPU memory in", "GiB", {"GiB": "GiB", "GB": "GB"})),
    )),
    ("run", (
        _amount("tokens", "tokens", ("training", "tokens"), (0.1, 30), worth=TRILLION, low=TINY, high=MOST_TOKENS / TRILLION,
                step=0.1, scale="linear", unit="trillion", said=TOKENS),
        _amount("price", "price", ("training", "usd_per_gpu_hour"), (0.5, 10), step=0.1, scale="linear", unit="$ per GPU-hour"),
        _choice("precision", "products in", ("precision",), PRECISION_TITLES, side_by_side=True),
        _choice("stack", "software", ("stack",), STACKS, absent="what suits the layout"),
        _amount("nic", "NIC of a GPU", ("cluster", "nic_gbit_per_s"), (25, 1600), usual=None, unit="Gb/s", absent="the cluster's own"),
        _amount("spine", "spine", ("cluster", "oversubscription"), (1, 7), usual=1, scale="linear", unit=": 1"),
    )),
)  # fmt: skip

MADE_TOGETHER = ("model", "config", "cluster", "nic", "spine", "batch")
FIELDS = {field.name: field for _, fields in GROUPS for field in fields}
BY_PATH = {".".join(field.path): field.name for field in FIELDS.values() if field.path}
ALIASES = {"layout.dp": "gpus", "model": "model"}


def state_of(query: Mapping[str, str]) -> dict[str, str]:
    """Every field of the form with its text, from a URL's query; what the query leaves out has its usual one."""
    state = {name: field.input.shown(query.get(name, field.usual)) for name, field in FIELDS.items()}
    state["config"] = reduced_text(state["config"])
    if not state["nic"]:
        state["nic"] = _nic_of(state["cluster"])
    return state


def _nic_of(cluster: str) -> str:
    known = cluster if cluster in cluster_names() else FIELDS["cluster"].usual
    return f"{cluster_named(known).nic_gbit_per_s:g}"


def given_twice(query: Iterable[tuple[str, str]], beside: Iterable[str] = BESIDE) -> list[Refusal]:
    """Fields that a query names twice.

    beside   names that mean something else to the page that asks
    """
    given = [name for name, _ in query]
    return [Refusal(name, None, "is given twice") for name in (*FIELDS, *beside) if given.count(name) > 1]


def nics() -> dict[str, float]:
    """Each cluster's own network, for a form to follow a change of the cluster.   [Gb/s]"""
    return {name: cluster_named(name).nic_gbit_per_s for name in cluster_names()}


def query_of(state: Mapping[str, str]) -> str:
    """The shortest query that gives this state back."""
    usual = {**state_of({"cluster": state["cluster"]}), "cluster": FIELDS["cluster"].usual}
    return urlencode({name: text for name, text in state.items() if text != usual[name]})


def document_of(state: Mapping[str, str]) -> dict[str, Any]:
    """The scenario document of a form's state. Text that is no number is refused, all such fields at once."""
    refused: list[Refusal] = []
    document: dict[str, Any] = {}
    for field in FIELDS.values():
        if field.name in MADE_TOGETHER:
            continue
        try:
            value = field.value(state[field.name])
            if field.path:
                _put(document, field.path, value)
        except Refusal as refusal:
            refused.append(refusal)
    for part in (_model, _cluster, _batch):
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


def _model(document: dict[str, Any], state: Mapping[str, str]) -> None:
    if state["model"] != PASTED:
        document["model"] = state["model"]
        return
    document["model"] = model_document(state["config"])


def _cluster(document: dict[str, Any], state: Mapping[str, str]) -> None:
    own = replace(FIELDS["nic"].input, default=float(_nic_of(state["cluster"])))  # type: ignore[call-arg]
    document["cluster"] = {
        "base": state["cluster"],
        "nic_gbit_per_s": replace(FIELDS["nic"], input=own).value(state["nic"]),
        "oversubscription": FIELDS["spine"].value(state["spine"]),
    }


def _batch(document: dict[str, Any], state: Mapping[str, str]) -> None:
    """Micro-batches per pipeline: what the global batch leaves for each, if it comes out whole."""
    layout = document.get("layout", {})
    batch = FIELDS["batch"].value(state["batch"])
    numbers = [document.get("gpus"), layout.get("tp"), layout.get("cp"), layout.get("pp"), layout.get("micro_batch")]
    if not all(isinstance(number, int) and number > 0 for number in numbers):
        return  # another field is refused already, or will be
    gpus, tp, cp, pp, micro_batch = (int(number) for number in numbers if number)
    if gpus % (tp * cp * pp):
        return  # the degrees do not multiply; that is said beside them
    width = gpus // (tp * cp * pp) * micro_batch
    count = int(max(batch, 0) // width)
    rule = _schedule_rule(layout, count)
    if batch <= 0 or batch % width:
        rule = f"must be a multiple of {width}: {width // micro_batch} pipelines with micro-batches of {micro_batch}"
    if rule:
        near = " or ".join(f"{micro_batches * width}" for micro_batches in _counts_beside(layout, count, batch / width))
        raise Refusal("layout.micro_batches", state["batch"], rule, near or None)
    _put(document, ("layout", "micro_batches"), count)


def _schedule_rule(layout: Mapping[str, Any], micro_batches: int) -> str:
    """The rule of the layout's schedule that so many micro-batches break."""
    schedule, pp, vp = SCHEDULES.get(str(layout.get("schedule"))), layout["pp"], layout.get("vp")
    if schedule is None or not isinstance(vp, int) or vp < 1:
        return ""  # that is refused already, or will be
    try:
        schedule.check(pp, micro_batches, vp)
    except Refusal as refusal:
        return refusal.rule if refusal.field == "layout.micro_batches" else ""
    return ""


def _counts_beside(layout: Mapping[str, Any], count: int, given: float) -> list[int]:
    """The counts of micro-batches on either side of the one given that the schedule runs: it may want twice its stages."""
    reach = 2 * layout["pp"]
    below = (each for each in range(count, 0, -1) if each != given and not _schedule_rule(layout, each))
    above = (each for each in range(count + 1, max(count, reach) + reach + 1) if not _schedule_rule(layout, each))
    return [each for each in (next(below, 0), next(above, 0)) if each]


def field_of(refusal: Refusal) -> str:
    """The form field beside which a refusal belongs."""
    for path in (refusal.field, refusal.field.rpartition(".")[0]):
        name = ALIASES.get(path) or BY_PATH.get(path)
        if name:
            return name
    return "config" if refusal.field.startswith("model.") else refusal.field.partition(".")[0]
