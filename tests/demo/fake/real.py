"""The same step twice: eight real processes over gloo, and fake ranks. Prints what each rank measured: both must be equal."""

import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import torch
from torch import distributed as dist
from torch.distributed.device_mesh import init_device_mesh

from app.runner.fake import pipeline, trace
from app.runner.fake.held import Held
from app.runner.fake.llama import LlamaStage
from app.runner.fake.request import FakeRequest, fake_request
from app.runner.fake.roles import Role
from app.runner.fake.shard import cut
from app.runner.fake.watch import Watch
from engine.scenario import scenario_from

TINY = {"layers": 4, "hidden": 64, "heads": 8, "kv_heads": 4, "ffn": 96, "vocab": 128, "gated": True}
RANKS, LAYOUT = 8, {"tp": 2, "pp": 2, "dp": 2, "micro_batches": 3, "zero": 1}


def tiny_request() -> FakeRequest:
    """Too small for the catalogue, so put together by hand."""
    document = {"model": TINY, "cluster": "hgx-h100", "gpus": RANKS, "sequence_tokens": 64, "layout": LAYOUT}
    scenario = scenario_from(document)
    return FakeRequest(fake_request({}).asked, scenario, scenario)


def role_of(rank: int) -> Role:
    return Role("any", rank // 4, rank, 1)


def real(rank: int, store: str) -> trace.Measured:
    """A rank of a real run. Words are zeros: what is in memory by chance is no word."""
    pipeline.words = lambda request, sequences: torch.zeros(sequences, request.sequence_tokens, dtype=torch.int64)
    request, role = tiny_request(), role_of(rank)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=RANKS)
    mesh = init_device_mesh("cpu", (2, 2, 2), mesh_dim_names=trace.AXES)
    with torch.device("meta"):
        module = LlamaStage(request.model, request.stages[role.stage].whole, request.sequence_tokens)
    cut(module, mesh["tp"], mesh["dp"])
    eye = Watch({mesh.get_group(axis).group_name: axis for axis in trace.AXES}, Held())
    with eye.watching():
        module.to_empty(device="cpu")
        stage = pipeline.pipeline_stage(module, request, role, mesh.get_group("pp"))
        found = trace.step(module, stage, request, eye, 0.0)
    dist.barrier()
    dist.destroy_process_group()
    return found


def fake(rank: int) -> trace.Measured:
    return trace.measure(tiny_request(), role_of(rank))


def forked(name: str, rank: int, function: Callable[[], trace.Measured]) -> int:
    if (process := os.fork()) == 0:
        code = 1
        try:
            found: dict[str, Any] = asdict(function())
            found["comm"] = sorted([*kind, times] for kind, times in found["comm"].items())
            found.pop("seconds")
            os.write(1, json.dumps({"run": name, "rank": rank, **found}).encode() + b"\n")
            code = 0
        finally:
            os._exit(code)
    return process


def main() -> None:
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        for process in [forked("real", rank, lambda rank=rank: real(rank, f"{folder}/store")) for rank in range(RANKS)]:
            os.waitpid(process, 0)
    for process in [forked("fake", rank, lambda rank=rank: fake(rank)) for rank in (0, 7)]:
        os.waitpid(process, 0)


if __name__ == "__main__":
    main()
