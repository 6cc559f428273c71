"""Two ways to lay out the same run side by side, and their neighbours: memory, traffic, bubble, time, and how simple they are.

All rows run on one software, that of the plan: what differs between two of them is the layout alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from app.plan.form import document_of, query_of
from engine.catalog.calibration import software
from engine.estimate import Estimate, estimate
from engine.language.refusal import Refusal
from engine.layout.layout import Axis, Layout
from engine.layout.simplicity import layout_name, moving_parts
from engine.scenario import scenario_from, usual_stack

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
    "rank_order": str(Layout.model_fields["rank_order"].default),
}
INTERLEAVED = {**PIPELINE, "schedule": "interleaved", "vp": "2"}
SHARDED = {**PIPELINE, "pp": "1", "zero": "3", "micro_batch": "2"}
GROUPED = {**SHARDED, "hsdp_shard": "32"}

# what is said of a layout, its fields, and whether it is one of the two that are compared; the others change one thing
LAYOUTS: tuple[tuple[str, Mapping[str, str], bool], ...] = (
    ("cut in three, and interleaved", INTERLEAVED, True),
    ("TP in the node, FSDP in groups of 32, 2 sequences a micro-batch", GROUPED, True),
    ("the first with 4 chunks a stage instead of 2", {**INTERLEAVED, "vp": "4"}, False),
    ("the first without interleaving", PIPELINE, False),
    ("the first with TP 4 instead of 8", {**INTERLEAVED, "tp": "4"}, False),
    ("the first with 2 stages instead of 4", {**INTERLEAVED, "pp": "2"}, False),
    ("the first without a pipeline", {**PIPELINE, "pp": "1"}, False),
    ("the second with 1 sequence a micro-batch instead of 2", {**GROUPED, "micro_batch": "1"}, False),
    ("the second with FSDP over all copies", SHARDED, False),
    ("the second with its layers recomputed", {**GROUPED, "recompute": "full"}, False),
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


@dataclass(frozen=True)
class LayoutTable:
    """The rows, and the software that all of them run on."""

    rows: tuple[LayoutRow, ...]
    stack: str

    @property
    def software(self) -> str:
        return software()[self.stack].title


def layout_table(state: Mapping[str, str]) -> LayoutTable:
    """The layouts for this model, machine and batch; what the plan says of its own layout is left aside."""
    stack = _stack(state)
    return LayoutTable(tuple(_rows({**state, "stack": stack})), stack)


def _stack(state: Mapping[str, str]) -> str:
    """The software of the plan; where it has no meaning yet, what it names, or the usual one."""
    try:
        return scenario_from(document_of(state)).stack_name
    except Refusal:
        return state["stack"] if state["stack"] in software() else usual_stack(0)


def _rows(state: Mapping[str, str]) -> Iterator[LayoutRow]:
    for words, fields, main in LAYOUTS:
        changed = {**state, **fields}
        query = query_of(changed)
        try:
            yield LayoutRow(words, main, query, estimate(scenario_from(document_of(changed))))
        except Refusal as refusal:
            yield LayoutRow(words, main, query, None, refusal.sentence)
