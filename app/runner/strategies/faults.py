"""Data-parallel training in which one rank misbehaves at a chosen step: what the others see, and how the culprit is named."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch._C._distributed_c10d import DebugLevel, set_debug_level

from app.runner.event_kinds import Fault, Measure, Stuck
from app.runner.job import Job
from app.runner.rank.agent import attempt
from app.runner.rank.comm_log import CommLog
from app.runner.rank.flight import last_collectives
from app.runner.strategies.base import Rank, Training, adamw, world
from app.runner.strategies.checkpoints import resume
from app.runner.strategies.ddp import build as build_ddp

FOREVER_S = 3600.0
ROOM_BYTES = 2**28

Inject = Callable[[Rank, Training], None]
FAULTS: dict[str, Inject] = {}


def fault(demo: str) -> Callable[[Inject], Inject]:
    """List what goes wrong in a demo."""

    def listed(function: Inject) -> Inject:
        FAULTS[demo] = function
        return function

    return listed


@dataclass
class Faulty(Training):
    """A training that says where it stands when a collective fails."""

    rank: Rank | None = None

    def step(self, tokens: Tensor, targets: Tensor, log: CommLog) -> float:
        try:
            return super().step(tokens, targets, log)
        except RuntimeError:
            if self.rank:
                say_where(self.rank)
            raise


def build(rank: Rank) -> Training:
    """Data-parallel training with the fault that the demo is named after."""
    plain = summed_by_hand(rank) if rank.job.demo == "mismatch" else build_ddp(rank)
    made = Faulty(plain.model, plain.optimizer, plain.groups, plain.coordinates, plain.part, rank=rank)
    FAULTS[rank.job.demo](rank, made)
    return made


def summed_by_hand(rank: Rank) -> Training:
    """Data parallelism without DDP, whose reducer crashes where every collective is checked (torch 2.13 on gloo)."""
    model = rank.model()
    optimizer = adamw(model)
    optimizer.register_step_pre_hook(lambda *_: average_gradients(model, rank.ranks))
    return Training(model, optimizer, {"dp": world()}, {"dp": rank.index}, part=(rank.index, rank.ranks))


def average_gradients(model: nn.Module, ranks: int) -> None:
    """One all-reduce for each tensor."""
    for parameter in model.parameters():
        if parameter.grad is not None:
            dist.all_reduce(parameter.grad)
            parameter.grad.div_(ranks)


def victim(rank: Rank) -> bool:
    """Whether this is the rank that misbehaves."""
    return rank.index == rank.job.whole("victim")


def say_where(rank: Rank) -> None:
    """The last collectives of this rank, as PyTorch's flight recorder kept them."""
    rank.emit(Stuck, last=last_collectives())


@fault("kill-rank")
def kill(rank: Rank, made: Training) -> None:
    """Die in the middle of a backward pass, when some buckets are already under way."""

    def die() -> None:
        rank.emit(Fault, what="kills itself in the middle of its backward pass")
        os.kill(os.getpid(), signal.SIGKILL)

    in_backward(rank, made, die)


def in_backward(rank: Rank, made: Training, act: Callable[[], None]) -> None:
    """Have the victim act when the gradient of its last block is ready, at the chosen step."""
    now = {"step": -1}
    made.before = lambda step: now.update(step=step)
    if victim(rank):
        layer = next(module for module in reversed(list(made.model.modules())) if isinstance(module, nn.Linear))
        layer.weight.register_hook(lambda gradient: act() if now["step"] == rank.job.whole("at") else None)


@fault("hang-rank")
def hang(rank: Rank, made: Training) -> None:
    """Sleep before a step. The others wait in a collective, or at a barrier that knows who is missing."""

    def before(step: int) -> None:
        if victim(rank) and step == rank.job.whole("at"):
            rank.emit(Fault, what="falls asleep before its step")
            say_where(rank)
            time.sleep(FOREVER_S)
        if rank.job.params["watch"] == "barrier":
            dist.monitored_barrier(timeout=timedelta(seconds=rank.job.patience / 2), wait_all_ranks=True)

    made.before = before


def prepare(job: Job) -> None:
    """Before the ranks meet: TORCH_DISTRIBUTED_DEBUG=DETAIL, where asked for, compares every collective before it runs."""
    if job.params.get("check") == "detail":
        set_debug_level(DebugLevel.DETAIL)


@fault("mismatch")
def mismatch(rank: Rank, made: Training) -> None:
    """Call another collective than the others, or the same with a tensor of another size."""

    def before(step: int) -> None:
        if step != rank.job.whole("at"):
            return
        try:
            odd_one_out(rank)
        except RuntimeError:
            say_where(rank)
            raise

    made.before = before


def odd_one_out(rank: Rank) -> None:
    """One collective in which the victim does not do what the others do."""
    numbers = 4
    if victim(rank):
        rank.emit(
            Fault,
            what=f"calls {'a barrier' if rank.job.params['odd'] == 'barrier' else 'with 2 numbers instead of 4'}",
        )
        if rank.job.params["odd"] == "barrier":
            dist.barrier()
            return
        numbers = 2
    dist.all_reduce(torch.ones(numbers, device=rank.device))


@fault("straggler")
def straggle(rank: Rank, made: Training) -> None:
    """Compute more slowly than the others in every step: all of them wait."""
    late_s = rank.job.whole("late_ms") / 1000
    began = [0.0]

    def before(step: int) -> None:
        began[0] = time.monotonic()

    def after(step: int) -> None:
        rank.emit(Measure, name="step", value=round(time.monotonic() - began[0], 5), step=step)

    made.before, made.after = before, after
    if victim(rank):
        rank.emit(Fault, what=f"takes {rank.job.whole('late_ms')} ms longer in every forward pass")
        made.model.register_forward_pre_hook(lambda *_: time.sleep(late_s))


@fault("out-of-memory")
def memory(rank: Rank, made: Training) -> None:
    """Ask for ever more memory, until this process may have no more."""

    def fill() -> None:
        rank.emit(Fault, what="asks for ever more memory")
        kept = []
        while True:
            kept.append(torch.empty(ROOM_BYTES, dtype=torch.uint8))

    in_backward(rank, made, fill)


@fault("restart")
def restart(rank: Rank, made: Training) -> None:
    """Die as in `kill`, but only once; what the ranks do when they are started again is in checkpoints.py."""
    if attempt() == 0:
        kill(rank, made)
    resume(rank, made)
