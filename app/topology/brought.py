"""A text that was brought along, as the page shows it: where it leads, what of it was read, and what has to be said."""

from dataclasses import dataclass

from app.plan.form import query_of
from app.plan.imported import state_of_document
from app.topology.case import VIEW, address
from engine.importing import SOURCES, Imported, read
from engine.layout.simplicity import layout_name
from engine.scenario import scenario_from

WHATS = tuple(source.what for source in SOURCES.values())


@dataclass(frozen=True)
class Brought:
    """A text as a plan.

    found    what was read of it, with its sentences
    floor    the address of its floor
    query    the planner's query of it
    unsaid   a sentence for each thing that the form of the planner cannot hold
    """

    found: Imported
    name: str
    floor: str
    query: str
    unsaid: tuple[str, ...]

    @property
    def plan(self) -> str:
        """Its address in the planner."""
        return f"/plan?{self.query}"

    @property
    def title(self) -> str:
        return SOURCES[self.found.source].title

    @property
    def said(self) -> list[tuple[str, tuple[str, ...]]]:
        """What has to be said, in the order in which it matters, each under its heading."""
        parts = (
            ("It acts, but cannot be said here", (*self.found.warned, *self.unsaid)),
            ("Nobody knows it here", self.found.unknown),
            ("The text does not say it, so it is assumed", self.found.assumed),
        )
        return [(heading, sentences) for heading, sentences in parts if sentences]


def brought_along(text: str) -> Brought:
    """A pasted text as a plan, or a Refusal. Nothing in it is run.

    >>> brought_along("torchrun --nproc-per-node 8 pretrain_gpt.py --tensor-model-parallel-size 8 --bf16").title
    'Megatron-LM'
    """
    found = read(text)
    state, unsaid = state_of_document(found.document)
    name = layout_name(scenario_from(found.document).layout)
    return Brought(found, name, address(state, VIEW), query_of(state), tuple(unsaid))
