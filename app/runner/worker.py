"""One rank of a run. The zygote forks it with `run_rank`; on a cluster `shardboard worker` is it, started by torchrun.

Both write the same events, one line of JSON each. Under torchrun rank 0 collects them all, and judges them.
"""

import importlib
import platform
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Concatenate, NamedTuple

import torch
import torch.distributed as dist

from app.live.events import lines_of
from app.runner.catalog import checked, demo_named
from app.runner.description import Demo
from app.runner.event_kinds import REFERENCE, RankError, RankName, RunDone, RunEvent, RunStarted
from app.runner.job import Emit, Fields, Job, Said
from app.runner.plain_words import without_paths
from app.runner.rank.agent import attempt, start_ranks
from app.runner.rank.comm_log import CommLog
from app.runner.rank.steps import train
from app.runner.strategies.base import Rank, Trained, nothing
from app.runner.verdict import verdict
from engine.language.inputs import Amount
from engine.language.refusal import Refusal

RUN, CLUSTER_PATIENCE_S = "cluster", 60.0  # the first meeting of many hosts takes long


def device_of(ranks: int, local: int) -> torch.device:
    """A GPU for each rank of this host where there are enough, else the CPU. Asked only inside a rank: the zygote never
    touches CUDA, so that what it forks can.

    ranks, local   ranks on this host, and which of them this is
    """
    if torch.cuda.is_available() and torch.cuda.device_count() >= ranks:
        torch.cuda.set_device(local)
        return torch.device("cuda", local)
    return torch.device("cpu")


def run_rank(job: Job, rank: int, emit: Emit) -> None:
    """Meet the other ranks in a file, train, measure, leave together."""
    device = device_of(job.ranks, rank)
    meet(job, rank, device, f"file://{job.folder}/meet{attempt()}")
    _train(job, rank, device, emit)
    dist.barrier()
    dist.destroy_process_group()


def run_agent(job: Job, emit_as: Callable[[RankName], Emit]) -> None:
    """Start the ranks as torchrun does, and start all of them again when one fails."""
    start_ranks(job, lambda rank: run_rank(job, rank, emit_as(rank)), restarts=job.whole("restarts"))


def run_reference(job: Job, emit: Emit) -> None:
    """Train the same model on the same batches alone."""
    train(Rank(0, job, device_of(job.ranks, 0), CommLog(job.start), emit), _build_alone(job))


def _build_alone(job: Job) -> Callable[[Rank], Trained]:
    return importlib.import_module(demo_named(job.demo).reference_module).build


def meet(job: Job, rank: int, device: torch.device, where: str) -> None:
    """Make the group of all ranks."""
    getattr(importlib.import_module(demo_named(job.demo).module), "prepare", nothing)(job)
    dist.init_process_group(
        "nccl" if device.type == "cuda" else "gloo",
        init_method=where,
        rank=rank,
        world_size=job.ranks,
        timeout=timedelta(seconds=job.patience),
    )


def _train(job: Job, rank: int, device: torch.device, emit: Emit) -> None:
    build = importlib.import_module(demo_named(job.demo).module).build
    train(Rank(rank, job, device, CommLog(job.start), emit), build)


class Kept:
    """The events of one rank, kept until they are collected."""

    def __init__(self, run: str, rank: RankName) -> None:
        self.run, self.rank, self.start = run, rank, time.monotonic()
        self.events: list[Said] = []

    def emit(
        self, kind: Callable[Concatenate[float, RankName, Fields], Said], *args: Fields.args, **fields: Fields.kwargs
    ) -> None:
        event = kind(round(time.monotonic() - self.start, 4), self.rank, *args, **fields)
        self.events.append(replace(event, run=self.run))


class Place(NamedTuple):
    """Where a rank stands among those that torchrun has started: all of them, and those of its host."""

    rank: int
    ranks: int
    local: int
    here: int


def run_placed(place: Place, name: str, knobs: Mapping[str, object], out: Path) -> None:
    """A rank that torchrun has started. The last rank to leave is 0, which writes the events of all and the verdict.

    out   file that rank 0 writes
    """
    rank, ranks, local, here = place
    demo = _sized(demo_named(name), ranks)
    params = checked(demo, knobs)
    if demo.ranks(params) != ranks:
        raise Refusal("ranks", ranks, f"these knobs make a mesh of {demo.ranks(params)} ranks", str(demo.ranks(params)))
    job = Job(RUN, demo.name, params, ranks, folder="", patience=CLUSTER_PATIENCE_S)
    device = device_of(here, local)
    meet(job, rank, device, "env://")
    dist.barrier()  # from here on the clocks of all hosts count from the same moment
    kept = Kept(job.run, rank)
    _run(replace(job, start=kept.start), rank, device, demo, kept, out)


def _sized(demo: Demo, ranks: int) -> Demo:
    """The demo with as many ranks as torchrun has started, which may be more than a server allows."""
    knobs = [
        replace(knob, default=ranks, high=max(ranks, knob.high))
        if isinstance(knob, Amount) and knob.name == "ranks"
        else knob
        for knob in demo.knobs
    ]
    return replace(demo, knobs=tuple(knobs))


def _run(job: Job, rank: int, device: torch.device, demo: Demo, kept: Kept, out: Path) -> None:
    """Train, bring all events to rank 0, and let it compare them with a training alone."""
    try:
        _train(job, rank, device, kept.emit)
    except Exception as error:  # the others cannot be reached any more: what this rank knows is written beside
        kept.emit(RankError, type=type(error).__name__, message=without_paths(str(error)))
        write(out.with_suffix(f".rank{rank}{out.suffix}"), kept.events)
        raise
    everywhere: list[list[Said] | None] = [None] * job.ranks
    dist.gather_object(kept.events, everywhere if rank == 0 else None)
    dist.barrier()  # a rank that leaves earlier than the others closes its connections in their faces
    dist.destroy_process_group()
    if rank:
        return
    alone = Kept(job.run, REFERENCE)
    train(Rank(0, job, device, CommLog(alone.start), alone.emit), _build_alone(job))
    prediction = demo.predict(job.params)
    versions = {"torch": torch.__version__, "python": platform.python_version(), "system": platform.system()}
    first = RunStarted(
        demo=demo.name,
        params=job.params,
        ranks=job.ranks,
        seed=job.seed,
        versions=versions,
        cold=True,
        predicted=prediction.told(),
    )
    said = sorted(
        (event for events in [*everywhere, alone.events] for event in events or ()), key=lambda event: event.t or 0.0
    )
    rows = verdict(prediction, said)
    done = RunDone(reason="done", wall_s=said[-1].t or 0.0, ok=all(row.ok for row in rows))
    write(out, [first, *said, *rows, done])


def write(path: Path, events: Iterable[RunEvent]) -> None:
    """Events as lines of JSON, each with its number."""
    path.write_bytes(lines_of(replace(event, seq=number, run=RUN) for number, event in enumerate(events, 1)))
