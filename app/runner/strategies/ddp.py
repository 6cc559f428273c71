"""DistributedDataParallel: PyTorch's own reducer, with a bucket cap, and a virtual slow link where one is asked for."""

from torch.nn.parallel import DistributedDataParallel

from app.runner.strategies.base import Rank, Training, adamw, world
from app.runner.strategies.slow_link import slowed
from engine.language.units import KIB, MB, MIB


def build(rank: Rank) -> Training:
    """Wrap the model; each rank takes a slice of the batch."""
    knobs = rank.job.params
    model = DistributedDataParallel(
        rank.model(), bucket_cap_mb=int(knobs.get("bucket_kib", 1024)) * KIB / MIB, gradient_as_bucket_view=True
    )
    made = Training(
        model, adamw(model), groups={"dp": world()}, coordinates={"dp": rank.index}, part=(rank.index, rank.ranks)
    )
    if speed := int(knobs.get("link_mb_per_s", 0)):
        made.after = slowed(rank, model, speed * MB).report
    return made
