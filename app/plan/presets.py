"""Which of the catalogue's scenarios the planner and the floor offer to start from, as addresses of the form."""

from collections.abc import Mapping
from functools import lru_cache

from app.plan.form import query_of
from app.plan.imported import state_of_document
from engine.catalog.scenarios import CARD, presets

PLANS = (CARD, "llama-3-405b", "one-node")
FLOORS = (CARD, "llama-3-405b", "largest-floor", "racks", "ethernet")


@lru_cache
def preset_queries(names: tuple[str, ...]) -> Mapping[str, str]:
    """Title -> the form's shortest query of each of these scenarios.

    >>> preset_queries(("racks",))
    {'NVL72 racks': 'cluster=gb200-nvl72&gpus=1152&batch=576'}
    """
    return {presets()[name].title: query_of(state_of_document(presets()[name].document)[0]) for name in names}
