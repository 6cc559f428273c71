"""A checkpoint every few steps, and a training that goes on from the last one after a restart."""

from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from app.runner.event_kinds import Measure, Restart
from app.runner.rank.agent import attempt
from app.runner.strategies.base import Rank, Training


def resume(rank: Rank, made: Training) -> None:
    """Go on from the last checkpoint, if there is one, and write new ones as the training goes."""
    place, every = Path(rank.job.folder) / "checkpoint", rank.job.whole("every")
    if attempt():
        made.first = load(place, made) if place.exists() else 0
        rank.emit(Restart, attempt=attempt(), first=made.first)
        rank.emit(Measure, name="repeated", value=rank.job.whole("at") - made.first)

    def after(step: int) -> None:
        if (step + 1) % every == 0:
            if rank.index == 0:
                save(place, made, step + 1)
            dist.barrier()  # nobody goes on before it is whole

    made.after = after


def save(place: Path, made: Training, step: int) -> None:
    """Write weights and optimizer state, so that a half-written file never stands in the place of a whole one."""
    part = place.with_suffix(".part")
    torch.save({"step": step, "model": made.model.state_dict(), "optimizer": made.optimizer.state_dict()}, part)
    part.replace(place)


def load(place: Path, made: Training) -> int:
    """Read them. Gives the step to go on with."""
    kept: dict[str, Any] = torch.load(place, weights_only=True)
    made.model.load_state_dict(kept["model"])
    made.optimizer.load_state_dict(kept["optimizer"])
    return kept["step"]
