"""An agent that starts the ranks, watches them, and starts all of them again when one fails: torchrun's own, in one process."""

import os
from collections.abc import Callable

from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from app.runner.forked import die_with
from app.runner.job import Job

WATCH_S = 0.1


def attempt() -> int:
    """How often the ranks have been started before."""
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))


def start_ranks(job: Job, be: Callable[[int], None], restarts: int) -> None:
    """Start the ranks, and start them again at most so often.

    be   the life of a rank, given its number
    """
    os.environ["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] = "1"  # else the agent opens a port on all interfaces
    agent = os.getpid()

    def rank() -> None:
        die_with(agent)
        be(int(os.environ["RANK"]))

    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=job.ranks,
        run_id=job.run,
        rdzv_backend="c10d",
        rdzv_endpoint=f"{job.folder}/agents",
        rdzv_configs={"store_type": "file"},
        max_restarts=restarts,
        monitor_interval=WATCH_S,
        start_method="fork",
        logs_specs=DefaultLogsSpecs(log_dir=job.folder),
    )
    elastic_launch(config, rank)()
