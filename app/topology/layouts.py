"""Two ways to lay out the same run side by side, and their neighbours: memory, traffic, bubble, time, and how simple they are."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from app.plan.form import document_of, query_of
from engine.estimate import Estimate, estimate
from engine.language.refusal import Refusal
from engine.layout.layout import Axis, Layout
from engine.layout.simplicity import layout_name, moving_parts
from engine.scenario import scenario_from

PIPELINE = {
    "tp": "8",
    "pp": "4",
    "cp": "1",
    "ep": "1",
    "zero": "1",
    "hsdp_shard": "",
    "schedule": "1f1b",
    "vp": "1",
    "micro_batch": "1",
    "recompute": "none",
    "stack": "",
    "rank_order": str(Layout.model_fields["rank_order"].default),
}
SHARDED = {**PIPELINE, "pp": "1", "zero": "3", "stack": "fsdp2-compiled"}
INTERLEAVED = {**PIPELINE, "schedule": "interleaved", "vp": "2"}

# what is said of a layout, its fields, and whether it is one of the two that are compared
LAYOUTS: tuple[tuple[str, Mapping[str, str], bool], ...] = (
    ("Megatron-LM: cut in three, and interleaved", INTERLEAVED, True),
    ("torchtitan: TP in the node, FSDP in groups", {**SHARDED, "hsdp_shard": "32", "micro_batch": "2"}, True),
    ("more chunks", {**INTERLEAVED, "vp": "4"}, False),
    ("no interleaving", PIPELINE, False),
    ("half the TP", {**INTERLEAVED, "tp": "4"}, False),
    ("half the stages", {**INTERLEAVED, "pp": "2"}, False),
    ("no pipeline", {**PIPELINE, "pp": "1"}, False),
    ("FSDP over all copies", {**SHARDED, "micro_batch": "2"}, False),
    ("FSDP alone", {**SHARDED, "tp": "1", "recompute": "full"}, False),
)


@dataclass(frozen=True)
class LayoutRow:
    """One layout of the table; `refusal` says why there is none."""

    words: str
    main: bool
    query: str
    found: Estimate | None
    refusal: str = ""

    @property
    def name(self) -> str:
        return layout_name(self.found.scenario.layout) if self.found else ""

    @property
    def parts(self) -> tuple[str, ...]:
        return moving_parts(self.found.scenario.layout) if self.found else ()

    def traffic_s(self, axis: Axis) -> float:
        """Time of all collectives of an axis in a step.   [s]"""
        return sum(c.seconds.value for c in self.found.step.communication if c.axis == axis) if self.found else 0.0

    def shown_s(self, axis: Axis) -> float:
        """The part of it that computation does not hide.   [s]"""
        return self.found.step.exposed_on(axis) if self.found else 0.0


def layout_rows(state: Mapping[str, str]) -> Iterator[LayoutRow]:
    """The layouts for this model, machine and batch; what the plan says of its own layout is left aside."""
    for words, fields, main in LAYOUTS:
        changed = {**state, **fields}
        query = query_of(changed)
        try:
            yield LayoutRow(words, main, query, estimate(scenario_from(document_of(changed))))
        except Refusal as refusal:
            yield LayoutRow(words, main, query, None, refusal.sentence)
