"""One process that trains the model alone: what every other demo is compared with."""

from app.runner.strategies.base import Rank, Training, adamw


def build(rank: Rank) -> Training:
    """The whole model, the whole batch, no other rank."""
    model = rank.model()
    return Training(model, adamw(model), groups={}, coordinates={})
