"""Which of the catalogue's scenarios the planner and the floor offer to start from, as addresses of the form.

RUNS are those that somebody published: what was measured stands beside what is predicted."""

from collections.abc import Mapping
from functools import lru_cache

from app.plan.form import query_of
from app.plan.imported import state_of_document
from engine.catalog.scenarios import CARD, presets

PLANS = (CARD,)
RUNS = tuple(name for name, preset in presets().items() if preset.published)
FLOORS = (CARD, "llama-3-405b", "largest-floor", "racks", "ethernet")


@lru_cache
def preset_queries(names: tuple[str, ...]) -> Mapping[str, str]:
    """Title -> the form's shortest query of each of these scenarios.

    >>> preset_queries(("racks",))
    {'NVL72 racks': 'cluster=gb200-nvl72&gpus=1152&batch=576'}
    """
    return {presets()[name].title: query_of(state_of_document(presets()[name].document)[0]) for name in names}


@lru_cache
def run_at(query: str) -> str | None:
    """The published run that a query of the form is, if it is one.

    >>> run_at(preset_queries(("one-node",))["8B on 8 GPUs"]), run_at("")
    ('one-node', None)
    """
    queries = preset_queries(RUNS)
    return next((name for name in RUNS if queries[presets()[name].title] == query), None)
