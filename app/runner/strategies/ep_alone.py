"""One process that trains the model with all its experts alone: what expert parallelism is compared with."""

from app.runner.expert_routing import ranked_routing
from app.runner.strategies.base import Rank, Training, adamw
from app.runner.strategies.experts import with_experts


def build(rank: Rank) -> Training:
    """All experts here: nothing to exchange."""
    model = with_experts(rank, ranked_routing(rank.job.params, 1), 0, lambda rows, go, come: rows)
    return Training(model, adamw(model), groups={}, coordinates={})
