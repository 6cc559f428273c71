"""ZeRO-1 by PyTorch's own ZeroRedundancyOptimizer: DDP's gradients, an optimizer that keeps and updates only its share."""

from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel
from torch.optim import AdamW

from app.runner.strategies.base import LEARNING_RATE, WEIGHT_DECAY, Rank, Training, world

DDP_BUCKET_MB = 25  # PyTorch's own default; said, since unsaid it also makes a first bucket of 1 MB


def build(rank: Rank) -> Training:
    """Wrap the model in DDP, and give whole tensors to the optimizers in turn."""
    model = DistributedDataParallel(rank.model(), bucket_cap_mb=DDP_BUCKET_MB, gradient_as_bucket_view=True)
    optimizer = ZeroRedundancyOptimizer(
        model.parameters(),
        AdamW,
        parameters_as_bucket_view=rank.job.params["broadcasts"] == "rank",
        lr=LEARNING_RATE,
        weight_decay=WEIGHT_DECAY,
    )
    return Training(
        model, optimizer, groups={"dp": world()}, coordinates={"dp": rank.index}, part=(rank.index, rank.ranks)
    )
