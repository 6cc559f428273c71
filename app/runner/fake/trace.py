"""One rank's role, traced: the framework's code on a fake process group and fake tensors. forked.py has a process for each."""

import logging
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import distributed as dist
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.pipelining import PipelineStage
from torch.distributed.tensor import DTensor
from torch.testing._internal.distributed.fake_pg import FakeStore

from app.runner.fake.event_kinds import RoleReady, TraceEvent
from app.runner.fake.held import Held
from app.runner.fake.llama import LlamaStage
from app.runner.fake.measured import Measured
from app.runner.fake.pipeline import pipeline_stage, run_step
from app.runner.fake.predict import predict
from app.runner.fake.request import FakeRequest
from app.runner.fake.roles import Role
from app.runner.fake.shard import cut
from app.runner.fake.verdict import role_events
from app.runner.fake.watch import Watch
from engine.language.refusal import Refusal

AXES = ("pp", "dp", "tp")
Emit = Callable[[TraceEvent], None]


def trace(request: FakeRequest, role: Role, emit: Emit) -> None:
    """Trace a role and give its events. Once in a process: DTensor remembers the groups of the first mesh."""
    emit(RoleReady(role.name, role.rank, role.stage, role.stands_for, role.coords))
    for event in role_events(predict(request, role), measure(request, role)):
        emit(event)


def measure(request: FakeRequest, role: Role, watch: type[Watch] = Watch) -> Measured:
    """One training step of a role, watched."""
    if dist.is_initialized():
        raise Refusal("role", role.name, "one process traces one role, once: start another process for the next")
    logging.getLogger("torch.distributed").setLevel(logging.ERROR)
    torch.set_num_threads(1)
    started = time.perf_counter()
    mesh = fake_mesh(request, role)
    with torch.device("meta"):
        module = LlamaStage(request.model, request.stages[role.stage].whole, request.sequence_tokens)
    cut(module, mesh["tp"], mesh["dp"])  # before fake mode: joining two meshes reads values
    eye = watch({mesh.get_group(axis).group_name: axis for axis in AXES}, Held())
    with FakeTensorMode(allow_non_fake_inputs=True), eye.watching():
        module.to_empty(device="cpu")
        return step(module, pipeline_stage(module, request, role, mesh.get_group("pp")), request, eye, started)


def fake_mesh(request: FakeRequest, role: Role) -> DeviceMesh:
    """The mesh of all ranks in one process: a fake group answers every collective at once, with nothing."""
    layout = request.layout
    dist.init_process_group("fake", store=FakeStore(), rank=role.rank, world_size=request.ranks)
    return init_device_mesh("cpu", (layout.pp, layout.data_width, layout.tp), mesh_dim_names=AXES)


def step(module: nn.Module, stage: PipelineStage, request: FakeRequest, eye: Watch, started: float) -> Measured:
    """One training step, watched. Works on real tensors and a real process group as well: a test compares the two."""
    parameters = list(module.parameters())
    # foreach=True would hold the whole update of all parameters at once
    optimizer = torch.optim.AdamW(parameters, foreach=False)
    growth: list[int] = []
    run_step(stage, request, _measured_forward(stage, eye.held, growth))
    gradients = sum(local_bytes(p.grad) for p in parameters if p.grad is not None)
    optimizer.step()
    moments = [state for each in optimizer.state.values() for state in each.values() if state.dim()]
    return Measured(
        comm=eye.comm,
        parameters=sum(p.numel() for p in parameters),
        parameter_bytes=sum(map(local_bytes, parameters)),
        gradient_bytes=gradients,
        optimizer_bytes=sum(map(local_bytes, moments)),
        kept_bytes=growth[-1],
        peak_bytes=eye.held.peak_bytes,
        seconds=time.perf_counter() - started,
    )


def _measured_forward(stage: PipelineStage, held: Held, growth: list[int]) -> Callable[..., object]:
    """The stage's forward pass; what each leaves alive is noted. The first also gathers the weights."""
    plain = stage.forward_one_chunk

    def forward(*args: Any, **kwargs: Any) -> object:
        before = held.now_bytes
        done = plain(*args, **kwargs)
        growth.append(held.now_bytes - before)
        return done

    return forward


def local_bytes(tensor: torch.Tensor) -> int:
    """Bytes of this rank's part."""
    local = tensor.to_local() if isinstance(tensor, DTensor) else tensor
    return local.numel() * local.element_size()
