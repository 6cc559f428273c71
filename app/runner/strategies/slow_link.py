"""A virtual slow link: each bucket of gradients is summed at once, and arrives when a link of that speed had carried it."""

import queue
import threading
import time
from typing import Any

import torch.distributed as dist
from torch import Tensor
from torch._C._distributed_c10d import GradBucket
from torch.futures import Future
from torch.nn.parallel import DistributedDataParallel

from app.runner.event_kinds import Buckets, Measure
from app.runner.event_parts import Bucket
from app.runner.strategies.base import Rank


class SlowLink:
    """Carries one bucket after the other, in a thread of its own, while the backward pass goes on.

    carried   of the step at hand: bytes, ready, and from when to when on the link; since the run started   [s]
    """

    def __init__(self, rank: Rank, bytes_per_s: float) -> None:
        self.rank, self.bytes_per_s = rank, bytes_per_s
        self.carried: list[Bucket] = []
        self._waiting: queue.SimpleQueue[tuple[Any, Tensor, float, Future[Tensor]]] = queue.SimpleQueue()
        threading.Thread(target=self._carry, daemon=True).start()

    def hook(self, _: object, bucket: GradBucket) -> Future[Tensor]:
        """DDP's communication hook. Its second parameter must be called so."""
        buffer = bucket.buffer().div_(self.rank.ranks)
        work = dist.all_reduce(buffer, async_op=True)
        arrived: Future[Tensor] = Future()
        self._waiting.put((work, buffer, self._now(), arrived))
        return arrived

    def _carry(self) -> None:
        free = 0.0
        while True:
            work, buffer, ready, arrived = self._waiting.get()
            begins = max(free, ready)
            free = begins + buffer.nbytes / self.bytes_per_s
            work.wait()
            time.sleep(max(0.0, free - self._now()))
            self.carried.append(Bucket(buffer.nbytes, ready, begins, round(free, 5)))
            arrived.set_result(buffer)

    def report(self, step: int) -> None:
        """Say when each bucket of this step was under way."""
        buckets, self.carried = self.carried, []
        self.rank.emit(Buckets, step=step, each=tuple(buckets))
        self.rank.emit(Measure, name="link", value=buckets[-1].t1 - buckets[0].ready)

    def _now(self) -> float:
        return self.rank.log.now()


def slowed(rank: Rank, model: DistributedDataParallel, bytes_per_s: float) -> SlowLink:
    """Put the link between this model's ranks."""
    link = SlowLink(rank, bytes_per_s)
    model.register_comm_hook(None, link.hook)
    return link
