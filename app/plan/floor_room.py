"""How large a run has room on the floor: said alike on the planner, which takes more, and on the floor, which does not."""

from collections.abc import Iterator, Mapping
from itertools import islice

from app.plan.form import document_of
from engine.language.document import divisors
from engine.language.refusal import Refusal
from engine.scenario import Scenario, scenario_from

MOST_GPUS = 131_072
TRIED = 64  # GPU counts, the largest first


def beyond_the_floor(state: Mapping[str, str], scenario: Scenario) -> Refusal | None:
    """Why a plan has no room on the floor, with the largest run of its layout and batch that has; None where it has room.

    >>> from app.plan.form import state_of
    >>> state = state_of({"gpus": "262144", "batch": "16384"})
    >>> print(beyond_the_floor(state, scenario_from(document_of(state))))
    gpus = 262144: the floor shows at most 131,072 GPUs; the nearest that works: 131072
    """
    if scenario.gpus <= MOST_GPUS:
        return None
    near = next(_legal(state, scenario), None)
    return Refusal("gpus", scenario.gpus, f"the floor shows at most {MOST_GPUS:,} GPUs", near)


def _legal(state: Mapping[str, str], scenario: Scenario) -> Iterator[str]:
    """GPU counts with room in which the plan has a meaning, the largest first: as many copies as its batch comes out whole for."""
    layout = scenario.layout
    copy = layout.tp * layout.cp * layout.pp
    widths = [width for width in divisors(layout.global_batch // layout.micro_batch) if width * copy <= MOST_GPUS]
    for width in islice(reversed(widths), TRIED):
        gpus = f"{width * copy}"
        try:
            scenario_from(document_of({**state, "gpus": gpus}))
        except Refusal:
            continue
        yield gpus
