"""The steps of a training, whatever its strategy, with an event for everything measured."""

import time
from collections import defaultdict
from collections.abc import Callable

import torch.distributed as dist

from app.runner.catalog import demo_named
from app.runner.event_kinds import Comm, RankReady, State, Step, Wire
from app.runner.event_parts import Issued, IssuedOne
from app.runner.rank.batches import batch_of
from app.runner.rank.comm_log import Call
from app.runner.rank.held import held_bytes, local_shapes
from app.runner.rank.wire import sent_bytes
from app.runner.strategies.base import Rank, Trained

MOST_CALLS = 400  # of one step that are listed one by one


def train(rank: Rank, build: Callable[[Rank], Trained]) -> None:
    """Build the training and run its steps, with an event for everything measured."""
    training = build(rank)
    rank.log.name_axes(training.groups)
    rank.emit(RankReady, coords=dict(training.coordinates), device=rank.device.type)
    for step in range(getattr(training, "first", 0), rank.job.whole("steps")):
        _train_step(rank, training, step)
        if step == 0:
            rank.emit(State, *held_bytes(training.model, training.optimizer), local_shapes(training.model))


def _train_step(rank: Rank, training: Trained, step: int) -> None:
    job = rank.job
    batch = batch_of(step, job.whole("batch"), job.whole("sequence"), job.seed)
    tokens, targets = (part.to(rank.device) for part in batch)
    training.before(step)
    sent, began = _sent(rank, training), time.monotonic()
    with rank.log:
        loss = training.step(tokens, targets, rank.log)
    ended = time.monotonic()
    after, calls = _sent(rank, training), rank.log.taken()
    last = step == job.whole("steps") - 1
    t0, t1 = round(began - job.start, 5), round(ended - job.start, 5)
    rank.emit(
        Step,
        step=step,
        loss=loss,
        ms=round(1000 * (ended - began), 2),
        t0=t0,
        t1=t1,
        tokens=tokens.numel(),
        phases=dict(rank.log.spans),
    )
    training.after(step)
    if training.groups:
        rank.emit(Comm, step=step, calls=_by_kind(calls), each=_one_by_one(calls) if last else ())
    if sent is not None and after is not None:
        rank.emit(Wire, step=step, bytes_sent=after - sent)


def _sent(rank: Rank, training: Trained) -> int | None:
    """Bytes sent so far, when all ranks have received what was sent to them; None where that is not measured.

    In the demos of faults no rank may wait for another but in its training.
    """
    if not training.groups or rank.device.type != "cpu" or demo_named(rank.job.demo).group == "faults":
        return None
    dist.barrier()
    return sent_bytes()


def _by_kind(calls: list[Call]) -> tuple[Issued, ...]:
    """The calls of a step, those of one axis, kind and phase together."""
    kinds: dict[tuple[str, str, str], list[Call]] = defaultdict(list)
    for call in calls:
        kinds[call.axis, call.op, call.phase].append(call)
    return tuple(
        Issued(
            axis,
            op,
            phase,
            n=len(same),
            bytes=sum(call.bytes for call in same),
            t0=same[0].t0,
            t1=max((call.t1 or call.t0) for call in same),
        )
        for (axis, op, phase), same in kinds.items()
    )


def _one_by_one(calls: list[Call]) -> tuple[IssuedOne, ...]:
    listed = calls[:MOST_CALLS]
    return tuple(IssuedOne(call.axis, call.op, call.phase, call.bytes, call.t0, call.t1) for call in listed)
